//! Beacon chains: a tip counts from the epoch after the next on, so that nobody who knows the
//! beacon can choose the reveal that follows it.

use crate::world::{World, key};
use gridbay_ledger::{BlockRefusal, CheckedBlock, Draft, Refusal};
use gridbay_protocol::beacon::{Chain, step};
use gridbay_protocol::calendar;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{Hash32, ValidatorId};
use gridbay_protocol::limits::EPOCH_HEIGHTS;

fn validator(n: u8) -> ValidatorId {
    gridbay_protocol::validator::validator_id(&key(100 + n).public())
}

fn register(tip: [u8; 32]) -> EntryBody {
    EntryBody::RegisterBeacon { tip: Hash32(tip) }
}

/// Whether the others take the next block of a validator with this reveal.
fn reveals(world: &World, n: u8, reveal: [u8; 32]) -> Result<(), BlockRefusal> {
    let draft = Draft {
        proposer: validator(n),
        reveal,
        ..world.draft(vec![])
    };
    let block = world.state.propose(draft).block.block().clone();
    let checked = CheckedBlock::check(&world.network, block, |_, _| None)?;
    world.twin.execute(&checked).map(|_| ())
}

fn old_tip(world: &World, n: u8) -> [u8; 32] {
    world.state.beacon_tip(&validator(n)).unwrap()
}

#[test]
fn a_tip_ground_at_the_block_before_chooses_no_beacon() {
    let mut world = World::new();
    world.sole = Some(0);
    // Up to the block that decides the election of the next epoch.
    world.until(EPOCH_HEIGHTS - 2);
    let ground = [99; 32];
    let entry = world.by(3, register(step(&ground)));
    let before = old_tip(&world, 3);
    world.all(vec![entry]);
    assert_eq!(calendar::epoch(world.state.height() + 2), 1);
    assert_eq!(old_tip(&world, 3), before, "the old chain goes on");
    let refused = reveals(&world, 3, ground);
    assert_eq!(refused, Err(BlockRefusal::Reveal(validator(3))));
    let old = Chain::new(&[3; 32], 4_000).preimage(&before).unwrap();
    assert_eq!(reveals(&world, 3, old), Ok(()));
}

#[test]
fn a_tip_counts_from_the_epoch_after_the_next_and_none_replaces_it_until_then() {
    let mut world = World::new();
    world.sole = Some(0);
    let mut next = Chain::new(&[33; 32], 100);
    let (first, second) = (EPOCH_HEIGHTS, 2 * EPOCH_HEIGHTS);
    world.until(first - 1);
    let entry = world.by(3, register(next.tip()));
    world.all(vec![entry]);
    let old = old_tip(&world, 3);
    let successor = world.state.beacon_successor(&validator(3)).unwrap();
    assert_eq!((successor.tip.0, successor.epoch), (next.tip(), 2));
    let other = world.by(3, register([1; 32]));
    let waits = Refusal::BeaconWaits {
        validator: validator(3),
        epoch: 2,
    };
    assert_eq!(world.refused(other), waits);
    assert!(waits.may_pass_later());
    world.until(second - 1);
    assert_eq!(old_tip(&world, 3), old);
    // Not in the last block before the turn either.
    let other = world.by(3, register([1; 32]));
    assert_eq!(world.refused(other), waits);
    assert_eq!(world.state.height(), second);
    assert_eq!(old_tip(&world, 3), next.tip());
    assert_eq!(world.state.beacon_successor(&validator(3)), None);
    let tip = next.tip();
    assert_eq!(reveals(&world, 3, next.preimage(&tip).unwrap()), Ok(()));
    let late = Chain::new(&[3; 32], 4_000).preimage(&old).unwrap();
    let refused = reveals(&world, 3, late);
    assert_eq!(refused, Err(BlockRefusal::Reveal(validator(3))));
    // Now the next one may be registered.
    let other = world.by(3, register([1; 32]));
    world.all(vec![other]);
    let successor = world.state.beacon_successor(&validator(3)).unwrap();
    assert_eq!(successor.epoch, 4);
}
