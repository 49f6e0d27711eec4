//! Sealed bids from commitment to settled lease, with figures worked out by hand.
//!
//! Heights: rounds of 4, slots of 8; boundaries at 8, 16, 24, ... Balances start at 1,000,000.

use crate::trade::{bid, lease_ends, money, order, order_ends, terms};
use crate::world::{World, credits};
use gridbay_ledger::Refusal;
use gridbay_protocol::clearing::ClearingKind;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::payment::{Purse, Reason};

const START: i128 = 1_000_000;

/// Member 1 offers two units at a reserve of 10 and a buy price of 30; the next height is 10.
fn two_units() -> World {
    let mut world = World::new();
    let offer = world.offer(1, 1, 2, 10, Some(30));
    world.all(vec![offer]);
    world.until(9);
    world
}

/// Member 2 runs two units from height 17 on, alone, at 20 a slot, acknowledged at 17.
fn one_lease() -> (World, gridbay_protocol::ids::OrderId) {
    let mut world = two_units();
    let two = bid(&world, &[(2, 50)], 5);
    let orders = world.bids(&[(2, two)]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    (world, orders[0])
}

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
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    let again = world.by(1, EntryBody::Deliver { lease });
    assert!(matches!(
        world.refused(again),
        Refusal::NothingToDeliver { .. }
    ));
    // Boundary at 24: the seller earns 60; the order of one slot has ended and gets 40 back; member 3 is alone
    // and pays the reserves, 10 + 10.
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

fn clearings(effects: &[Effect]) -> Vec<gridbay_protocol::clearing::ClearingRecord> {
    let record = |effect: &Effect| match effect {
        Effect::Clearing(record) => Some(record.clone()),
        _ => None,
    };
    effects.iter().filter_map(record).collect()
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
fn a_preempting_buy() {
    let (mut world, sealed) = one_lease();
    // At 24 member 2 pays 20 again; its lease has run one full slot.
    world.until(25);
    let buy = world.buy(3, 1, 1, 1_000);
    let id = order(&buy.id());
    // Height 26, 6 of 8 heights left. Of two units at 50 one is displaced, so the price is 50 and the rest of the slot
    // costs 37.5, rounded up. The unit lost cost 10; 6/8 of it, 7, come back, and 3 are compensated.
    let effects = world.all(vec![buy]);
    assert_eq!(
        money(&effects),
        [
            (Reason::Lock, 2_000),
            (Reason::Refund, 7),
            (Reason::Compensation, 3),
            (Reason::Charge, 38)
        ]
    );
    let lease = world.lease_of(&id);
    assert_eq!(
        world.state.lease(&world.lease_of(&sealed)).unwrap().units(),
        1
    );
    assert_eq!(world.state.lease(&lease).unwrap().firm_through, Some(4));
    world.deliver(1, lease);
    // Boundary at 32: 13 are left of the 20, all for the seller, and the buy's 38. The buy pays 50 for its full slot.
    // Member 2's escrow, 80 after the charge at 24, is filled up to 100; it competes for the other unit and pays the
    // reserve.
    let effects = world.until(32);
    let earned: u64 = money(&effects)
        .iter()
        .filter(|m| m.0 == Reason::Earning)
        .map(|m| m.1)
        .sum();
    assert_eq!(earned, 13 + 38);
    let rest: Vec<_> = money(&effects)
        .into_iter()
        .filter(|m| m.0 != Reason::Earning)
        .collect();
    assert_eq!(
        rest,
        [
            (Reason::Charge, 50),
            (Reason::Lock, 20),
            (Reason::Charge, 10)
        ]
    );
    // At 40 the firm lease ends: 2,000 - 38 - 3 - 50 come back.
    let effects = world.until(40);
    assert!(money(&effects).contains(&(Reason::Release, 1_909)));
    assert!(lease_ends(&effects).contains(&(id, LeaseEnd::Expired)));
    assert_eq!(world.account(3), START - 91);
    // 20 (slot 2) + 51 (slot 3) + 60 (slot 4).
    assert_eq!(world.account(1), START + 131);
}

#[test]
fn a_buy_of_free_units_pays_their_buy_prices() {
    let mut world = World::new();
    let offers = vec![
        world.offer(1, 1, 2, 10, Some(30)),
        world.offer(4, 1, 2, 5, Some(20)),
    ];
    world.all(offers);
    world.until(4);
    // Three units: two at 20, one at 30. Height 5, 3 of 8 heights left: ceil(70 * 3 / 8).
    let buy = world.buy(2, 3, 2, 70);
    let id = order(&buy.id());
    let effects = world.all(vec![buy]);
    assert_eq!(money(&effects), [(Reason::Lock, 210), (Reason::Charge, 27)]);
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    world.deliver(4, lease);
    // Floors 7 each (20 * 3 / 8) and 11; 2 more than their sum of 25 lift the lower ones: level 8.
    let effects = world.until(8);
    let mut earned: Vec<_> = money(&effects)
        .into_iter()
        .filter(|m| m.0 == Reason::Earning)
        .collect();
    earned.sort();
    assert_eq!(earned, [(Reason::Earning, 11), (Reason::Earning, 16)]);
    world.until(24);
    assert_eq!(world.account(2), START - 27 - 140);
    assert!(world.state.order(&id).is_none());
    // Too dear by one, and more than there are.
    for (units, limit, end) in [(3, 69, OrderEnd::TooDear), (5, 1_000, OrderEnd::NoUnits)] {
        let buy = world.buy(3, units, 1, limit);
        let id = order(&buy.id());
        let effects = world.all(vec![buy]);
        assert_eq!(order_ends(&effects), [(id, end)]);
    }
    assert_eq!(world.account(3), START);
}

#[test]
fn a_buy_waits_while_bids_are_open() {
    let mut world = two_units();
    let two = bid(&world, &[(2, 50)], 5);
    let orders = world.bids(&[(2, two)]);
    // Height 14: the opened bid must not be outrun. At 16 it wins both units and then loses one, unused.
    let buy = world.buy(3, 1, 1, 100);
    let id = order(&buy.id());
    let effects = world.all(vec![buy]);
    assert_eq!(money(&effects), [(Reason::Lock, 200)]);
    let effects = world.until(16);
    assert_eq!(
        money(&effects),
        [
            (Reason::Charge, 20),
            (Reason::Refund, 10),
            (Reason::Charge, 50)
        ]
    );
    // At the boundary the whole next slot is the one that was asked for.
    assert_eq!(
        world
            .state
            .lease(&world.lease_of(&id))
            .unwrap()
            .firm_through,
        Some(2)
    );
    assert_eq!(
        world
            .state
            .lease(&world.lease_of(&orders[0]))
            .unwrap()
            .units(),
        1
    );
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    // One slot was bought and one is over. The lease of member 2 was never acknowledged.
    let effects = world.until(24);
    assert_eq!(lease_ends(&effects), [(id, LeaseEnd::Expired)]);
    assert!(money(&effects).contains(&(Reason::Earning, 50)));
    assert!(money(&effects).contains(&(Reason::Release, 150)));
}

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
    // At 24 the used part goes back as well, and the order, filled up to 100 again, finds nothing for sale.
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
    // At 20 the order stands again and wins the rest of the slot: 4 of 8 heights at ceil(10 / 2) each.
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
    // Alone, the bid pays the phantoms' 10 + 20; earnings are 10 and 20; member 4 never acknowledged. So the slot does
    // not count, and the bid goes on.
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
fn a_bid_that_is_never_opened_forfeits_its_deposit() {
    let mut world = two_units();
    let two = bid(&world, &[(1, 50)], 1);
    let commit = world.commit(2, &two, 2);
    let id = order(&commit.id());
    world.all(vec![commit.clone()]);
    let second = world.commit(2, &bid(&world, &[(1, 51)], 1), 2);
    assert_eq!(world.refused(second), Refusal::SealedAlready(id));
    let early = world.open(2, &commit, &two);
    let refusal = world.state.admit(&early).unwrap_err();
    assert!(refusal.may_pass_later());
    let cancel = world.by(2, EntryBody::Cancel { order: id });
    assert_eq!(world.refused(cancel), Refusal::Sealed(id));
    world.until(15);
    // The closing block takes no opening; the deposit of 4 units at 10 goes to the bank.
    let late = world.open(2, &commit, &two);
    let refusal = world.refused(late);
    assert!(matches!(
        refusal,
        Refusal::OpeningTime {
            first: 13,
            last: 15,
            early: false,
            ..
        }
    ));
    assert!(!refusal.may_pass_later());
    assert_eq!(world.balance(Purse::Bank), 40);
    assert_eq!(world.account(2), START - 40);
    assert!(world.effects.contains(&Effect::Order {
        order: id,
        end: OrderEnd::NotOpened
    }));
}

#[test]
fn an_opening_must_match_its_seal_and_be_funded() {
    let mut world = two_units();
    let small = bid(&world, &[(1, 50)], 1);
    let dear = bid(&world, &[(4, 400_000)], 1);
    let mut over = dear.clone();
    over.budget = credits(1_600_000);
    let mut broad = bid(&world, &[(5, 1)], 1);
    broad.min = 5;
    let commits = vec![
        world.commit(2, &small, 0),
        world.commit(3, &over, 2),
        world.commit(4, &broad, 2),
        world.commit(1, &dear, 2),
    ];
    world.all(commits.clone());
    world.until(12);
    let other = world.open(2, &commits[0], &bid(&world, &[(1, 49)], 1));
    assert_eq!(world.refused(other), Refusal::Seal(order(&commits[0].id())));
    let thief = world.open(3, &commits[0], &small);
    assert_eq!(
        world.refused(thief),
        Refusal::NoOrder(order(&commits[0].id()))
    );
    let unfunded = world.open(3, &commits[1], &over);
    assert!(matches!(
        world.state.admit(&unfunded),
        Err(Refusal::Funds { .. })
    ));
    let too_broad = world.open(4, &commits[2], &broad);
    assert!(matches!(
        world.state.admit(&too_broad),
        Err(Refusal::Seal(_))
    ));
    let over_budget = world.open(1, &commits[3], &dear);
    assert!(matches!(
        world.state.admit(&over_budget),
        Err(Refusal::Budget { .. })
    ));
    let good = world.open(2, &commits[0], &small);
    world.all(vec![good.clone()]);
    let again = world.sign_until(
        world.member(2),
        &crate::world::key(2),
        good.entry().body.clone(),
        60,
    );
    assert!(matches!(
        world.state.admit(&again),
        Err(Refusal::NotSealed(_))
    ));
}

#[test]
fn what_cannot_be_topped_up_ends() {
    let mut world = two_units();
    let mut two = bid(&world, &[(2, 50)], 5);
    // Two slots at 20 leave less than one slot at the bid.
    two.budget = credits(130);
    let orders = world.bids(&[(2, two)]);
    world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    // At 24 the budget left is 110: it goes on. At 32 it is 90, below the 100 of one slot at the bid.
    world.until(31);
    assert!(world.state.order(&orders[0]).is_some());
    let effects = world.until(32);
    assert_eq!(lease_ends(&effects), [(orders[0], LeaseEnd::Unfunded)]);
    assert_eq!(order_ends(&effects), [(orders[0], OrderEnd::Unfunded)]);
    assert_eq!(world.account(2), START - 40);
}

#[test]
fn a_balance_that_ran_dry_ends_the_lease() {
    let (mut world, order) = one_lease();
    let rest = world.state.balance(&world.member(2)).free as u64;
    let give = world.by(
        2,
        EntryBody::Transfer {
            to: world.member(4),
            amount: credits(rest),
            memo: Default::default(),
        },
    );
    world.all(vec![give]);
    let effects = world.until(24);
    assert_eq!(lease_ends(&effects), [(order, LeaseEnd::Unfunded)]);
    // The 80 that the first charge left of the escrow come back.
    assert_eq!(world.account(2), 80);
}

#[test]
fn a_cancelled_order_pays_its_slot_out() {
    let (mut world, order) = one_lease();
    world.until(19);
    let cancel = world.by(2, EntryBody::Cancel { order });
    assert_eq!(world.refused(cancel.clone()), Refusal::Closing(20));
    let stranger = world.by(3, EntryBody::Cancel { order });
    assert_eq!(
        world.state.admit(&stranger).unwrap_err(),
        Refusal::NoOrder(order)
    );
    world.all(vec![cancel]);
    let again = world.sign_until(
        world.member(2),
        &crate::world::key(2),
        EntryBody::Cancel { order },
        70,
    );
    assert_eq!(world.refused(again), Refusal::Exiting(order));
    let effects = world.until(24);
    assert_eq!(
        money(&effects),
        [(Reason::Earning, 20), (Reason::Release, 80)]
    );
    assert_eq!(lease_ends(&effects), [(order, LeaseEnd::Exit)]);
    // A standing order ends at once.
    let other = bid(&world, &[(1, 5)], 1);
    let orders = world.bids(&[(3, other)]);
    let cancel = world.by(3, EntryBody::Cancel { order: orders[0] });
    let effects = world.all(vec![cancel]);
    assert_eq!(money(&effects), [(Reason::Release, 5)]);
    assert_eq!(order_ends(&effects), [(orders[0], OrderEnd::Cancelled)]);
}

#[test]
fn an_order_stands_no_longer_than_it_says() {
    let mut world = two_units();
    let mut low = bid(&world, &[(1, 5)], 1);
    low.stands_until = 20;
    let orders = world.bids(&[(2, low)]);
    world.until(20);
    assert!(world.state.order(&orders[0]).is_some());
    let effects = world.until(24);
    assert_eq!(order_ends(&effects), [(orders[0], OrderEnd::TimedOut)]);
    assert_eq!(world.account(2), START);
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
    assert!(world.state.order(&first).unwrap().lease().is_some());
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
    // Withdrawn at 33: the lease loses its units at the boundary after the notice, and the offer leaves.
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
    for label in 2..=4 {
        huge.label = label;
        let offer = world.by(1, EntryBody::SetOffer(huge.clone()));
        world.all(vec![offer]);
    }
    huge.label = 5;
    let offer = world.by(1, EntryBody::SetOffer(huge.clone()));
    assert!(matches!(
        world.refused(offer),
        Refusal::ClassUnits { units: 16_386, .. }
    ));
    huge.units = 4_094;
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
