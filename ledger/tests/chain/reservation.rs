//! Reservations from the order to the settled lease, worked out by hand. Slots have 8 heights: slot
//! 2 is heights 17 to 24. The posted price is 10 a node-slot.

use crate::reserving::{decisions, groups, wish};
use crate::trade::{START, bid, clearings, lease_ends, money, order_ends};
use crate::world::{World, credits, policy};
use gridbay_ledger::{Refusal, Unbookable};
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::lease::{LeaseEnd, Share};
use gridbay_protocol::order::Reservation;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Price;

/// Members 1 and 3 offer two units each under reservation, the second at a reserve of 4; the next
/// height is 10.
pub(crate) fn four_units() -> World {
    four_units_with(policy())
}

pub(crate) fn four_units_with(policy: Policy) -> World {
    let mut world = World::with(policy);
    let offers = vec![world.reservable(1, 1, 2, 10), world.reservable(3, 1, 2, 4)];
    world.all(offers);
    world.until(9);
    world
}

/// Member 2's reservation of three units, two of them member 1's, for slots 3 to 5 at 100; booked
/// at height 16.
pub(crate) fn booked() -> (World, OrderId) {
    let mut world = four_units();
    let first = world.offer_of(1, 1);
    let mut three = wish(&world, 3, 3, (3, 9), 100);
    three.groups = groups(&[(2, &[first]), (1, &[])]);
    let orders = world.bids(&[(2, three)]);
    assert_eq!(world.account(2), START - 100, "the whole value is locked");
    world.until(16);
    (world, orders[0])
}

/// The same when it runs: height 24.
pub(crate) fn running() -> (World, OrderId) {
    let (mut world, order) = booked();
    world.until(24);
    (world, order)
}

pub(crate) fn pays(world: &World, earned: &[(u8, i128)]) {
    for (member, earned) in earned {
        assert_eq!(world.account(*member) - START, *earned, "member {member}");
    }
}

#[test]
fn from_an_order_to_a_settled_lease() {
    let (mut world, order) = booked();
    let records = decisions(&world, &world.effects.clone());
    let [record] = &records[..] else {
        panic!("{records:?}");
    };
    assert_eq!((record.slot, record.posted), (2, Price(10)));
    assert_eq!(record.units.iter().map(|s| s.units).sum::<u32>(), 4);
    let booking = world.booking(&order).unwrap();
    assert_eq!((booking.start, booking.last, booking.units()), (3, 5, 3));
    assert_eq!(
        (booking.price.micros(), booking.first.micros()),
        (33, 1),
        "the first slot bears the remainder"
    );
    assert_eq!(world.state.order(&order).unwrap().lease, None);
    let (first, ahead) = world.state.free_ahead(&world.class);
    let free = |n: u8| {
        let offer = world.offer_of(n, 1);
        let of = ahead.iter().find(|one| one.offer == offer).unwrap();
        (of.units, of.free[..4].to_vec())
    };
    assert_eq!(first, 3);
    assert_eq!(free(1), (2, vec![0, 0, 0, 2]));
    assert_eq!(free(3), (2, vec![1, 1, 1, 2]));
    world.until(23);
    assert_eq!(world.state.leases().count(), 0);

    // The boundary before slot 3.
    let effects = world.until(24);
    assert_eq!(money(&effects), [(Reason::Charge, 34)]);
    let lease = world.lease_of(&order);
    let terms = world.state.lease(&lease).unwrap();
    assert_eq!((terms.slot, terms.firm_through), (3, Some(5)));
    let share = |n, units| Share {
        offer: world.offer_of(n, 1),
        units,
    };
    let mut shares = [share(1, 2), share(3, 1)];
    shares.sort_unstable();
    assert_eq!(terms.shares, shares);
    assert_eq!(decisions(&world, &effects), [], "nothing stands any more");
    world.deliver(1, lease);
    world.deliver(3, lease);
    world.until(48);
    // 33 of each slot are level; the odd micro-credit of the first goes by offer.
    pays(&world, &[(2, -100), (1, 66), (3, 34)]);
    assert_eq!(order_ends(&world.effects), [(order, OrderEnd::Served)]);
    assert_eq!(lease_ends(&world.effects), [(order, LeaseEnd::Expired)]);
    assert_eq!(world.balance(Purse::Escrow(order)), 0);
}

