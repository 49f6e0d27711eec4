//! A state goes through bytes and comes back the same.

use crate::trade::bid;
use crate::world::{World, genesis, policy};
use gridbay_ledger::{SnapshotError, State};

#[test]
fn a_restored_state_goes_on_as_if_nothing_had_happened() {
    let mut world = World::new();
    let offer = world.offer(1, 1, 2, 10, Some(30));
    world.all(vec![offer]);
    world.until(9);
    let two = bid(&world, &[(2, 50)], 5);
    let orders = world.bids(&[(2, two)]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    let bytes = world.state.snapshot();
    let restored = State::restore(&genesis(policy()), &bytes, bytes.len()).unwrap();
    assert_eq!(restored.root(), world.state.root());
    assert_eq!(restored.tip(), world.state.tip());
    assert_eq!(restored.snapshot(), bytes);
    // The next blocks, through a boundary with its settlement and clearing, are the same.
    world.twin = restored;
    world.until(33);
    let mut cut = bytes.clone();
    cut.pop();
    let broken = State::restore(&genesis(policy()), &cut, bytes.len());
    assert!(matches!(broken, Err(SnapshotError::Bytes(_))));
    let mut other = policy();
    other.accounts_per_member += 1;
    let foreign = State::restore(&genesis(other), &bytes, bytes.len());
    assert!(matches!(foreign, Err(SnapshotError::Network(_))));
}
