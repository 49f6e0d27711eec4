//! Reservations: channels, sellers that are bound by bookings, snapshots, and the edge of the
//! window.

use crate::reservation::{booked, four_units, four_units_with, pays};
use crate::reserving::{decisions, on_channel, wish};
use crate::trade::{order, order_ends};
use crate::world::{World, policy};
use gridbay_ledger::State;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;

#[test]
fn a_channel_is_nobody_elses_meanwhile() {
    let mut world = four_units();
    let mine = on_channel(wish(&world, 1, 4, (3, 3), 400), 5, 5);
    let mine = world.bids(&[(2, mine)])[0];
    world.until(16);
    let same = on_channel(wish(&world, 1, 2, (3, 9), 300), 5, 5);
    let next = on_channel(wish(&world, 1, 2, (3, 9), 300), 5, 6);
    let orders = world.bids(&[(3, same), (4, next)]);
    world.until(24);
    assert_eq!(world.booking(&mine).unwrap().channel, Some(5));
    let [same, next] = [&orders[0], &orders[1]].map(|o| world.booking(o).unwrap());
    // Slots 3 to 6 are taken; at height 24 the next one is 3.
    assert_eq!((same.start, same.channel), (7, Some(5)));
    assert_eq!((next.start, next.channel), (3, Some(6)));
}

#[test]
fn a_seller_stays_bound_by_what_was_booked() {
    let (mut world, order) = booked();
    // One unit fewer, and another mechanism: the booking of both units stays.
    let fewer = world.reservable(1, 1, 1, 10);
    world.all(vec![fewer]);
    world.until(20);
    let offer = world.offer_of(1, 1);
    let bound = |world: &World| world.state.offer(&offer).unwrap().bound;
    assert_eq!(world.state.offer(&offer).unwrap().terms.units, 1);
    assert_eq!(bound(&world), 2);
    let auctioned = world.offer(1, 1, 1, 5, Some(5));
    world.all(vec![auctioned]);
    world.until(23);
    let pending = |world: &World| world.state.offer(&offer).unwrap().pending.is_some();
    assert!(pending(&world), "bookings come first");
    // Units whose mechanism will change are not booked any more, nor are those taken.
    let one = wish(&world, 2, 1, (3, 9), 200);
    let one = world.bids(&[(4, one)])[0];
    let lease = world.lease_of(&order);
    world.deliver(1, lease);
    world.deliver(3, lease);
    world.until(32);
    assert!(!pending(&world), "the booking has begun");
    assert_eq!(world.booking(&one).unwrap().taken.len(), 1, "member 3's");
    assert_eq!(world.booking(&one).unwrap().start, 6);
    assert_eq!(world.state.lease(&lease).unwrap().units(), 3);
    // A buy finds none of the units that the reservation holds.
    let buy = world.buy(4, 1, 1, 100);
    let id = gridbay_protocol::order::order_of(&buy.id());
    let effects = world.all(vec![buy]);
    assert!(order_ends(&effects).contains(&(id, OrderEnd::NoUnits)));
}

#[test]
fn withdrawn_units_serve_their_bookings_still() {
    let (mut world, order) = booked();
    let withdraw = world.by(1, EntryBody::WithdrawOffer { label: 1 });
    world.all(vec![withdraw]);
    world.until(24);
    let lease = world.lease_of(&order);
    world.deliver(1, lease);
    world.deliver(3, lease);
    let more = wish(&world, 2, 1, (4, 9), 100);
    let more = world.bids(&[(4, more)])[0];
    world.until(48);
    pays(&world, &[(1, 66)]);
    assert!(world.state.offer(&world.offer_of(1, 1)).is_none());
    // Only member 3's two units were for sale, and one of them was taken until slot 5.
    let served = world.effects.iter().filter_map(|e| match e {
        gridbay_protocol::effect::Effect::Lease(gridbay_protocol::lease::LeaseEvent::Started(
            terms,
        )) if terms.order == more => Some(terms.slot),
        _ => None,
    });
    assert_eq!(served.collect::<Vec<_>>(), [6]);
}

#[test]
fn a_snapshot_keeps_what_is_booked() {
    let (mut world, order) = booked();
    let bytes = world.state.snapshot();
    let genesis = crate::world::genesis(policy());
    let restored = State::restore(&genesis, &bytes, bytes.len()).unwrap();
    assert_eq!(restored.root(), world.state.root());
    world.state = restored;
    world.until(24);
    assert!(world.state.order(&order).unwrap().lease.is_some());
}

#[test]
fn an_unopened_reservation_loses_its_deposit() {
    let mut world = four_units();
    let sealed = wish(&world, 3, 3, (3, 9), 100);
    let commit = world.commit(2, &sealed, 2);
    let id = order(&commit.id());
    world.all(vec![commit]);
    world.until(22);
    assert!(order_ends(&world.effects).contains(&(id, OrderEnd::NotOpened)));
    pays(&world, &[(2, -40)]);
}

/// If every slot for sale may be a start, slots that become free at the edge of a full window
/// always go to bidders that need little. With T - S at least its length, the long wish competes
/// for the same beginnings.
#[test]
fn a_long_reservation_is_not_starved_at_the_edge_of_the_window() {
    let starved = |slots: u32| {
        let reservation = WindowPolicy {
            slots,
            starts: 12,
            ..WindowPolicy::MIRAGE
        };
        let mut world = four_units_with(Policy {
            reservation,
            delivery_heights: 1_000,
            ..policy()
        });
        let full = wish(&world, 4, 12, (2, 2), 4_800);
        world.bids(&[(2, full)]);
        world.until(16);
        let long = wish(&world, 4, 4, (3, 14), 4 * 4 * 50);
        let short = wish(&world, 4, 1, (3, 14), 400);
        let long = world.bids(&[(4, long), (2, short)])[0];
        for next in 4..9 {
            world.until(8 * (next - 1));
            let short = wish(&world, 4, 1, (next, next + 11), 400);
            world.bids(&[(2, short)]);
        }
        world.booking(&long).is_none()
    };
    assert!(starved(12));
    assert!(!starved(16));
}

/// Table 3.1 of AuYoung: a small dense reservation that fits nowhere beside the big one, and cheap
/// ones that fill the rest, would displace it. The best of several attempts keeps it.
#[test]
fn a_sandwich_does_not_displace_the_big_reservation() {
    let mut world = four_units();
    let big = wish(&world, 4, 8, (4, 4), 1_600);
    let slice = wish(&world, 1, 1, (7, 7), 60);
    let filler = wish(&world, 3, 8, (4, 4), 300);
    let orders = world.bids(&[(2, big), (3, slice), (4, filler)]);
    world.until(16);
    let records = decisions(&world, &world.effects.clone());
    let won: Vec<OrderId> = records[0].booked.iter().map(|b| b.order).collect();
    assert_eq!(won, [orders[0]]);
    // With one attempt, by density alone, it works.
    let mut alone = world.state.policy().reservation;
    alone.fronts = 1;
    let outcome =
        gridbay_protocol::mechanism::reservation::clear(&records[0].input(&alone)).unwrap();
    let won = records[0].winners(&outcome);
    assert_eq!(won.iter().map(|b| b.pay.micros()).sum::<u64>(), 360);
}
