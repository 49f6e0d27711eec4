//! Leases that share a pot pay different prices for equal units. A buyer that pays little gets no
//! more back for units that were not served than it paid; the rest is nobody's gain.

use crate::trade::{START, bid, moved};
use crate::world::{World, policy};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::payment::{Purse, Reason};

/// Member 2 runs two units of member 1 at 50 each, member 3 one at 100: the pot has 200 for three
/// equal units. The next height is 17.
fn uneven_prices(dispute_slots: u32) -> (World, [LeaseId; 2]) {
    let mut policy = policy();
    (policy.dispute_slots, policy.delivery_heights) = (dispute_slots, 100);
    let mut world = World::with(policy);
    let offer = world.offer(1, 1, 3, 0, None);
    world.all(vec![offer]);
    world.until(9);
    let cheap = bid(&world, &[(1, 200), (1, 150)], 2);
    let dear = bid(&world, &[(1, 120)], 2);
    let loser = bid(&world, &[(1, 100)], 2);
    let orders = world.bids(&[(2, cheap), (3, dear), (4, loser)]);
    let effects = world.until(16);
    let mut charged = moved(&effects, Reason::Charge);
    charged.sort_unstable();
    assert_eq!(charged, [100, 100]);
    let leases = [world.lease_of(&orders[0]), world.lease_of(&orders[1])];
    (world, leases)
}

#[test]
fn units_not_acknowledged_bring_no_more_than_they_cost() {
    let (mut world, [_, dear]) = uneven_prices(0);
    world.deliver(1, dear);
    let effects = world.until(24);
    // Two of three units earn 133, of which their buyer paid 100.
    assert_eq!(moved(&effects, Reason::Refund), [100]);
    assert_eq!(moved(&effects, Reason::Revenue), [33]);
    assert_eq!(moved(&effects, Reason::Earning), [67]);
    assert_eq!(world.account(1), START + 67);
}

#[test]
fn a_complaint_brings_no_more_than_the_slot_cost() {
    let (mut world, leases) = uneven_prices(1);
    for lease in leases {
        world.deliver(1, lease);
    }
    world.until(24);
    let bank = world.balance(Purse::Bank);
    let said = world.complaint(2, leases[0], 2);
    let effects = world.all(vec![said]);
    let [held, _unused] = moved(&effects, Reason::Refund)[..] else {
        panic!("held earnings, and what is left of the running slot: {effects:?}");
    };
    assert_eq!(held, 100);
    assert_eq!(world.balance(Purse::Bank), bank + 33);
}
