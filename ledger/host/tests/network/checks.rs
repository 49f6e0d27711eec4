//! The checks that peers may cause for nothing.

use crate::genesis::peer;
use crate::mempool::{STRANGER, host, payment, signed};
use crate::world::World;
use gridbay_host::message::HostMessage;
use gridbay_host::{HostEffect, HostInput, Offence, Received, limits};
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::keys::SecretKey;

/// Well-signed entries of an account that nobody opened.
fn worthless(world: &World, from: u64, n: u64) -> Vec<SignedEntry> {
    let key = SecretKey::from_seed(&[240; 32]);
    let entry = |n| {
        let body = payment(world.account(0), 1 + n);
        signed(world, AccountId([9; 32]), &key, 100, body)
    };
    (from..from + n).map(entry).collect()
}

/// Offences of a peer that sends entries.
fn sends(world: &mut World, from: [u8; 32], entries: Vec<SignedEntry>) -> Vec<Offence> {
    let message = Received::Message(HostMessage::Entries(entries));
    let effects = world.input(0, HostInput::Message { from, message });
    let offence = |effect| match effect {
        HostEffect::Penalise { peer, offence } if peer == from => Some(offence),
        _ => None,
    };
    effects.into_iter().filter_map(offence).collect()
}

/// Offences of a peer that sends so many worthless entries, none of them sent before `first`.
fn batches(world: &mut World, from: [u8; 32], first: u64, n: u64) -> Vec<Offence> {
    let size = limits::BATCH_ENTRIES as u64;
    let one = |batch| {
        let entries = worthless(world, first + batch * size, size);
        sends(world, from, entries)
    };
    (0..n / size).flat_map(one).collect()
}

#[test]
fn worthless_entries_are_checked_up_to_a_bound_and_cost_their_sender() {
    let mut world = World::new(4, 0, 63);
    world.boot(0);
    assert_eq!(batches(&mut world, STRANGER, 0, limits::IDLE_CHECKS), []);
    let more = batches(&mut world, STRANGER, 10_000, 2 * limits::IDLE_CHECKS);
    let messages = 2 * limits::IDLE_CHECKS as usize / limits::BATCH_ENTRIES;
    assert_eq!(more, vec![Offence::Entries; messages], "one each message");
    // Not even a forged one is looked at, which would be another offence.
    let mut forged = worthless(&world, 20_000, 1);
    forged[0].signature.0[5] ^= 1;
    assert_eq!(
        sends(&mut world, STRANGER, forged.clone()),
        [Offence::Entries]
    );
    assert_eq!(sends(&mut world, [78; 32], forged), [Offence::Entry]);
    // A validator passes on others' work.
    let n = 4 * limits::IDLE_CHECKS;
    assert_eq!(batches(&mut world, peer(1), 30_000, n), []);
}

#[test]
fn entries_that_wait_for_their_block_cost_their_sender_nothing() {
    let mut world = World::new(4, 0, 64);
    world.boot(0);
    for i in 0..4 {
        for _ in 0..limits::MEMPOOL_PER_ACCOUNT {
            let entry = world.transfer(i).signed().clone();
            assert_eq!(sends(&mut world, STRANGER, vec![entry]), []);
        }
    }
    assert_eq!(
        host(&world, 0).mempool_len(),
        4 * limits::MEMPOOL_PER_ACCOUNT
    );
    assert_eq!(batches(&mut world, STRANGER, 0, limits::IDLE_CHECKS), []);
}
