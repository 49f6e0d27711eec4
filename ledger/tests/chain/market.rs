//! Sealed bids from commitment to settled lease, with figures worked out by hand.
//!
//! Heights: rounds of 4, slots of 8; boundaries at 8, 16, 24, ... Balances start at 1,000,000.

use crate::trade::{
    START, bid, clearings, lease_ends, money, one_lease, order_ends, terms, two_units,
};
use crate::world::{World, credits};
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::record::ausubel::ClearingKind;
use gridbay_protocol::units::Credits;

#[test]
fn from_a_sealed_order_to_a_settled_lease() {
    let mut world = two_units();
    let two = bid(&world, &[(2, 50)], 1);
    let three = bid(&world, &[(1, 40), (1, 20)], 1);
    // Deposits: 2^4 units at 10. Opened at 13: 100 and 60 instead.
    let orders = world.bids(&[(2, two), (3, three)]);
    assert_eq!(world.state.height(), 13);
    assert_eq!(world.account(2), START - 100);
    assert_eq!(world.account(3), START - 60);
    // Boundary at 16: member 2 wins both units and pays what member 3 would have got, 40 + 20.
    let effects = world.until(16);
    let records: Vec<_> = clearings(&effects);
    assert_eq!(records.len(), 1);
    let record = &records[0];
    assert_eq!(
        (record.kind, record.slot, record.heights),
        (ClearingKind::Boundary, 2, 8)
    );
    assert_eq!(record.awards.len(), 1);
    assert_eq!(
        (record.awards[0].order, record.awards[0].units),
        (orders[0], 2)
    );
    assert_eq!(record.awards[0].pay, credits(60));
    assert_eq!(
        (record.sold[0].units, record.sold[0].earns),
        (2, credits(60))
    );
    assert_eq!(money(&effects), [(Reason::Charge, 60)]);
    sums_while_it_runs(&world);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    let again = world.by(1, EntryBody::Deliver { lease });
    assert!(matches!(
        world.refused(again),
        Refusal::NothingToDeliver { .. }
    ));
    // Boundary at 24: the seller earns 60; the order of one slot has ended and gets 40 back; member
    // 3 is alone and pays the reserves, 10 + 10.
    let effects = world.until(24);
    assert_eq!(
        money(&effects),
        [
            (Reason::Earning, 60),
            (Reason::Release, 40),
            (Reason::Charge, 20)
        ]
    );
    assert_eq!(lease_ends(&effects), [(orders[0], LeaseEnd::Expired)]);
    assert_eq!(order_ends(&effects), [(orders[0], OrderEnd::Served)]);
    assert_eq!(world.account(1), START + 60);
    assert_eq!(world.account(2), START - 60);
    let balance = world.state.balance(&world.member(3));
    assert_eq!((balance.escrow, balance.in_use), (credits(40), credits(20)));
    let lease = world.lease_of(&orders[1]);
    world.deliver(1, lease);
    world.until(32);
    assert_eq!(world.account(1), START + 80);
    assert_eq!(world.account(3), START - 20);
    assert!(!world.state.work_is_due());
}

/// Checks the reads of the state while member 2 runs on both units for 60 and member 3 waits with
/// 60 locked.
fn sums_while_it_runs(world: &World) {
    let totals = world.state.totals();
    assert_eq!(totals.minted, credits(4_000_000));
    assert_eq!(
        (totals.accounts, totals.orders, totals.leases, totals.offers),
        (4, 2, 1, 1)
    );
    let locked = credits(40 + 60);
    assert_eq!(
        (totals.escrow, totals.in_use, totals.bank),
        (locked, credits(60), Credits::ZERO)
    );
    let pots: Vec<_> = world.state.pots().collect();
    assert_eq!(pots.len(), 1);
    assert_eq!(pots[0].sold[0].earns, credits(60));
    let offer = *world.state.offers().next().unwrap().0;
    let taken = world.state.occupancy(&offer);
    assert_eq!((taken.supply, taken.preemptible, taken.firm), (2, 2, 0));
    let line = |n| world.state.balance(&world.member(n)).credit_line;
    assert_eq!((line(1), line(2)), (credits(500), Credits::ZERO));
}

#[test]
fn between_boundaries_free_units_are_sold_by_the_height() {
    let mut world = World::new();
    let offer = world.offer(1, 1, 2, 11, None);
    world.all(vec![offer]);
    world.until(4);
    let two = bid(&world, &[(1, 51)], 1);
    // Committed at 5, opened at 9, cleared at 12 with 4 of 8 heights left.
    let orders = world.bids(&[(2, two)]);
    let effects = world.until(12);
    let record = &clearings(&effects)[0];
    assert_eq!(
        (record.kind, record.slot, record.heights),
        (ClearingKind::Free, 1, 4)
    );
    // 51 / 2 is rounded down, 11 / 2 up.
    assert_eq!(record.bids[0].steps[0].price.0, 25);
    assert_eq!(record.offers[0].reserve.0, 6);
    assert_eq!(money(&effects), [(Reason::Charge, 6)]);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    // The rest of the slot does not count: the order still has its one slot, at the full reserve.
    let effects = world.until(16);
    assert_eq!(
        money(&effects),
        [
            (Reason::Earning, 6),
            (Reason::Lock, 6),
            (Reason::Charge, 11)
        ]
    );
    assert_eq!(world.lease_of(&orders[0]), lease, "the same lease goes on");
    let effects = world.until(24);
    assert_eq!(
        money(&effects),
        [(Reason::Earning, 11), (Reason::Release, 40)]
    );
    assert_eq!(world.account(2), START - 17);
}

