//! The pace of the chain is the policy's, whatever a third of the power says.

use crate::genesis::{consensus_key, peer, validator};
use crate::world::World;
use gridbay_host::message::{HostMessage, Polka, SignedVote};
use gridbay_host::{HostInput, Received, limits};
use gridbay_protocol::ids::BlockId;
use gridbay_protocol::vote::{CertificateSignature, Vote, VoteKind};

fn vote(world: &World, i: usize, height: u64, round: u32) -> HostMessage {
    let vote = Vote {
        kind: VoteKind::Prevote,
        height,
        round,
        block: None,
        validator: validator(i),
    };
    let network = world.genesis.network();
    HostMessage::Vote(SignedVote::new(vote, &network, &consensus_key(i)))
}

fn say(world: &mut World, from: [u8; 32], to: usize, message: &HostMessage) {
    let message = Received::Bytes(message.encode());
    world.input(to, HostInput::Message { from, message });
}

/// Four hosts; the last one also votes for every height as soon as there can be one, and for the
/// one after it. Milliseconds from one block to the next in the mean.
fn with_an_early_voter(transfers: u64, until: u64) -> u64 {
    let mut world = World::new(4, 0, 21);
    world.latency = (1, 3);
    world.genesis.policy.heartbeat_ms = 10_000;
    world.boot_all();
    for k in 0..transfers {
        world.transfer_at(k * 100, k as usize % 4);
    }
    world.run(12_000, |w| w.all_at(2));
    let (start, first) = (world.now, world.tip(0));
    while world.now < until {
        for to in 0..3 {
            let next = world.tip(to) + 1;
            for height in [next, next + 1] {
                let early = vote(&world, 3, height, 9);
                say(&mut world, peer(3), to, &early);
            }
        }
        world.run(world.now + 5, |_| false);
    }
    (world.now - start) / (world.tip(0) - first).max(1)
}

#[test]
fn one_early_voter_does_not_shorten_the_interval() {
    let mean = with_an_early_voter(200, 20_000);
    assert!((240..=275).contains(&mean), "mean {mean} ms");
}

#[test]
fn one_early_voter_does_not_wake_an_idle_chain() {
    let mean = with_an_early_voter(0, 100_000);
    assert!((9_000..=12_500).contains(&mean), "mean {mean} ms");
}

#[test]
fn who_is_behind_starts_with_the_others_also_by_messages_that_came_too_early() {
    let mut world = World::new(4, 0, 22);
    world.genesis.policy.heartbeat_ms = 600_000;
    world.boot_all();
    world.run(2_000, |w| w.all_at(1));
    let tip = world.tip(0);
    assert!(world.all_at(tip) && world.hosts[0].as_ref().unwrap().round().is_none());
    // Two of the three others have started the height after the next one.
    for i in [1, 2] {
        let early = vote(&world, i, tip + 2, 0);
        say(&mut world, peer(i), 0, &early);
    }
    // The next one is decided for the work of one transfer, and host 0 goes on at once with those
    // two.
    world.transfer_at(world.now + 10, 0);
    let next = |w: &World| w.tip(0) == tip + 1 && w.hosts[0].as_ref().unwrap().round().is_some();
    assert!(world.run(world.now + 5_000, next), "{:?}", world.hosts);
}

#[test]
fn an_entry_that_only_one_validator_knows_wakes_the_others() {
    let mut world = World::new(4, 0, 23);
    world.genesis.policy.heartbeat_ms = 600_000;
    world.boot_all();
    world.run(2_000, |w| w.all_at(1));
    let tip = world.tip(0);
    // Nobody hears of the transfer when it is submitted.
    world.cut = Some((3_000, 3_100, 1));
    world.transfer_at(3_000, 0);
    assert!(world.run(8_000, |w| w.all_at(tip + 1)), "{:?}", world.hosts);
}

#[test]
fn certificates_of_strangers_take_no_room_from_validators() {
    let mut world = World::new(4, 0, 24);
    world.genesis.policy.heartbeat_ms = 600_000;
    world.boot_all();
    world.run(2_000, |w| w.all_at(1));
    let (next, before) = (
        world.tip(0) + 1,
        world.hosts[0].as_ref().unwrap().sizes().early,
    );
    for n in 0..=255 {
        for round in 0..limits::EARLY_PER_SIGNER as u32 {
            let signatures = vec![CertificateSignature {
                validator: validator(1),
                signature: gridbay_protocol::keys::Signature([n; 64]),
            }];
            let polka = HostMessage::Polka(Polka {
                height: next,
                round,
                block: BlockId([n; 32]),
                signatures,
            });
            // Strangers, and one node of a validator.
            let from = if n == 0 { peer(2) } else { [n; 32] };
            say(&mut world, from, 0, &polka);
        }
    }
    let held = world.hosts[0].as_ref().unwrap().sizes().early - before;
    assert_eq!(held, limits::EARLY_PROOFS);
    for i in 1..3 {
        let early = vote(&world, i, next, 0);
        say(&mut world, peer(i), 0, &early);
    }
    let round = world.hosts[0].as_ref().unwrap().round();
    assert_eq!(round, Some(0), "their votes were heard");
}
