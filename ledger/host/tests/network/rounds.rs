//! Heights with many failed rounds can still be decided, whatever was proposed in them.

use crate::genesis::{consensus_key, peer, validator};
use crate::rng::Rng;
use crate::world::{EPOCH_MS, World};
use gridbay_host::disk::Disk as _;
use gridbay_host::message::{Body, DecidedBlock, HostMessage, Offered, SignedProposal, SignedVote};
use gridbay_host::{HostEffect, HostInput, Received, limits};
use gridbay_ledger::Draft;
use gridbay_protocol::block::Block;
use gridbay_protocol::election;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::{BlockId, Hash32};
use gridbay_protocol::limits::BLOCK_ENTRIES;
use gridbay_protocol::vote::{Certificate, CertificateSignature, Proposal, Vote, VoteKind};

#[test]
fn a_height_with_more_lies_than_there_is_room_for_is_decided() {
    let mut world = World::new(4, 0, 11);
    let mut told = 0;
    let lie = move |block: &Block, _: &_, _: &mut Rng| {
        told += 1;
        let mut block = block.clone();
        block.header.state_root = Hash32([told as u8; 32]);
        (told <= limits::BODIES + 4).then_some(block)
    };
    world.lie = Some(((0..4).collect(), Box::new(lie)));
    world.boot_all();
    assert!(
        world.run(3_600_000, |w| w.all_at(1)),
        "no decision after {} lies: {:?}",
        world.lies.len(),
        world.hosts
    );
    assert_eq!(world.lies.len(), limits::BODIES + 4);
    let round = world.rounds[&1] as usize;
    assert!(
        (limits::BODIES + 4..limits::BODIES + 8).contains(&round),
        "round {round}"
    );
}

/// Host 0 of four; the test speaks for the three others.
struct Alone {
    world: World,
    others: Vec<usize>,
}

impl Alone {
    fn new(seed: u64) -> Alone {
        let mut world = World::new(4, 0, seed);
        world.boot(0);
        let others = vec![1, 2, 3];
        Alone { world, others }
    }
    fn say(&mut self, message: HostMessage) {
        self.say_as(self.others[0], message);
    }
    fn say_as(&mut self, n: usize, message: HostMessage) {
        let message = Received::Bytes(message.encode());
        let from = peer(n);
        self.world.input(0, HostInput::Message { from, message });
    }
    fn bodies(&self) -> usize {
        self.world.hosts[0].as_ref().unwrap().sizes().bodies
    }
    fn said(&self, n: usize, kind: VoteKind, round: u32, block: Option<BlockId>) -> SignedVote {
        let vote = Vote {
            kind,
            height: 1,
            round,
            block,
            validator: validator(n),
        };
        let network = self.world.genesis.network();
        SignedVote::new(vote, &network, &consensus_key(n))
    }
    fn vote(&mut self, kind: VoteKind, round: u32, block: Option<BlockId>) {
        for n in self.others.clone() {
            self.say(HostMessage::Vote(self.said(n, kind, round, block)));
        }
    }
    /// A good block of the validator elected for a round; others of it differ in their time.
    fn block(&self, round: u32, later: u64) -> Block {
        let proposer = self.elected(round);
        let state = self.world.hosts[0].as_ref().unwrap().state();
        let tip = state.beacon_tip(&validator(proposer)).unwrap();
        let proposed = state.propose(Draft {
            proposer: validator(proposer),
            time_ms: EPOCH_MS + 2 * u64::from(round) + later,
            reveal: crate::genesis::chain(proposer).preimage(&tip).unwrap(),
            last_commit: None,
            evidence: vec![],
            entries: vec![],
            hints: vec![],
        });
        proposed.block.block().clone()
    }
    /// Proposes a block in a round, if the round belongs to one of the others.
    fn propose(&mut self, round: u32, block: &Block) -> bool {
        let signed = self.proposal(round, block);
        let is_others = self.elected(round) != 0;
        if is_others {
            let body = Some(Body::Whole(Box::new(block.clone())));
            self.say(HostMessage::Proposal(Offered { signed, body }));
        }
        is_others
    }
    fn proposal(&self, round: u32, block: &Block) -> SignedProposal {
        let proposer = self.elected(round);
        let proposal = Proposal {
            height: 1,
            round,
            block: block.id(),
            valid_round: None,
            validator: validator(proposer),
        };
        let network = self.world.genesis.network();
        SignedProposal::new(proposal, &network, &consensus_key(proposer))
    }
    fn elected(&self, round: u32) -> usize {
        let state = self.world.hosts[0].as_ref().unwrap().state();
        let id = election::proposer(&state.election_seed(), 1, round, state.validators());
        (0..4).find(|n| validator(*n) == id).unwrap()
    }
}

#[test]
fn a_block_of_a_round_to_come_is_taken_when_its_round_is_near() {
    let mut alone = Alone::new(14);
    alone.vote(VoteKind::Prevote, 0, None);
    let far = (3..10).find(|round| alone.elected(*round) != 0).unwrap();
    let block = alone.block(far, 0);
    let before = alone.bodies();
    assert!(alone.propose(far, &block));
    alone.say(HostMessage::Body(Box::new(block.clone())));
    assert_eq!(alone.bodies(), before, "the round may never come");
    assert!(alone.world.penalties.is_empty());
    alone.vote(VoteKind::Prevote, far - 1, None);
    alone.world.now += limits::BODY_WAIT_MS + 1;
    let effects = alone.world.input(0, HostInput::Tick);
    let asks = |effect: &HostEffect| match effect {
        HostEffect::Send { to, message } => {
            *to == peer(alone.elected(far)) && matches!(message, HostMessage::BodyRequest(_))
        }
        _ => false,
    };
    assert!(effects.iter().any(asks), "its proposer is asked");
    let own = alone.bodies();
    alone.say(HostMessage::Body(Box::new(block)));
    assert_eq!(alone.bodies(), own + 1);
}

