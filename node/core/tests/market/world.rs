//! Whole cores in one thread under virtual time: messages take 2 ms, jobs are played by the world.

use crate::genesis::{account_key, chain, genesis, key, node_key};
use crate::played::{Played, checkpointed};
use crate::ways::Copies;
use gridbay_core::adverts::Heard;
use gridbay_core::agent::{AgentReply, AgentRequest, Phase, PollJob, RunId, SignedStart};
use gridbay_core::buy::NewOrder;
use gridbay_core::buyer::Record;
use gridbay_core::cluster::Cluster;
use gridbay_core::effect::Effect;
use gridbay_core::input::{Command, Input, Now};
use gridbay_core::key::OrderKey;
use gridbay_core::provider::ProviderTerms;
use gridbay_core::relay::{Grant, Purse, Ticket};
use gridbay_core::reply::Reply;
use gridbay_core::seller::JobMemo;
use gridbay_core::withheld::Withheld;
use gridbay_core::{Core, Parts};
use gridbay_host::disk::MemDisk;
use gridbay_host::{Host, HostConfig};
use gridbay_protocol::checkpoint::Manifest;
use gridbay_protocol::genesis::{Genesis, Policy};
use gridbay_protocol::ids::{AccountId, ClassId, ContentId, LeaseId};
use gridbay_protocol::job::JobExit;
use gridbay_protocol::keys::PublicKey;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

const LATENCY_MS: u64 = 2;
pub(crate) const EPOCH_MS: u64 = 1_800_000_000_000;

pub(crate) struct Node {
    pub(crate) core: Core,
    pub(crate) records: BTreeMap<OrderKey, Vec<u8>>,
    pub(crate) output: BTreeMap<(OrderKey, u32), Vec<u8>>,
    pub(crate) replies: Vec<Reply>,
    pub(crate) memos: BTreeMap<RunId, Vec<u8>>,
    pub(crate) jobs: BTreeMap<RunId, Played>,
    pub(crate) withheld: Vec<u8>,
    pub(crate) clusters: BTreeMap<LeaseId, Cluster>,
    /// What it carries for others.
    pub(crate) relayed: BTreeMap<(Purse, LeaseId), Grant>,
    /// Bytes that came by relays, by ticket.
    pub(crate) came: BTreeMap<Ticket, u64>,
    pub(crate) life: u64,
    /// When the tick comes that was asked for last.
    wake: Option<u64>,
    pub(crate) up: bool,
}

pub(crate) enum Event {
    Input(usize, u64, Box<Input>),
    JobEnds(usize, RunId),
}

pub(crate) struct World {
    pub(crate) now: u64,
    pub(crate) nodes: Vec<Node>,
    pub(crate) genesis: Genesis,
    pub(crate) validators: usize,
    /// The account whose openings all proposers leave out.
    pub(crate) censored: Option<AccountId>,
    chain_steps: u32,
    disks: Vec<MemDisk>,
    providers: BTreeMap<usize, ProviderTerms>,
    events: BTreeMap<(u64, u64), Event>,
    due: BinaryHeap<Reverse<(u64, u64)>>,
    seq: u64,
    asked: BTreeMap<u64, (usize, u64)>,
    /// Questions of bodies for checkpoints.
    pub(crate) fetching: BTreeMap<u64, (usize, OrderKey, RunId)>,
    /// What the jobs behind all manifests had slept.
    pub(crate) snapshots: BTreeMap<ContentId, u64>,
    /// The starts that sellers were asked for.
    pub(crate) starts: Vec<(usize, SignedStart)>,
    /// Networks that were opened or changed.
    pub(crate) connects: usize,
    /// Until then no output of a job that ended comes.
    pub(crate) slow_until: u64,
    /// Whether no member of a network reaches another but through a relay.
    pub(crate) severed: bool,
    /// Relays that claim to carry, and do not.
    pub(crate) fakes: BTreeSet<usize>,
    /// Members that claim to be relayed by tickets that nobody gave.
    pub(crate) claimants: BTreeSet<usize>,
    pub(crate) copies: Copies,
}