#[test]
fn outbid_at_a_boundary_and_back_again() {
    let (mut world, first) = one_lease();
    world.until(20);
    let strong = bid(&world, &[(2, 90)], 1);
    // Committed at 21, opened at 25; the free clearing at 28 has no free unit.
    let second = world.bids(&[(3, strong)])[0];
    let effects = world.until(28);
    assert_eq!(clearings(&effects), []);
    // At 32 it takes both units and pays the 100 they were worth to member 2.
    let effects = world.until(32);
    assert_eq!(lease_ends(&effects), [(first, LeaseEnd::Outbid)]);
    assert_eq!(clearings(&effects)[0].awards[0].pay, credits(100));
    let lease = world.lease_of(&second);
    world.deliver(1, lease);
    let effects = world.until(40);
    assert_eq!(order_ends(&effects), [(second, OrderEnd::Served)]);
    assert!(world.state.order(&first).unwrap().lease.is_some());
}

#[test]
fn offers_change_after_the_clearing_and_with_notice() {
    let (mut world, order) = one_lease();
    let id = world.offer_of(1, 1);
    // A lower reserve counts from the next round, although units are held.
    let lower = world.offer(1, 1, 2, 8, Some(30));
    world.all(vec![lower]);
    assert_eq!(world.state.offer(&id).unwrap().terms.reserve.0, 10);
    world.until(20);
    assert_eq!(world.state.offer(&id).unwrap().terms.reserve.0, 8);
    // A higher one waits for the boundary's clearing: slot 3 is still sold at 8 each, slot 4 at 40.
    let higher = world.offer(1, 1, 2, 40, Some(50));
    world.all(vec![higher]);
    let effects = world.until(24);
    assert_eq!(clearings(&effects)[0].awards[0].pay, credits(16));
    assert_eq!(world.state.offer(&id).unwrap().terms.reserve.0, 40);
    let effects = world.until(32);
    assert_eq!(clearings(&effects)[0].awards[0].pay, credits(80));
    // Withdrawn at 33: the lease loses its units at the boundary after the notice, and the offer
    // leaves.
    let withdraw = world.by(1, EntryBody::WithdrawOffer { label: 1 });
    world.all(vec![withdraw.clone()]);
    world.until(39);
    assert!(world.state.offer(&id).unwrap().active);
    world.until(40);
    let offer = world.state.offer(&id).unwrap();
    assert!(!offer.active && offer.bound == 2, "bound for one more slot");
    let effects = world.until(48);
    assert_eq!(lease_ends(&effects), [(order, LeaseEnd::Outbid)]);
    assert!(world.state.offer(&id).is_none());
    let gone = world.sign_until(
        world.member(1),
        &crate::world::key(1),
        withdraw.entry().body.clone(),
        90,
    );
    assert_eq!(world.refused(gone), Refusal::NoOffer(id));
}

#[test]
fn quotas_and_limits() {
    let mut world = two_units();
    let mut huge = terms(&world, 2, 4_096, 1, None);
    for label in 2..=3 {
        huge.label = label;
        let offer = world.by(1, EntryBody::SetOffer(huge.clone()));
        world.all(vec![offer]);
    }
    huge.label = 4;
    huge.units = 1_023;
    let offer = world.by(1, EntryBody::SetOffer(huge.clone()));
    // With 1,024 that are kept for each of the other seven parties, see `attacks::fake_units`.
    assert!(matches!(
        world.refused(offer),
        Refusal::ClassUnits { units: 16_385, .. }
    ));
    huge.units = 1_022;
    let offer = world.by(1, EntryBody::SetOffer(huge));
    world.all(vec![offer]);
    let long = world.buy(2, 1, 101, 1);
    assert_eq!(
        world.refused(long),
        Refusal::FirmSlots {
            slots: 101,
            limit: 100
        }
    );
    let rich = world.buy(2, 1, 100, i64::MAX as u64);
    assert_eq!(world.refused(rich), Refusal::Overflow);
    // Bids that want the moon stand, up to the quota of 16.
    let mut standing = 0;
    while standing < 16 {
        let mut low = bid(&world, &[(1, 0)], 1);
        low.work.0[0] = standing as u8;
        let orders = world.bids(&[(3, low)]);
        assert!(world.state.order(&orders[0]).is_some());
        standing += 1;
    }
    let low = bid(&world, &[(1, 1)], 1);
    let commit = world.commit(3, &low, 0);
    assert!(matches!(world.refused(commit), Refusal::OrderQuota { .. }));
}