#[test]
fn a_body_that_another_brings_before_the_height_starts_takes_no_place() {
    let mut alone = Alone::new(15);
    let first = (0..2).find(|round| alone.elected(*round) != 0).unwrap();
    let (proposer, block) = (alone.elected(first), alone.block(first, 0));
    let signed = alone.proposal(first, &block);
    let offer = |block: &Block| {
        let body = Some(Body::Whole(Box::new(block.clone())));
        HostMessage::Proposal(Offered { signed, body })
    };
    let mut mangled = block.clone();
    mangled
        .entries
        .push(alone.world.transfer(1).signed().clone());
    let liar = (1..4).find(|n| *n != proposer).unwrap();
    alone.say_as(liar, offer(&mangled));
    alone.say_as(proposer, offer(&block));
    alone.say_as(liar, offer(&mangled));
    assert_eq!(alone.bodies(), 0);
    alone.vote(VoteKind::Prevote, first, None);
    let own = usize::from(first > 0);
    assert_eq!(alone.bodies(), own + 1, "as the proposer sent it");
}

#[test]
fn a_decision_whose_body_had_to_go_is_caught_up_with() {
    let mut alone = Alone::new(12);
    let first = (0..4).find(|round| alone.elected(*round) != 0).unwrap();
    let good = alone.block(first, 0);
    // A vote of round `first` starts the height; then the block comes, and nobody else votes for
    // it.
    alone.vote(VoteKind::Prevote, first, None);
    assert!(alone.propose(first, &good));
    // Then far more rounds fail than there is room for, each with two blocks that are as good.
    let (mut round, mut rivals) = (first, 0);
    while rivals < 2 * limits::BODIES {
        round += 1;
        alone.vote(VoteKind::Prevote, round, None);
        for later in [1, 2] {
            let rival = alone.block(round, later);
            rivals += usize::from(alone.propose(round, &rival));
        }
    }
    // Late votes decide the first block after all; with its body host 0 would be at height 1 at
    // once.
    alone.vote(VoteKind::Precommit, first, Some(good.id()));
    assert_eq!(alone.world.tip(0), 0);
    let signatures = alone.others.iter().map(|n| {
        let vote = alone.said(*n, VoteKind::Precommit, first, Some(good.id()));
        CertificateSignature {
            validator: validator(*n),
            signature: vote.signature,
        }
    });
    let mut certificate = Certificate {
        height: 1,
        round: first,
        block: good.id(),
        signatures: signatures.collect(),
    };
    certificate.signatures.sort_by_key(|s| s.validator);
    alone.say(HostMessage::SyncResponse(vec![DecidedBlock {
        block: good,
        certificate,
    }]));
    assert_eq!(alone.world.tip(0), 1);
}

/// A block of 600 kB: one entry as often as fits, which the ledger refuses, but only once it is
/// here.
fn bulky(alone: &Alone, round: u32, entry: &SignedEntry) -> Block {
    let mut block = alone.block(round, 1);
    block.entries = vec![entry.clone(); BLOCK_ENTRIES];
    let ids: Vec<[u8; 32]> = block.entries.iter().map(|e| e.id().0).collect();
    block.header.entries_root = Hash32(gridbay_ledger::log::merkle_root(&ids));
    block
}

#[test]
fn the_journal_of_a_height_that_does_not_end_is_bounded_and_resumed() {
    let mut alone = Alone::new(13);
    let entry = alone.world.transfer(1);
    // It waits in the mempool, so that its signature is known.
    let submitted = HostInput::Submit(vec![entry.clone()]);
    alone.world.input(0, submitted);
    alone.vote(VoteKind::Prevote, 0, None);
    let (mut written, mut longest) = (0, 0);
    for round in 1..100 {
        alone.vote(VoteKind::Prevote, round, None);
        let block = bulky(&alone, round, entry.signed());
        if alone.propose(round, &block) {
            written += block.encode().len() as u64;
        }
        let held = alone.world.hosts[0].as_ref().unwrap().sizes();
        let journal = alone.world.disks[0].len("journal").unwrap();
        let bound = held.body_bytes as u64 + 2 * limits::JOURNAL_BYTES;
        assert!(journal <= bound, "{journal} bytes in round {round}");
        longest = longest.max(journal);
    }
    assert!(
        written > longest + limits::JOURNAL_BYTES,
        "{written} {longest}"
    );
    let round = alone.world.hosts[0].as_ref().unwrap().round();
    alone.world.crash(0);
    alone.world.boot(0);
    for n in 1..4 {
        alone.world.input(0, HostInput::PeerUp(peer(n)));
    }
    let host = alone.world.hosts[0].as_ref().unwrap();
    assert_eq!(host.round(), round);
    assert!(host.sizes().bodies <= limits::BODIES);
    assert!(
        alone.world.penalties.is_empty(),
        "{:?}",
        alone.world.penalties
    );
}