#[test]
fn what_cannot_be_reserved_is_refused() {
    let mut world = four_units();
    let auctioned = world.offer(4, 1, 2, 3, None);
    world.all(vec![auctioned]);
    world.until(12);
    let last = wish(&world, 1, 1, (2, 73), 10);
    let auctioned = world.offer_of(4, 1);
    let stranger = world.offer_of(4, 9);
    let naming = |offer| {
        let named = groups(&[(1, &[offer])]);
        Reservation {
            groups: named,
            ..last.clone()
        }
    };
    // The next slot is 2; starts are sold up to slot 73, slots up to 105.
    assert_eq!(world.state.bookable(&last, 13), Ok(()));
    let long = wish(&world, 4, 104, (2, 73), 4 * 104 * 10);
    assert_eq!(world.state.bookable(&long, 13), Ok(()));
    let cases = [
        (
            wish(&world, 1, 1, (0, 1), 10),
            Unbookable::Past { latest: 1, next: 2 },
        ),
        (
            wish(&world, 1, 1, (2, 74), 10),
            Unbookable::Beyond {
                latest: 74,
                limit: 73,
            },
        ),
        (
            wish(&world, 1, 1, (u64::MAX, u64::MAX), 10),
            Unbookable::Beyond {
                latest: u64::MAX,
                limit: 73,
            },
        ),
        (
            wish(&world, 1, 105, (2, 3), 2_000),
            Unbookable::TooLong {
                slots: 105,
                limit: 104,
            },
        ),
        (
            wish(&world, 3, 2, (2, 3), 59),
            Unbookable::BelowPosted {
                value: credits(59),
                least: credits(60),
            },
        ),
        (naming(stranger), Unbookable::UnknownOffer(stranger)),
        (naming(auctioned), Unbookable::OtherMechanism(auctioned)),
    ];
    for (bad, why) in cases {
        // A world of its own: an account may seal one wish of a class and round.
        let mut world = four_units();
        let offer = world.offer(4, 1, 2, 3, None);
        world.all(vec![offer]);
        let commit = world.commit(2, &bad, 4);
        world.all(vec![commit.clone()]);
        world.until(12);
        assert_eq!(world.state.bookable(&bad, 13), Err(why.clone()), "wallet");
        let open = world.open(2, &commit, &bad);
        assert_eq!(world.refused(open), Refusal::Reservation(why));
    }
}

#[test]
fn what_cannot_be_paid_is_not_reserved() {
    let mut world = four_units();
    world.until(12);
    let unfunded = wish(&world, 1, 1, (2, 9), START as u64 + 1);
    let commit = world.commit(2, &unfunded, 1);
    world.all(vec![commit.clone()]);
    world.until(16);
    let open = world.open(2, &commit, &unfunded);
    assert!(matches!(world.refused(open), Refusal::Funds { .. }));
}

#[test]
fn what_cannot_be_sold_ahead_is_refused() {
    let mut world = four_units();
    let dear = world.reservable(4, 2, 1, 11);
    let why = Unbookable::ReserveAbovePosted {
        reserve: 11,
        posted: 10,
    };
    assert_eq!(world.refused(dear), Refusal::Reservation(why));
    // 16 are kept for each of the other seven parties, see `attacks::fake_units`.
    let many = world.reservable(4, 2, 145, 10);
    assert!(matches!(
        world.refused(many),
        Refusal::ClassUnits {
            units: 257,
            limit: 256,
            ..
        }
    ));
}

#[test]
fn idle_slots_are_auctioned_and_booked_ones_are_not() {
    let mut world = four_units();
    let all = wish(&world, 4, 2, (3, 3), 400);
    let two = bid(&world, &[(4, 50)], 3);
    let wishes = [
        (2, all.into()),
        (4, gridbay_protocol::order::Wish::from(two)),
    ];
    let orders = world.bids(&wishes);
    // Slot 2 is idle: the bid has all four units, at their reserves of 10 and 4.
    let effects = world.until(16);
    let records = clearings(&effects);
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].awards[0].units, 4);
    let lease = world.lease_of(&orders[1]);
    world.deliver(1, lease);
    world.deliver(3, lease);
    // Slots 3 and 4 are booked: the bid loses all units and stands.
    let effects = world.until(24);
    assert_eq!(lease_ends(&effects), [(orders[1], LeaseEnd::Outbid)]);
    assert!(clearings(&effects).is_empty(), "there is nothing to sell");
    assert!(world.state.order(&orders[1]).unwrap().lease.is_none());
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    world.deliver(3, lease);
    world.until(32);
    // And it runs again in slot 5.
    let effects = world.until(40);
    assert_eq!(clearings(&effects)[0].awards[0].units, 4);
}

