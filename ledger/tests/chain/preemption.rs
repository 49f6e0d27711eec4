//! The debts of a buy that preempts, and of a seller that takes units back, to those that held
//! them.

use crate::trade::{bid, lease_ends, money, order, order_ends};
use crate::world::{World, all_roles, credits, key};
use gridbay_protocol::account::opened_by;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::payment::Reason;

/// Member 2 runs both units of member 1 at 20 a slot; at height 25 its lease has run one full slot.
fn one_slot_run() -> (World, OrderId) {
    let mut world = World::new();
    let offer = world.offer(1, 1, 2, 10, Some(30));
    world.all(vec![offer]);
    world.until(9);
    let orders = world.bids(&[(2, bid(&world, &[(2, 50)], 5))]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    world.until(25);
    (world, orders[0])
}

#[test]
fn no_compensation_within_one_sponsor() {
    let (mut world, _) = one_slot_run();
    // A guest of member 2 buys a unit of member 2's lease.
    let open = world.by(
        2,
        EntryBody::OpenAccount {
            grant: None,
            keys: all_roles(&key(30)),
            endowment: credits(5_000),
        },
    );
    world.all(vec![open.clone()]);
    let buy = EntryBody::Buy(world.one(1, 1_000));
    let buy = world.sign(opened_by(&open.id()), &key(30), buy);
    // Height 27, 5 of 8 heights left: floor(10 * 5 / 8) back, ceil(50 * 5 / 8) for the rest of the
    // slot, no more.
    let effects = world.all(vec![buy]);
    assert_eq!(
        money(&effects),
        [
            (Reason::Lock, 2_000),
            (Reason::Refund, 6),
            (Reason::Charge, 32)
        ]
    );
}

#[test]
fn no_compensation_before_a_full_slot() {
    let mut world = World::new();
    let offer = world.offer(1, 1, 2, 10, Some(30));
    world.all(vec![offer]);
    world.until(9);
    let orders = world.bids(&[(2, bid(&world, &[(2, 50)], 5))]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    let buy = world.buy(3, 2, 1, 1_000);
    let effects = world.all(vec![buy]);
    assert_eq!(lease_ends(&effects), [(orders[0], LeaseEnd::Preempted)]);
    let paid = money(&effects);
    assert!(paid.iter().all(|(why, _)| *why != Reason::Compensation));
}

#[test]
fn compensations_can_make_a_buy_too_dear() {
    let mut world = World::new();
    let offer = world.offer(1, 1, 2, 10, Some(12));
    world.all(vec![offer]);
    world.until(9);
    // A pair for 80 stands against 100 + 12, so member 2 pays 80 for both units: 40 for one that is
    // worth 12.
    let mut pair = bid(&world, &[(2, 40)], 5);
    pair.min = 2;
    let orders = world.bids(&[(2, bid(&world, &[(1, 100), (1, 12)], 5)), (4, pair)]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    world.until(25);
    // Heights 26 and 27. For the rest of the slot the price of 12 comes to 9 or 8; what 40 for the
    // unit lost leaves to compensate is 10 or 15. So the limits that suffice are 19 and 23.
    let dear = world.buy(3, 1, 1, 18);
    let id = order(&dear.id());
    let effects = world.all(vec![dear]);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::TooDear)]);
    assert_eq!(world.state.lease(&lease).unwrap().units(), 2);
    let fair = world.buy(3, 1, 1, 23);
    let effects = world.all(vec![fair]);
    assert_eq!(
        money(&effects),
        [
            (Reason::Lock, 46),
            (Reason::Refund, 25),
            (Reason::Compensation, 15),
            (Reason::Charge, 8)
        ]
    );
}

#[test]
fn fewer_units_come_with_a_notice() {
    let (mut world, sealed) = one_slot_run();
    let id = world.offer_of(1, 1);
    let fewer = world.offer(1, 1, 1, 10, Some(30));
    world.all(vec![fewer]);
    // Slot 4 is still sold with two units, and the second stays bound while it is held.
    world.until(31);
    assert_eq!(world.state.offer(&id).unwrap().terms.units, 2);
    world.until(32);
    let offer = world.state.offer(&id).unwrap();
    assert_eq!((offer.terms.units, offer.bound), (1, 2));
    let units = |world: &World| world.state.lease(&world.lease_of(&sealed)).unwrap().units();
    assert_eq!(units(&world), 2);
    world.until(39);
    assert_eq!(units(&world), 2);
    world.until(40);
    assert_eq!(units(&world), 1);
    assert_eq!(world.state.offer(&id).unwrap().bound, 1);
}
