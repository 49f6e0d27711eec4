//! A deterministic world of hosts: virtual time, seeded latency and loss, crashes, a liar in the
//! line.
//!
//! Messages travel as bytes. The world checks while it runs: equal blocks and state roots at equal
//! heights, and that nobody's votes ever contradict each other.

use crate::genesis::{account_key, chain, consensus_key, genesis, peer, validator};
use crate::rng::Rng;
use crate::short::whole;
use gridbay_host::disk::MemDisk;
use gridbay_host::message::{Body, HostMessage, SignedProposal};
use gridbay_host::{
    Equivocation, Fault, Host, HostConfig, HostEffect, HostInput, MempoolRefusal, Now, Offence,
    Peer, Received, Sought, Trouble,
};
use gridbay_ledger::State;
use gridbay_protocol::block::Block;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::{AccountId, BlockId, EntryId, Hash32, ValidatorId};
use gridbay_protocol::stage::{Authentic, WellFormed};
use gridbay_protocol::units::Credits;
use gridbay_protocol::vote::{Proposal, VoteKind};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

/// Wall clock at virtual time 0.
pub(crate) const EPOCH_MS: u64 = 1_700_000_000_000;

enum Event {
    Message(usize, usize, Arc<Vec<u8>>),
    Wake(usize, u64),
    Crash(usize),
    Restart(usize),
    Transfer(usize),
}

/// The liar's change to its block before it goes out; `None` leaves it.
pub(crate) type Lie = Box<dyn FnMut(&Block, &State, &mut Rng) -> Option<Block>>;

/// Whether a message is lost: when it was sent, by whom, to whom.
pub(crate) type Loss = Box<dyn Fn(u64, usize, usize, &HostMessage) -> bool>;

pub(crate) struct World {
    pub(crate) now: u64,
    queue: BTreeMap<(u64, u64), Event>,
    sequence: u64,
    pub(crate) rng: Rng,
    pub(crate) genesis: Genesis,
    pub(crate) hosts: Vec<Option<Host>>,
    pub(crate) disks: Vec<MemDisk>,
    wake: Vec<u64>,
    /// Milliseconds one way: least and spread.
    pub(crate) latency: (u64, u64),
    /// Messages lost per thousand.
    pub(crate) loss: u64,
    /// From when to when the hosts below the number and the others do not hear each other.
    pub(crate) cut: Option<(u64, u64, usize)>,
    /// The messages to all that are lost.
    pub(crate) lost: Option<Loss>,
    /// Who lies, and how.
    pub(crate) lie: Option<(Vec<usize>, Lie)>,
    pub(crate) lies: BTreeSet<BlockId>,
    /// Whether a lie may be decided all the same: an omission is one that only takes time.
    pub(crate) lies_may_pass: bool,
    /// Highest height that each host has reported, also before a crash.
    pub(crate) told: Vec<u64>,
    /// The effects that host 1 saw.
    pub(crate) effects: Vec<Effect>,
    /// Messages of all kinds that went over the wire, for forgers.
    pub(crate) heard: Vec<Vec<u8>>,
    pub(crate) decided: BTreeMap<u64, (BlockId, Hash32)>,
    pub(crate) decided_at: BTreeMap<u64, u64>,
    pub(crate) rounds: BTreeMap<u64, u32>,
    pub(crate) penalties: Vec<(usize, Peer, Offence)>,
    pub(crate) equivocations: Vec<Equivocation>,
    pub(crate) acknowledged: BTreeSet<EntryId>,
    /// Entries that were signed.
    pub(crate) signed: BTreeMap<EntryId, Sought>,
    /// Hosts with the entries that each acknowledged.
    pub(crate) promised: BTreeSet<(usize, EntryId)>,
    /// Entries whose owner's host has receipts of more than two thirds.
    pub(crate) receipted: BTreeSet<EntryId>,
    pub(crate) refused: BTreeMap<EntryId, MempoolRefusal>,
    votes: BTreeMap<(ValidatorId, u64, u32, VoteKind), Option<BlockId>>,
    proposals: BTreeMap<(ValidatorId, u64, u32), Proposal>,
    /// Faults of hosts, which are down since then; without a list a fault is a failed test.
    pub(crate) faults: Option<Vec<(usize, Fault)>>,
    /// By how many milliseconds the wall clock of a host is ahead.
    pub(crate) skew: Vec<i64>,
    pub(crate) troubles: Vec<(usize, Option<Trouble>)>,
    /// Blocks between two snapshots, if not as many as usual.
    pub(crate) snapshot_every: Option<u64>,
    trace: DefaultHasher,
    nonce: u64,
}

