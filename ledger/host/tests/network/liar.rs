//! A proposer that lies: none of its lies is decided, and the next round decides another block.

use crate::genesis::validator;
use crate::world::{Lie, World};
use gridbay_host::Equivocation;
use gridbay_host::message::{HostMessage, SignedVote};
use gridbay_host::{HostInput, Received};
use gridbay_ledger::{Draft, State, log};
use gridbay_protocol::block::Block;
use gridbay_protocol::ids::{BlockId, Hash32};
use gridbay_protocol::vote::{Vote, VoteKind};

/// Runs until host 0 has told 20 lies, with plenty of entries about.
fn twenty_lies(name: &str, seed: u64, lie: Lie) -> World {
    let mut world = World::new(4, 0, seed);
    world.lie = Some((vec![0], lie));
    world.boot_all();
    for k in 0..300 {
        let from = world.rng.below(4) as usize;
        world.transfer_at(k * 100 + k % 2, from);
    }
    let done = world.run(600_000, |w| w.lies.len() >= 20);
    assert!(
        done,
        "{name}: {} lies at height {}",
        world.lies.len(),
        world.tip(1)
    );
    let tip = world.tip(1);
    assert!(
        world.run(world.now + 20_000, |w| w.all_at(tip + 2)),
        "{name}"
    );
    let second = world.rounds.values().filter(|r| **r >= 1).count();
    assert!(
        second >= 19,
        "{name}: {second} heights went to a second round"
    );
    assert!(
        world.rounds.values().all(|r| *r <= 2),
        "{name}: {:?}",
        world.rounds
    );
    world
}

fn flip(hash: &mut Hash32, n: u64) {
    hash.0[n as usize % 32] ^= 1 << (n % 8);
}

fn with_entries(mut block: Block, change: impl FnOnce(&mut Block)) -> Block {
    change(&mut block);
    let ids: Vec<[u8; 32]> = block.entries.iter().map(|e| e.id().0).collect();
    block.header.entries_root = Hash32(log::merkle_root(&ids));
    block
}

#[test]
fn altered_roots_are_never_decided() {
    type Field = fn(&mut Block) -> &mut Hash32;
    let fields: [(&str, Field); 4] = [
        ("state root", |b| &mut b.header.state_root),
        ("effects root", |b| &mut b.header.effects_root),
        ("log root", |b| &mut b.header.log_root),
        ("next validators", |b| &mut b.header.next_validators),
    ];
    for (i, (name, field)) in fields.into_iter().enumerate() {
        let lie = move |block: &Block, _: &State, rng: &mut crate::rng::Rng| {
            let mut block = block.clone();
            flip(field(&mut block), rng.next());
            Some(block)
        };
        twenty_lies(name, i as u64, Box::new(lie));
    }
}

#[test]
fn altered_entries_are_never_decided() {
    let dropped = |block: &Block, _: &State, rng: &mut crate::rng::Rng| {
        let at = rng.below(block.entries.len() as u64) as usize;
        let some = !block.entries.is_empty();
        some.then(|| with_entries(block.clone(), |b| drop(b.entries.remove(at))))
    };
    twenty_lies("an entry dropped", 1, Box::new(dropped));
    let swapped = |block: &Block, _: &State, _: &mut crate::rng::Rng| {
        let two = block.entries.len() >= 2;
        two.then(|| with_entries(block.clone(), |b| b.entries.swap(0, 1)))
    };
    twenty_lies("two entries swapped", 2, Box::new(swapped));
    let repeated = |block: &Block, _: &State, _: &mut crate::rng::Rng| {
        let first = block.entries.first()?.clone();
        Some(with_entries(block.clone(), |b| b.entries.insert(0, first)))
    };
    twenty_lies("an entry repeated", 3, Box::new(repeated));
}

#[test]
fn wrong_reveals_names_and_times_are_never_decided() {
    let reveal = |block: &Block, _: &State, rng: &mut crate::rng::Rng| {
        let mut block = block.clone();
        flip(&mut block.header.beacon_reveal, rng.next());
        Some(block)
    };
    twenty_lies("a reveal", 4, Box::new(reveal));
    let name = |block: &Block, _: &State, rng: &mut crate::rng::Rng| {
        let mut block = block.clone();
        block.header.proposer = validator(1 + rng.below(3) as usize);
        Some(block)
    };
    twenty_lies("another's name", 5, Box::new(name));
    // A block that is right in every other way, but from the future.
    let future = |block: &Block, state: &State, _: &mut crate::rng::Rng| {
        let draft = Draft {
            proposer: block.header.proposer,
            time_ms: block.header.time_ms + 5_000,
            reveal: block.header.beacon_reveal.0,
            last_commit: block.last_commit.clone(),
            evidence: vec![],
            entries: vec![],
            hints: vec![],
        };
        Some(state.propose(draft).block.block().clone())
    };
    twenty_lies("the future", 6, Box::new(future));
}

