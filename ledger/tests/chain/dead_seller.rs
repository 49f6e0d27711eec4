//! Sellers that never deliver: no slot is used, no order is served by them, and nobody is sold to
//! them twice.

use crate::trade::{bid, lease_ends, money, order, order_ends};
use crate::world::{World, policy};
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::payment::Reason;

const START: i128 = 1_000_000;

/// Member 1 offers a unit and is gone; the next height is 10. Deadlines are after so many heights.
fn gone(delivery_heights: u64) -> World {
    let mut policy = policy();
    policy.delivery_heights = delivery_heights;
    let mut world = World::with(policy);
    let offer = world.offer(1, 1, 1, 10, Some(10));
    world.all(vec![offer]);
    world.until(9);
    world
}

#[test]
fn a_slot_counts_only_if_it_was_delivered() {
    let mut world = gone(20);
    let orders = world.bids(&[(2, bid(&world, &[(1, 50)], 1))]);
    // The one slot of the order would have been used at 24; the deadline is 36.
    world.until(35);
    let lease = world.lease_of(&orders[0]);
    assert_eq!(world.state.lease(&lease).unwrap().slots_run, 0);
    let effects = world.until(36);
    assert_eq!(lease_ends(&effects), [(orders[0], LeaseEnd::Undelivered)]);
    // At 36 a round closes: the offer has left, and nothing is sold until it is set again.
    assert!(world.state.offer(&world.offer_of(1, 1)).is_none());
    world.until(48);
    let order = world.state.order(&orders[0]).unwrap();
    let standing = order.bid().unwrap();
    assert_eq!((standing.slots_used, order.lease), (0, None));
    // The escrow of one slot is all that the order holds.
    assert_eq!(world.account(2), START - 50);
    let again = world.offer(1, 1, 1, 10, None);
    world.all(vec![again]);
    world.until(56);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    let effects = world.until(64);
    assert_eq!(order_ends(&effects), [(orders[0], OrderEnd::Served)]);
    assert_eq!(
        (world.account(1), world.account(2)),
        (START + 10, START - 10)
    );
}

#[test]
fn the_order_goes_to_another_seller() {
    let mut world = gone(6);
    let dearer = world.offer(4, 1, 1, 20, None);
    world.all(vec![dearer]);
    world.until(13);
    let orders = world.bids(&[(2, bid(&world, &[(1, 50)], 1))]);
    world.until(20);
    let held = |world: &World| {
        let lease = world.state.lease(&world.lease_of(&orders[0])).unwrap();
        lease.shares[0].offer
    };
    assert_eq!(held(&world), world.offer_of(1, 1));
    // Sold for the rest of the slot at 20, overdue at 26; from 28 on member 4 has it.
    let effects = world.until(26);
    assert_eq!(lease_ends(&effects), [(orders[0], LeaseEnd::Undelivered)]);
    assert!(!world.state.offer(&world.offer_of(1, 1)).unwrap().active);
    world.until(28);
    assert_eq!(held(&world), world.offer_of(4, 1));
    let withdraw = world.by(1, EntryBody::WithdrawOffer { label: 1 });
    let gone = world.offer_of(1, 1);
    assert_eq!(world.refused(withdraw), Refusal::NoOffer(gone));
}

#[test]
fn an_offer_set_again_before_its_deadline_stays() {
    let mut world = gone(6);
    let orders = world.bids(&[(2, bid(&world, &[(1, 50)], 1))]);
    world.until(21);
    let again = world.offer(1, 1, 1, 12, None);
    world.all(vec![again]);
    // Overdue at 22, when floor(10 * 2 / 8) came back; the rest does at 24, and the change takes
    // effect.
    let effects = world.until(24);
    assert!(money(&effects).contains(&(Reason::Refund, 8)));
    assert!(world.state.offer(&world.offer_of(1, 1)).unwrap().active);
    world.until(28);
    assert!(world.state.order(&orders[0]).unwrap().lease.is_some());
}

#[test]
fn a_buy_that_was_never_delivered_is_not_served() {
    let mut world = gone(40);
    let buy = world.buy(2, 1, 1, 100);
    let id = order(&buy.id());
    world.all(vec![buy]);
    let effects = world.until(24);
    assert_eq!(lease_ends(&effects), [(id, LeaseEnd::Undelivered)]);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::NoUnits)]);
    assert_eq!((world.account(1), world.account(2)), (START, START));
}
