//! Sellers that deliver late, not at all, or give up. Heights and balances as in `market`.

use crate::trade::{START, bid, disputable_lease, lease_ends, money, moved, one_lease, two_units};
use crate::world::{World, genesis, policy};
use gridbay_ledger::{Refusal, State};
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::payment::Reason;

#[test]
fn an_undelivered_lease_is_refunded_and_stands_again() {
    let mut world = two_units();
    let two = bid(&world, &[(2, 50)], 5);
    let orders = world.bids(&[(2, two)]);
    world.until(21);
    // Started at 16, due at 22, with 2 of 8 heights left: floor(20 * 2 / 8).
    let effects = world.until(22);
    assert_eq!(money(&effects), [(Reason::Refund, 5)]);
    assert_eq!(lease_ends(&effects), [(orders[0], LeaseEnd::Undelivered)]);
    assert!(world.state.order(&orders[0]).is_some());
    // At 24 the used part goes back as well, and the order, filled up to 100 again, finds nothing
    // for sale.
    let effects = world.until(24);
    assert_eq!(money(&effects), [(Reason::Refund, 15), (Reason::Lock, 20)]);
    assert_eq!(world.account(1), START);
    assert_eq!(world.account(2), START - 100);
}

#[test]
fn a_seller_that_fails_earns_nothing() {
    let (mut world, order) = one_lease();
    let lease = world.lease_of(&order);
    world.until(18);
    // Height 19, 5 of 8 heights left: floor(20 * 5 / 8).
    let fail = world.by(1, EntryBody::Fail { lease });
    let stranger = world.by(4, EntryBody::Fail { lease });
    assert!(matches!(
        world.state.admit(&stranger),
        Err(Refusal::NothingToDeliver { .. })
    ));
    let effects = world.all(vec![fail]);
    assert_eq!(money(&effects), [(Reason::Refund, 12)]);
    let effects = world.until(20);
    // At 20 the order stands again and wins the rest of the slot: 4 of 8 heights at ceil(10 / 2)
    // each.
    assert_eq!(money(&effects), [(Reason::Lock, 20), (Reason::Charge, 10)]);
    let lease = world.lease_of(&order);
    world.deliver(1, lease);
    let effects = world.until(24);
    let earned: Vec<_> = money(&effects);
    assert!(earned.contains(&(Reason::Refund, 8)) && earned.contains(&(Reason::Earning, 10)));
    assert_eq!(world.account(1), START + 10);
}

#[test]
fn unacknowledged_units_are_refunded_at_the_slots_end() {
    let mut late = crate::world::policy();
    late.delivery_heights = 100;
    let mut world = World::with(late);
    let offers = vec![
        world.offer(1, 1, 1, 10, None),
        world.offer(4, 1, 1, 20, None),
    ];
    world.all(offers);
    world.until(9);
    let two = bid(&world, &[(2, 50)], 1);
    let orders = world.bids(&[(2, two)]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    // Alone, the bid pays the phantoms' 10 + 20; earnings are 10 and 20; member 4 never
    // acknowledged. So the slot does not count, and the bid goes on.
    let effects = world.until(24);
    let mut moved = money(&effects);
    moved.sort();
    assert_eq!(
        moved,
        [
            (Reason::Lock, 30),
            (Reason::Charge, 30),
            (Reason::Earning, 10),
            (Reason::Refund, 20)
        ]
    );
    assert_eq!((world.account(1), world.account(4)), (START + 10, START));
    assert_eq!(world.account(2), START - 10 - 100);
}

#[test]
fn a_slot_without_a_sign_of_life_is_not_paid_and_costs_no_other() {
    let (mut world, order, lease) = disputable_lease(5);
    // The acknowledgement at 17 is the sign of life of slot 2; its earnings are held.
    let effects = world.until(24);
    assert_eq!(moved(&effects, Reason::Retained), [20]);
    assert_eq!(world.account(1), START);
    // Nothing in slot 3: at 32 the slot goes back, and what slot 2 earned is paid.
    let effects = world.until(32);
    assert_eq!(moved(&effects, Reason::Refund), [20]);
    assert_eq!(moved(&effects, Reason::Earning), [20]);
    assert_eq!(moved(&effects, Reason::Retained), [0; 0]);
    // Back in time: from then on a sign of life a slot is enough.
    world.deliver(1, lease);
    let effects = world.until(40);
    assert_eq!(moved(&effects, Reason::Retained), [20]);
    world.beat(1);
    let twice = world.by(1, EntryBody::Heartbeat { label: 1 });
    let none = world.by(1, EntryBody::Heartbeat { label: 9 });
    assert!(matches!(
        world.refused(twice),
        Refusal::HeartbeatTwice { slot: 5, .. }
    ));
    assert!(matches!(world.refused(none), Refusal::NoOffer(_)));
    world.until(48);
    assert_eq!(world.account(1), START + 40);
    assert_eq!(world.lease_of(&order), lease, "it runs on");
}

#[test]
fn who_gives_no_sign_of_life_and_does_not_come_back_fails_the_lease() {
    let (mut world, order, _) = disputable_lease(5);
    world.until(32);
    // Six heights after the boundary that missed it.
    assert!(lease_ends(&world.until(37)).is_empty());
    let effects = world.until(38);
    assert_eq!(lease_ends(&effects), [(order, LeaseEnd::Undelivered)]);
    let offer = world.offer_of(1, 1);
    assert!(!world.state.offer(&offer).is_some_and(|o| o.active));
    world.until(48);
    assert_eq!(world.account(1), START + 20, "slot 2 alone");
}

#[test]
fn who_serves_nobody_gives_no_sign_of_life() {
    let (mut world, _, lease) = disputable_lease(5);
    let another = world.offer(1, 2, 1, 60, None);
    world.all(vec![another]);
    world.until(24);
    // Signs of life are taken beyond the budget, so an offer gives one only while it serves.
    let offer = world.offer_of(1, 2);
    let idle = world.by(1, EntryBody::Heartbeat { label: 2 });
    let refusal = world.refused(idle);
    assert_eq!(refusal, Refusal::Idle(offer));
    assert!(refusal.may_pass_later());
    world.beat(1);
    // Not acknowledged any more after a slot without one.
    world.until(40);
    let silent = world.by(1, EntryBody::Heartbeat { label: 1 });
    assert!(matches!(world.refused(silent), Refusal::Idle(_)));
    world.deliver(1, lease);
}

#[test]
fn slots_leave_time_for_a_sign_of_life() {
    let founded = |round_heights, slot_rounds, dispute_slots| {
        let calendar = Calendar {
            round_heights,
            slot_rounds,
        };
        State::genesis(&genesis(Policy {
            calendar,
            dispute_slots,
            ..policy()
        }))
    };
    // A validator owes a place to what it knew at tip t from the block of t + 3 on.
    assert!(founded(2, 1, 1).is_err() && founded(2, 2, 8).is_err());
    assert!(founded(5, 1, 1).is_ok() && founded(2, 3, 1).is_ok());
    assert!(founded(2, 1, 0).is_ok(), "none is asked for");
}