#[test]
fn omitting_an_acknowledged_entry_costs_the_first_rounds() {
    let mut world = World::new(4, 0, 7);
    // All proposers omit what member 0 sends; every block is otherwise right.
    let victim = world.account(0);
    let censor = move |block: &Block, state: &State, _: &mut crate::rng::Rng| {
        let others = block.entries.iter().filter(|e| e.entry.account != victim);
        if others.clone().count() == block.entries.len() {
            return None;
        }
        let draft = Draft {
            proposer: block.header.proposer,
            time_ms: block.header.time_ms,
            reveal: block.header.beacon_reveal.0,
            last_commit: block.last_commit.clone(),
            evidence: vec![],
            entries: vec![],
            hints: vec![],
        };
        Some(state.propose(draft).block.block().clone())
    };
    world.lie = Some((vec![0, 1, 2, 3], Box::new(censor)));
    world.lies_may_pass = true;
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(3)));
    let entry = world.transfer(0);
    let tip = world.tip(0);
    world.input(0, HostInput::Submit(vec![entry]));
    assert!(world.run(world.now + 60_000, |w| w.tip(1) >= tip + 6));
    // Two blocks without it pass; from then on rounds 0 and 1 are refused, round 2 would be let
    // through.
    let rounds: Vec<u32> = (tip + 4..=tip + 6).map(|h| world.rounds[&h]).collect();
    assert!(rounds.iter().all(|r| *r >= 2), "{:?}", world.rounds);
    assert_eq!(world.rounds[&(tip + 1)], 0);
}

#[test]
fn two_votes_of_one_validator_become_evidence_in_the_book() {
    let mut world = World::new(4, 0, 9);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(4)));
    // Host 3 tells everybody that it also voted for something else, at several heights.
    let network = world.genesis.network();
    for _ in 0..8 {
        let height = world.tip(0) + 1;
        let vote = Vote {
            kind: VoteKind::Prevote,
            height,
            round: 0,
            block: Some(BlockId([9; 32])),
            validator: validator(3),
        };
        let signed = SignedVote::new(vote, &network, &crate::genesis::consensus_key(3));
        let message = HostMessage::Vote(signed);
        for to in 0..3 {
            let message = Received::Message(message.clone());
            let from = crate::genesis::peer(3);
            world.input(to, HostInput::Message { from, message });
        }
        assert!(world.run(world.now + 20_000, |w| w.all_at(height)));
    }
    let tip = world.tip(0);
    assert!(world.run(world.now + 20_000, |w| w.all_at(tip + 8)));
    assert!(!world.equivocations.is_empty());
    for found in &world.equivocations {
        match found {
            Equivocation::Votes(e) => assert_eq!(e.first.validator, validator(3)),
            Equivocation::Proposals(_) => panic!("nobody proposed twice"),
        }
    }
    let host = world.hosts[0].as_ref().unwrap();
    let in_book = (1..=world.tip(0))
        .flat_map(|h| host.block(h).unwrap().unwrap().block.evidence)
        .count();
    assert!(in_book >= 1);
}

#[test]
fn two_proposals_of_one_validator_are_seen_by_all() {
    let mut world = World::new(4, 0, 10);
    // The world sends one block; the true one goes out beside it, to one host only.
    let lie = |block: &Block, _: &State, _: &mut crate::rng::Rng| {
        let mut block = block.clone();
        flip(&mut block.header.state_root, 0);
        Some(block)
    };
    world.lie = Some((vec![0], Box::new(lie)));
    world.boot_all();
    assert!(world.run(60_000, |w| !w.lies.is_empty()));
    world.lie = None;
    let network = world.genesis.network();
    let lie = world
        .heard
        .iter()
        .rev()
        .find_map(|bytes| match HostMessage::decode(bytes) {
            Ok(HostMessage::Proposal(o)) if world.lies.contains(&o.signed.proposal.block) => {
                Some(o.signed)
            }
            _ => None,
        });
    let mut other = lie.expect("the lie went over the wire").proposal;
    other.block = BlockId([8; 32]);
    let signed = gridbay_host::message::SignedProposal::new(
        other,
        &network,
        &crate::genesis::consensus_key(0),
    );
    let message = Received::Message(HostMessage::Proposal(gridbay_host::message::Offered {
        signed,
        body: None,
    }));
    let from = crate::genesis::peer(0);
    world.run(world.now + 25, |_| false);
    world.input(1, HostInput::Message { from, message });
    let height = other.height;
    assert!(world.run(world.now + 20_000, |w| w.all_at(height)));
    let pairs = world.equivocations.iter().filter(|e| match e {
        Equivocation::Proposals(pair) => pair.0.proposal.validator == validator(0),
        Equivocation::Votes(_) => false,
    });
    assert!(pairs.count() >= 3, "{:?}", world.equivocations);
}