#[test]
fn a_seller_who_does_not_deliver_loses_its_units_only() {
    let (mut world, order) = running();
    let lease = world.lease_of(&order);
    world.deliver(1, lease);
    // Member 3 is overdue at height 30, 6 of the 8 heights of slot 3 are over: its unit cost 11 of
    // 34, 2 heights of it are unused. The other slots cost a third less: 11 of 33, two times.
    let effects = world.until(30);
    assert_eq!(
        money(&effects),
        [(Reason::Refund, 2), (Reason::Release, 22)]
    );
    let booking = world.booking(&order).unwrap();
    assert_eq!((booking.units(), booking.price.micros()), (2, 22));
    assert!(!world.state.offer(&world.offer_of(3, 1)).unwrap().active);
    let terms = world.state.lease(&lease).unwrap();
    assert_eq!((terms.units(), terms.firm_through), (2, Some(5)));
    // At the boundary the used part of what it cost goes back too: all 11 in the end.
    world.until(48);
    pays(&world, &[(2, -67), (1, 67), (3, 0)]);
    assert_eq!(order_ends(&world.effects), [(order, OrderEnd::Served)]);
}

#[test]
fn a_seller_who_gives_up_in_the_last_slot() {
    let (mut world, order) = running();
    let lease = world.lease_of(&order);
    world.deliver(1, lease);
    world.deliver(3, lease);
    world.until(43);
    let fail = world.by(1, EntryBody::Fail { lease });
    // Two of three units cost 22 of 33, and 4 of 8 heights are left of slot 5; no slots are to
    // come.
    let effects = world.all(vec![fail]);
    assert_eq!(money(&effects), [(Reason::Refund, 11)]);
    let fail = world.by(3, EntryBody::Fail { lease });
    let effects = world.all(vec![fail]);
    assert_eq!(lease_ends(&effects), [(order, LeaseEnd::Undelivered)]);
    assert_eq!(order_ends(&effects), [(order, OrderEnd::Served)]);
    world.until(48);
    // Slots 3 and 4 were paid, slot 5 came back.
    pays(&world, &[(2, -67), (1, 44), (3, 23)]);
}

#[test]
fn what_stands_is_cancelled_for_nothing() {
    let mut world = four_units();
    let late = wish(&world, 4, 1, (20, 30), 1_000);
    let other = wish(&world, 4, 1, (20, 20), 2_000);
    let full = wish(&world, 1, 1, (20, 20), 10);
    let orders = world.bids(&[(2, late), (4, other), (3, full)]);
    world.until(17);
    assert!(world.booking(&orders[0]).is_some());
    assert!(world.booking(&orders[1]).is_some());
    assert!(world.booking(&orders[2]).is_none(), "slot 20 is full");
    let order = orders[2];
    let cancel = world.by(3, EntryBody::Cancel { order });
    let effects = world.all(vec![cancel]);
    assert_eq!(money(&effects), [(Reason::Release, 10)]);
    assert_eq!(order_ends(&effects), [(order, OrderEnd::Cancelled)]);
    assert_eq!(world.account(3), START);
}

#[test]
fn what_is_booked_is_cancelled_for_its_first_slot() {
    let (mut world, order) = booked();
    let cancel = world.by(2, EntryBody::Cancel { order });
    let effects = world.all(vec![cancel]);
    // The first slot costs 34, level: 22 for member 1's two units, 12 for member 3's one.
    let mut paid = money(&effects);
    paid.sort_unstable();
    assert_eq!(
        paid,
        [
            (Reason::Release, 66),
            (Reason::Cancellation, 12),
            (Reason::Cancellation, 22)
        ]
    );
    assert_eq!(order_ends(&effects), [(order, OrderEnd::Cancelled)]);
    pays(&world, &[(2, -34), (1, 22), (3, 12)]);
    // The slots are for sale again.
    let all = wish(&world, 4, 3, (4, 4), 120);
    let again = world.bids(&[(4, all)]);
    world.until(24);
    assert_eq!(world.booking(&again[0]).unwrap().start, 4);
}

#[test]
fn what_runs_is_cancelled_for_the_running_slot() {
    let (mut world, order) = running();
    let lease = world.lease_of(&order);
    world.deliver(1, lease);
    world.deliver(3, lease);
    let cancel = world.by(2, EntryBody::Cancel { order });
    world.all(vec![cancel]);
    let effects = world.until(32);
    assert_eq!(lease_ends(&effects), [(order, LeaseEnd::Exit)]);
    assert_eq!(order_ends(&effects), [(order, OrderEnd::Cancelled)]);
    pays(&world, &[(2, -34), (1, 22), (3, 12)]);
}

#[test]
fn what_never_fits_ends_when_its_last_start_has_passed() {
    let mut world = four_units();
    let five = wish(&world, 5, 1, (2, 3), 50);
    let order = world.bids(&[(2, five)])[0];
    world.until(24);
    assert_eq!(decisions(&world, &world.effects.clone()).len(), 2);
    assert!(world.state.order(&order).is_some());
    let effects = world.until(28);
    assert_eq!(order_ends(&effects), [(order, OrderEnd::TimedOut)]);
    assert_eq!(money(&effects), [(Reason::Release, 50)]);
}
