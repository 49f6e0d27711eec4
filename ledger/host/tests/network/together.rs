//! Signatures that are checked together: each counts by itself, whichever core checks it.

use crate::genesis::peer;
use crate::world::World;
use gridbay_host::message::{DecidedBlock, HostMessage};
use gridbay_host::{Host, HostEffect, HostInput, Offence, Received};

const MANY: usize = 100;

fn offences(effects: &[HostEffect]) -> Vec<Offence> {
    let offence = |effect: &HostEffect| match effect {
        HostEffect::Penalise { offence, .. } => Some(*offence),
        _ => None,
    };
    effects.iter().filter_map(offence).collect()
}

#[test]
fn entries_up_to_a_wrong_signature_are_taken() {
    let mut world = World::new(4, 0, 5);
    // Nobody else is there, so nothing leaves the mempool.
    world.boot(0);
    let mut pooled = 0;
    for wrong in [0, 40, MANY - 1, MANY] {
        let all = (0..MANY).map(|n| world.transfer(n % 4).signed().clone());
        let mut all: Vec<_> = all.collect();
        if let Some(signed) = all.get_mut(wrong) {
            signed.signature.0[5] ^= 1;
        }
        let message = Received::Message(HostMessage::Entries(all));
        let from = peer(1);
        let effects = world.input(0, HostInput::Message { from, message });
        let found = offences(&effects);
        assert_eq!(found.is_empty(), wrong == MANY);
        assert!(found.iter().all(|offence| *offence == Offence::Entry));
        pooled += wrong;
        assert_eq!(world.hosts[0].as_ref().unwrap().mempool_len(), pooled);
    }
}

#[test]
fn members_entries_go_in_small_messages() {
    let mut world = World::new(4, 1, 8);
    (0..5).for_each(|i| world.boot(i));
    let sent = |world: &mut World, i: usize| -> Vec<usize> {
        let all: Vec<_> = (0..MANY).map(|_| world.transfer(0)).collect();
        let effects = world.input(i, HostInput::Submit(all));
        let bytes = |effect: &HostEffect| match effect {
            HostEffect::Broadcast(message @ HostMessage::Entries(_)) => {
                Some(message.encode().len())
            }
            _ => None,
        };
        effects.iter().filter_map(bytes).collect()
    };
    let of_member = sent(&mut world, 4);
    assert!(of_member.len() > 1, "{of_member:?}");
    // What a reader needs no place for, see the overlay's budget of frames.
    assert!(
        of_member.iter().all(|bytes| *bytes <= 16 << 10),
        "{of_member:?}"
    );
    let of_validator = sent(&mut world, 0);
    assert_eq!(of_validator.len(), 1, "{of_validator:?}");
    assert!(of_validator[0] > 16 << 10);
}

#[test]
fn each_node_checks_a_signature_once_and_none_of_its_own() {
    let mut world = World::new(4, 1, 7);
    (0..5).for_each(|i| world.boot(i));
    let before: Vec<u64> = (0..5).map(|i| checked(&world, i)).collect();
    let all = (0..MANY).map(|_| world.transfer(0)).collect();
    world.input(0, HostInput::Submit(all));
    let has_none = |w: &World| w.hosts[0].as_ref().unwrap().mempool_len() == 0;
    assert!(world.run(60_000, |w| has_none(w)
        && (1..5).all(|i| w.tip(i) == w.tip(0))));
    let own = checked(&world, 0) - before[0];
    assert!(own < MANY as u64, "{own}: those of others alone");
    for (i, before) in before.into_iter().enumerate().skip(1) {
        // Entries of the validators themselves are the same for all.
        assert_eq!(checked(&world, i) - before, own + MANY as u64, "node {i}");
    }
}

/// Signatures that a node has checked.
fn checked(world: &World, i: usize) -> u64 {
    world.hosts[i].as_ref().unwrap().signatures_checked()
}

/// Tells a host of a decided block: what it finds wrong.
fn told(host: &mut Host, world: &World, decided: DecidedBlock) -> Vec<Offence> {
    let message = Received::Message(HostMessage::SyncResponse(vec![decided]));
    let from = peer(0);
    let input = HostInput::Message { from, message };
    offences(&host.step(world.clocks(4), input).unwrap())
}

#[test]
fn a_block_with_one_wrong_signature_is_not_caught_up_on() {
    let mut world = World::new(4, 1, 6);
    (0..4).for_each(|i| world.boot(i));
    let all = (0..MANY).map(|_| world.transfer(0)).collect();
    world.input(0, HostInput::Submit(all));
    let has_none = |w: &World| w.hosts[0].as_ref().unwrap().mempool_len() == 0;
    assert!(world.run(60_000, |w| has_none(w) && w.tip(0) > 1));
    let mut other = Some(world.transfer(1).signed().clone());
    let mut late = world.open(4).unwrap();
    late.use_cores(3);
    late.step(world.clocks(4), HostInput::Start).unwrap();
    let mut most = 0;
    for height in 1..=world.tip(0) {
        let decided = world.hosts[0].as_ref().unwrap().block(height);
        let decided = decided.unwrap().unwrap();
        let entries = decided.block.entries.len();
        most = most.max(entries);
        for wrong in (0..entries).step_by(33) {
            let mut mangled = decided.clone();
            mangled.block.entries[wrong].signature.0[5] ^= 1;
            assert_eq!(told(&mut late, &world, mangled), [Offence::Body]);
            assert_eq!(late.state().height(), height - 1);
        }
        let before = late.signatures_checked();
        if let Some(entry) = other.take_if(|_| entries > 0) {
            let mut mangled = decided.clone();
            mangled.block.entries[entries - 1] = entry;
            assert_eq!(told(&mut late, &world, mangled), [Offence::Body]);
            assert_eq!(late.signatures_checked(), before, "it is in no header");
        }
        assert_eq!(told(&mut late, &world, decided), []);
        assert_eq!(late.signatures_checked(), before + entries as u64);
        assert_eq!(late.state().height(), height);
    }
    assert!(most > 40, "{most} entries in a block at the most");
}