impl World {
    pub(crate) fn new(validators: usize, others: usize) -> World {
        World::with(validators, others, 3_000, Policy::local())
    }

    /// A world whose validators have beacon chains of `chain_steps` steps.
    pub(crate) fn with(
        validators: usize,
        others: usize,
        chain_steps: u32,
        policy: Policy,
    ) -> World {
        let count = validators + others;
        let mut world = World {
            now: 0,
            nodes: Vec::new(),
            genesis: genesis(validators, others, chain_steps, policy),
            validators,
            censored: None,
            chain_steps,
            disks: (0..count).map(|_| MemDisk::default()).collect(),
            providers: BTreeMap::new(),
            events: BTreeMap::new(),
            due: BinaryHeap::new(),
            seq: 0,
            asked: BTreeMap::new(),
            fetching: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            starts: Vec::new(),
            slow_until: 0,
            connects: 0,
            severed: false,
            fakes: BTreeSet::new(),
            claimants: BTreeSet::new(),
            copies: Copies::default(),
        };
        for n in 0..count {
            let node = world.open(n, 0, BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
            world.nodes.push(node);
        }
        for n in 0..count {
            world.boot(n);
        }
        world
    }

    fn open(
        &self,
        n: usize,
        life: u64,
        records: BTreeMap<OrderKey, Vec<u8>>,
        memos: BTreeMap<RunId, Vec<u8>>,
        jobs: BTreeMap<RunId, Played>,
    ) -> Node {
        let validates = n < self.validators;
        let config = HostConfig {
            genesis: self.genesis.clone(),
            key: validates.then(|| key(3, n as u8)),
            chain: validates.then(|| chain(n, self.chain_steps)),
            index: None,
        };
        let host = Host::open(config, Box::new(self.disks[n].clone())).expect("opens");
        let found = |(id, memo): (&RunId, &Vec<u8>)| {
            let phase = jobs.get(id).map_or(Phase::Unknown, |j| j.phase);
            (JobMemo::decode(memo).expect("own memo"), phase)
        };
        let parts = Parts {
            host,
            account_key: account_key(n),
            node: node_key(n),
            orders: records
                .values()
                .map(|r| Record::decode(r).expect("own record"))
                .collect(),
            jobs: memos.iter().map(found).collect(),
            provider: self.providers.get(&n).cloned(),
        };
        let (output, replies) = (BTreeMap::new(), Vec::new());
        Node {
            core: Core::new(parts),
            records,
            output,
            replies,
            memos,
            jobs,
            withheld: Vec::new(),
            clusters: BTreeMap::new(),
            relayed: BTreeMap::new(),
            came: BTreeMap::new(),
            life,
            wake: None,
            up: true,
        }
    }

    fn boot(&mut self, n: usize) {
        self.input(n, 0, Input::Start);
        for other in 0..self.nodes.len() {
            if other != n && self.nodes[other].up {
                self.input(n, LATENCY_MS, Input::PeerUp(node_key(other)));
                self.input(other, LATENCY_MS, Input::PeerUp(node_key(n)));
            }
        }
    }

    /// SIGKILL: bytes that were not synced are gone, supervised jobs run on.
    pub(crate) fn kill(&mut self, n: usize) {
        self.nodes[n].up = false;
        self.disks[n].crash(|_unsynced| 0);
        for other in 0..self.nodes.len() {
            self.input(other, LATENCY_MS, Input::PeerDown(node_key(n)));
        }
    }

    /// SIGSTOP: nothing reaches the node.
    pub(crate) fn suspend(&mut self, n: usize) {
        self.nodes[n].up = false;
    }

    /// SIGCONT: the node goes on with what it knew.
    pub(crate) fn resume(&mut self, n: usize) {
        self.nodes[n].up = true;
        self.input(n, 0, Input::Tick);
        for other in (0..self.nodes.len()).filter(|other| *other != n) {
            self.input(n, LATENCY_MS, Input::PeerUp(node_key(other)));
            self.input(other, LATENCY_MS, Input::PeerUp(node_key(n)));
        }
    }

    /// The node starts again as a provider.
    pub(crate) fn provide(&mut self, n: usize, terms: ProviderTerms) {
        self.providers.insert(n, terms);
        self.kill(n);
        self.restart(n);
    }

    pub(crate) fn restart(&mut self, n: usize) {
        let old = &mut self.nodes[n];
        let life = old.life + 1;
        let records = std::mem::take(&mut old.records);
        let memos = std::mem::take(&mut old.memos);
        let jobs = std::mem::take(&mut old.jobs);
        let withheld = std::mem::take(&mut old.withheld);
        self.nodes[n] = self.open(n, life, records, memos, jobs);
        if !withheld.is_empty() {
            let offers = Withheld::decode(&withheld).expect("own file");
            self.nodes[n].core.withhold(offers, false);
            self.nodes[n].withheld = withheld;
        }
        self.boot(n);
    }

    pub(crate) fn at(&mut self, after: u64, event: Event) {
        self.seq += 1;
        let when = (self.now + after, self.seq);
        self.events.insert(when, event);
        self.due.push(Reverse(when));
    }
    pub(crate) fn input(&mut self, n: usize, after: u64, input: Input) {
        let life = self.nodes[n].life;
        self.at(after, Event::Input(n, life, Box::new(input)));
    }
    pub(crate) fn command(&mut self, n: usize, command: Command) {
        self.input(n, 0, Input::Command { token: 0, command });
    }
    pub(crate) fn order(&mut self, n: usize, order: NewOrder) {
        self.command(n, Command::Order(Box::new(order)));
    }
    pub(crate) fn class(&self) -> ClassId {
        self.genesis.classes[0].key.id()
    }

    /// Runs until `done`, at most `most_ms` of virtual time. Whether it was done.
    pub(crate) fn run_until(&mut self, most_ms: u64, done: impl Fn(&World) -> bool) -> bool {
        let end = self.now + most_ms;
        while !done(self) {
            let Some(Reverse(when)) = self.due.pop().filter(|d| d.0.0 <= end) else {
                return false;
            };
            self.now = when.0;
            match self.events.remove(&when) {
                Some(Event::Input(n, life, input)) => self.step(n, life, *input),
                Some(Event::JobEnds(n, job)) => self.end_job(n, job, JobExit::Code(0)),
                None => {}
            }
        }
        true
    }
    pub(crate) fn run(&mut self, ms: u64) {
        self.run_until(ms, |_| false);
        // An event later than the end was taken off the queue by the look at it.
        self.due = self.events.keys().map(|when| Reverse(*when)).collect();
    }

    fn step(&mut self, n: usize, life: u64, input: Input) {
        if !self.nodes[n].up || self.nodes[n].life != life {
            return;
        }
        let now = Now {
            mono_ms: self.now,
            wall_ms: EPOCH_MS + 1_000 + self.now,
        };
        let effects = self.nodes[n].core.step(now, input).expect("no fault");
        for effect in effects {
            self.perform(n, effect);
        }
    }

    fn perform(&mut self, n: usize, effect: Effect) {
        match effect {
            Effect::WakeAt(at) => self.wake_at(n, at.max(self.now)),
            Effect::Broadcast { bytes } => {
                let bytes = match self.censored {
                    Some(victim) => {
                        let state = self.nodes[n].core.state();
                        crate::appeals::censor(bytes, state, victim, &key(3, n as u8))
                    }
                    None => bytes,
                };
                for other in (0..self.validators).filter(|other| *other != n) {
                    self.host_bytes(n, other, bytes.clone());
                }
            }
            Effect::Send { to, bytes } => {
                if let Some(other) = self.node_of(&to) {
                    self.host_bytes(n, other, bytes);
                }
            }
            Effect::Penalise { reason, .. } => panic!("an honest node was penalised: {reason}"),
            Effect::Gossip(bytes) => {
                for other in (0..self.nodes.len()).filter(|other| *other != n) {
                    let input = Input::Advert {
                        token: 0,
                        heard: Heard::Told,
                        bytes: bytes.clone(),
                    };
                    self.input(other, LATENCY_MS, input);
                }
            }
            Effect::Ask { token, to, request } => self.ask(n, token, &to, request),
            Effect::Answer { token, reply } => self.answer(token, reply),
            Effect::Report { token, jobs } => {
                let report = |(poll, known): &(PollJob, Option<Phase>)| {
                    self.report(n, poll, known.is_some())
                };
                let reports = jobs.iter().map(report).collect();
                self.answer(token, AgentReply::Reports(reports));
            }
            Effect::Reply { reply, .. } => self.nodes[n].replies.push(reply),
            Effect::SaveWithheld(bytes) => self.nodes[n].withheld = bytes,
            Effect::SaveOrder { order, record } => {
                self.nodes[n].records.insert(order, record);
            }
            Effect::AppendOutput {
                order,
                task,
                stderr: false,
                from,
                bytes,
            } => {
                let output = self.nodes[n].output.entry((order, task)).or_default();
                assert!(from as usize <= output.len(), "a hole in the output");
                output.truncate(from as usize);
                output.extend(bytes);
            }
            Effect::ResetOutput { order, task, .. } => {
                self.nodes[n].output.remove(&(order, task));
            }
            other => self.perform_job(n, other),
        }
    }

    /// One tick at a time is enough, however often it is asked for.
    fn wake_at(&mut self, n: usize, at: u64) {
        let waits = self.nodes[n]
            .wake
            .is_some_and(|wake| wake == at && at > self.now);
        if !waits {
            self.nodes[n].wake = Some(at);
            self.input(n, at - self.now, Input::Tick);
        }
    }

    pub(crate) fn ask(&mut self, n: usize, token: u64, to: &PublicKey, request: AgentRequest) {
        self.seq += 1;
        let question = self.seq;
        self.asked.insert(question, (n, token));
        let other = self.node_of(to.as_bytes()).expect("a known node");
        if let AgentRequest::Start(signed) = &request {
            self.starts.push((other, (**signed).clone()));
        }
        if self.nodes[other].up {
            let from = node_key(n);
            self.input(
                other,
                LATENCY_MS,
                Input::Asked {
                    token: question,
                    from,
                    request,
                },
            );
        } else {
            self.input(n, 1_000, Input::Answered { token, reply: None });
        }
    }

    fn host_bytes(&mut self, from: usize, to: usize, bytes: Vec<u8>) {
        let from = node_key(from);
        self.input(to, LATENCY_MS, Input::Host { from, bytes });
    }

    pub(crate) fn ask_for_checkpoint(
        &mut self,
        n: usize,
        order: OrderKey,
        job: RunId,
        to: &PublicKey,
    ) {
        self.seq += 1;
        let (token, from) = (self.seq, node_key(n));
        let other = self.node_of(to.as_bytes()).expect("a known node");
        if self.nodes[other].up {
            self.fetching.insert(token, (n, order, job));
            let request = AgentRequest::Checkpoint(job);
            let asked = Input::Asked {
                token,
                from,
                request,
            };
            self.input(other, LATENCY_MS, asked);
        } else {
            self.input(n, 1_000, checkpointed(order, job, None, false));
        }
    }

    pub(crate) fn answer(&mut self, question: u64, reply: AgentReply) {
        if let Some((n, order, job)) = self.fetching.remove(&question) {
            let kept = match reply {
                AgentReply::Checkpoint { manifest, age_ms } => {
                    let manifest = Manifest::decode(&manifest).expect("in order");
                    Some((manifest.snapshot(), age_ms))
                }
                _ => None,
            };
            return self.input(n, LATENCY_MS, checkpointed(order, job, kept, false));
        }
        if let Some((n, token)) = self.asked.remove(&question) {
            self.input(
                n,
                LATENCY_MS,
                Input::Answered {
                    token,
                    reply: Some(reply),
                },
            );
        }
    }
}