impl World {
    /// `validators` hosts that vote and `followers` that do not; none is running yet.
    pub(crate) fn new(validators: usize, followers: usize, seed: u64) -> World {
        let n = validators + followers;
        World {
            now: 0,
            queue: BTreeMap::new(),
            sequence: 0,
            rng: Rng(seed),
            genesis: genesis(validators),
            hosts: (0..n).map(|_| None).collect(),
            disks: (0..n).map(|_| MemDisk::new()).collect(),
            wake: vec![0; n],
            latency: (1, 20),
            loss: 0,
            cut: None,
            lost: None,
            lie: None,
            lies: BTreeSet::new(),
            lies_may_pass: false,
            told: vec![0; n],
            effects: vec![],
            heard: vec![],
            decided: BTreeMap::new(),
            decided_at: BTreeMap::new(),
            rounds: BTreeMap::new(),
            penalties: vec![],
            equivocations: vec![],
            acknowledged: BTreeSet::new(),
            signed: BTreeMap::new(),
            promised: BTreeSet::new(),
            receipted: BTreeSet::new(),
            refused: BTreeMap::new(),
            votes: BTreeMap::new(),
            proposals: BTreeMap::new(),
            faults: None,
            skew: vec![0; n],
            troubles: vec![],
            snapshot_every: None,
            trace: DefaultHasher::new(),
            nonce: 0,
        }
    }
    pub(crate) fn validators(&self) -> usize {
        self.genesis.members.len()
    }
    fn at(&mut self, time: u64, event: Event) {
        self.sequence += 1;
        self.queue.insert((time, self.sequence), event);
    }
    pub(crate) fn crash_at(&mut self, time: u64, i: usize) {
        self.at(time, Event::Crash(i));
    }
    pub(crate) fn restart_at(&mut self, time: u64, i: usize) {
        self.at(time, Event::Restart(i));
    }
    /// A transfer of member `i` at `time`, submitted to its own host.
    pub(crate) fn transfer_at(&mut self, time: u64, i: usize) {
        self.at(time, Event::Transfer(i));
    }
    pub(crate) fn account(&self, i: usize) -> AccountId {
        self.genesis.account(&self.genesis.members[i])
    }
    pub(crate) fn sign(&mut self, i: usize, body: EntryBody, valid_until: u64) -> Arc<Authentic> {
        let key = account_key(i);
        let entry = Entry {
            network: self.genesis.network(),
            account: self.account(i),
            key: key.public(),
            valid_until,
            body,
        };
        let signed = SignedEntry::new(entry, &key);
        let formed = WellFormed::check(&self.genesis.network(), signed).unwrap();
        let entry = formed.authenticate().unwrap();
        self.signed.insert(entry.id(), Sought::from(&entry));
        Arc::new(entry)
    }
    pub(crate) fn transfer(&mut self, i: usize) -> Arc<Authentic> {
        self.nonce += 1;
        let body = EntryBody::Transfer {
            to: self.account((i + 1) % self.validators()),
            amount: Credits::from_micros(self.nonce).unwrap(),
            memo: Hash32([self.nonce as u8; 32]),
        };
        let tip = self.decided.last_key_value().map_or(0, |(h, _)| *h);
        self.sign(i, body, tip + 200)
    }
    pub(crate) fn open(&self, i: usize) -> Result<Host, Fault> {
        let votes = i < self.validators();
        let config = HostConfig {
            genesis: self.genesis.clone(),
            key: votes.then(|| consensus_key(i)),
            chain: votes.then(|| chain(i)),
            index: None,
        };
        Host::open(config, Box::new(self.disks[i].clone()))
    }
    pub(crate) fn boot(&mut self, i: usize) {
        let mut host = self.open(i).expect("the host opens");
        if let Some(blocks) = self.snapshot_every {
            host.snapshot_every(blocks);
        }
        // Whatever the machine has: its verdicts are the same.
        host.use_cores(3);
        let tip = host.state().height();
        assert!(
            tip >= self.told[i],
            "host {i} forgot a block: {tip} < {}",
            self.told[i]
        );
        self.hosts[i] = Some(host);
        self.wake[i] = 0;
        self.input(i, HostInput::Start);
        let running: Vec<usize> = (0..self.hosts.len())
            .filter(|j| *j != i && self.hosts[*j].is_some())
            .collect();
        for j in running {
            self.input(i, HostInput::PeerUp(peer(j)));
            self.input(j, HostInput::PeerUp(peer(i)));
        }
    }
    pub(crate) fn boot_all(&mut self) {
        for i in 0..self.hosts.len() {
            self.boot(i);
        }
    }
    pub(crate) fn tip(&self, i: usize) -> u64 {
        self.hosts[i].as_ref().map_or(0, |h| h.state().height())
    }
    /// Takes a host down. Of what it had not synced a random part survives.
    pub(crate) fn crash(&mut self, i: usize) {
        if self.hosts[i].is_none() {
            return;
        }
        let rng = &mut self.rng;
        self.disks[i].crash(|at_stake| rng.below(at_stake + 1));
        self.stop(i);
    }
    /// Ends a host; its disk stays as it is.
    pub(crate) fn stop(&mut self, i: usize) {
        self.hosts[i] = None;
        for j in 0..self.hosts.len() {
            self.input(j, HostInput::PeerDown(peer(i)));
        }
    }
    pub(crate) fn clocks(&self, i: usize) -> Now {
        Now {
            mono_ms: self.now,
            wall_ms: (EPOCH_MS + self.now).saturating_add_signed(self.skew[i]),
        }
    }
    pub(crate) fn input(&mut self, i: usize, input: HostInput) -> Vec<HostEffect> {
        let now = self.clocks(i);
        let Some(host) = &mut self.hosts[i] else {
            return vec![];
        };
        let effects = match host.step(now, input) {
            Ok(effects) => effects,
            Err(fault) => match &mut self.faults {
                Some(faults) => {
                    faults.push((i, fault));
                    self.stop(i);
                    return vec![];
                }
                None => panic!("host {i} at {} ms: {fault:?}", self.now),
            },
        };
        self.perform(i, effects.clone());
        effects
    }
    fn perform(&mut self, i: usize, effects: Vec<HostEffect>) {
        for effect in effects {
            match effect {
                HostEffect::Broadcast(message) => {
                    self.watch(i, &message);
                    let message = self.tamper(i, message);
                    let bytes = Arc::new(message.encode());
                    for j in (0..self.hosts.len()).filter(|j| *j != i) {
                        let lost = self.lost.as_ref();
                        if !lost.is_some_and(|lost| lost(self.now, i, j, &message)) {
                            self.post(i, j, Arc::clone(&bytes));
                        }
                    }
                }
                HostEffect::Send { to, message } => {
                    if let Some(j) = (0..self.hosts.len()).find(|j| peer(*j) == to) {
                        self.post(i, j, Arc::new(message.encode()));
                    }
                }
                HostEffect::WakeAt(time) => {
                    if self.wake[i] != time {
                        self.wake[i] = time;
                        self.at(time.max(self.now), Event::Wake(i, time));
                    }
                }
                HostEffect::Decided {
                    block,
                    certificate,
                    effects,
                } => {
                    if i == 1 {
                        self.effects.extend(effects.iter().cloned());
                    }
                    let height = block.header().height;
                    let set = self.genesis.validators();
                    let network = self.genesis.network();
                    certificate.verify(&network, &set.unwrap()).unwrap();
                    let fact = (block.id(), block.header().state_root);
                    let first = *self.decided.entry(height).or_insert(fact);
                    assert_eq!(first, fact, "two blocks at height {height}");
                    let lie = self.lies.contains(&block.id());
                    assert!(!lie || self.lies_may_pass, "a lie was decided");
                    self.told[i] = self.told[i].max(height);
                    self.decided_at.entry(height).or_insert(self.now);
                    self.rounds.entry(height).or_insert(certificate.round);
                    (self.now, i, block.id().0).hash(&mut self.trace);
                }
                HostEffect::Penalise { peer, offence } => self.penalties.push((i, peer, offence)),
                HostEffect::Equivocation(found) => self.equivocations.push(found),
                HostEffect::Acknowledged { entry } => {
                    self.acknowledged.insert(entry);
                    self.promised.insert((i, entry));
                }
                HostEffect::Receipted { entry } => {
                    self.receipted.insert(entry);
                }
                HostEffect::EntryRefused { entry, refusal } => {
                    self.refused.insert(entry, refusal);
                }
                HostEffect::Trouble(news) => self.troubles.push((i, news)),
                HostEffect::EntryAdmitted { .. } => {}
            }
        }
    }
    fn watch(&mut self, i: usize, message: &HostMessage) {
        if let HostMessage::Vote(signed) = message
            && i < self.validators()
            && signed.vote.validator == validator(i)
        {
            let vote = signed.vote;
            let key = (vote.validator, vote.height, vote.round, vote.kind);
            let first = *self.votes.entry(key).or_insert(vote.block);
            assert_eq!(first, vote.block, "host {i} contradicts itself: {vote:?}");
        }
        if let HostMessage::Proposal(offered) = message
            && self.lie.is_none()
            && i < self.validators()
            && offered.signed.proposal.validator == validator(i)
        {
            let said = offered.signed.proposal;
            let key = (said.validator, said.height, said.round);
            let first = *self.proposals.entry(key).or_insert(said);
            assert_eq!(first, said, "host {i} contradicts itself");
        }
    }
    /// The liar signs a proposal for another block and sends that.
    fn tamper(&mut self, i: usize, message: HostMessage) -> HostMessage {
        let HostMessage::Proposal(mut offered) = message else {
            return message;
        };
        if let Some((liars, lie)) = &mut self.lie
            && liars.contains(&i)
            && offered.signed.proposal.validator == validator(i)
            && let Some(body) = &offered.body
            && let Some(host) = &self.hosts[i]
            && let Some(changed) = lie(&whole(body, host), host.state(), &mut self.rng)
        {
            let mut proposal = offered.signed.proposal;
            proposal.block = changed.id();
            let network = self.genesis.network();
            offered.signed = SignedProposal::new(proposal, &network, &consensus_key(i));
            offered.body = Some(Body::Whole(Box::new(changed)));
            self.lies.insert(proposal.block);
        }
        HostMessage::Proposal(offered)
    }
    fn post(&mut self, from: usize, to: usize, bytes: Arc<Vec<u8>>) {
        let apart = self.cut.is_some_and(|(start, end, below)| {
            (start..end).contains(&self.now) && (from < below) != (to < below)
        });
        if apart || self.rng.below(1_000) < self.loss {
            return;
        }
        let delay = self.latency.0 + self.rng.below(self.latency.1 - self.latency.0 + 1);
        if self.heard.len() < 3_000 {
            self.heard.push(bytes.to_vec());
        }
        (self.now, from, to, bytes.len()).hash(&mut self.trace);
        self.at(self.now + delay, Event::Message(from, to, bytes));
    }
    /// Runs until `done` or until virtual time `until`; whether it was done.
    pub(crate) fn run(&mut self, until: u64, done: impl Fn(&World) -> bool) -> bool {
        loop {
            if done(self) {
                return true;
            }
            match self.queue.first_key_value() {
                Some(((time, _), _)) if *time <= until => {}
                _ => {
                    self.now = self.now.max(until);
                    return done(self);
                }
            }
            let Some(((time, _), event)) = self.queue.pop_first() else {
                return false;
            };
            self.now = time;
            match event {
                Event::Message(from, to, bytes) => {
                    let input = HostInput::Message {
                        from: peer(from),
                        message: Received::Bytes(bytes.to_vec()),
                    };
                    self.input(to, input);
                }
                Event::Wake(i, asked) => {
                    if self.wake[i] == asked {
                        self.wake[i] = u64::MAX;
                        self.input(i, HostInput::Tick);
                    }
                }
                Event::Crash(i) => self.crash(i),
                Event::Restart(i) => {
                    if self.hosts[i].is_none() {
                        self.boot(i);
                    }
                }
                Event::Transfer(i) => {
                    let entry = self.transfer(i);
                    self.input(i, HostInput::Submit(vec![entry]));
                }
            }
        }
    }
    pub(crate) fn all_at(&self, height: u64) -> bool {
        (0..self.hosts.len()).all(|i| self.tip(i) >= height)
    }
    /// Everything that was sent and decided, and when, in one number.
    pub(crate) fn trace(&self) -> u64 {
        self.trace.finish()
    }
}
