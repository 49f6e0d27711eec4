//! The policy's rule and switch cost, from sealed bids to settled slots, with figures worked out by
//! hand. Heights and balances as in `market`.

use crate::trade::{START, bid, clearings, lease_ends, money, order_ends};
use crate::world::{World, credits, policy};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, Share};
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::record::ausubel::{ClearingKind, ClearingRecord};
use gridbay_protocol::units::Price;

fn cleared_by(rule: Rule, switch_cost: u64) -> World {
    World::with(Policy {
        auction: AuctionPolicy {
            rule,
            switch_cost: Price(switch_cost),
        },
        ..policy()
    })
}

/// Two units of member 1 at a reserve of 10; member 3 needs both, for `pair` each, the others bid
/// 45 for one. The boundary at 16, and the orders.
fn contest(rule: Rule, pair: u64, others: &[u8]) -> (World, ClearingRecord, Vec<OrderId>) {
    let mut world = cleared_by(rule, 0);
    let offer = world.offer(1, 1, 2, 10, Some(30));
    world.all(vec![offer]);
    world.until(9);
    let mut both = bid(&world, &[(2, pair)], 5);
    both.min = 2;
    let mut bids = vec![(3, both)];
    bids.extend(others.iter().map(|n| (*n, bid(&world, &[(1, 45)], 5))));
    let orders = world.bids(&bids);
    let effects = world.until(16);
    let record = clearings(&effects).remove(0);
    assert_eq!(record.policy.rule, rule, "the record says so");
    (world, record, orders)
}

/// Units won and payment by order.
fn won(record: &ClearingRecord, orders: &[OrderId]) -> Vec<(u32, u64)> {
    let of = |order: &OrderId| {
        let award = record.awards.iter().find(|a| a.order == *order);
        award.map_or((0, 0), |a| (a.units, a.pay.micros()))
    };
    orders.iter().map(of).collect()
}

#[test]
fn two_names_pay_what_the_policys_rule_says() {
    // Without either, the other stands in the way of the pair (25 each): under `exact` each pays
    // the reserve.
    let pays = [(Rule::Exact, 10), (Rule::Floor, 25), (Rule::Paper, 25)];
    for (rule, pay) in pays {
        let (mut world, record, orders) = contest(rule, 25, &[2, 4]);
        assert_eq!(
            won(&record, &orders),
            [(0, 0), (1, pay), (1, pay)],
            "{rule:?}"
        );
        assert_eq!(record.sold[0].earns, credits(2 * pay));
        for order in &orders[1..] {
            let lease = world.lease_of(order);
            world.deliver(1, lease);
        }
        world.until(24);
        assert_eq!(world.account(1), START + 2 * i128::from(pay));
    }
}

#[test]
fn the_papers_rule_leaves_units_idle_behind_a_bid_that_does_not_fit() {
    for rule in [Rule::Exact, Rule::Floor] {
        let (_, record, orders) = contest(rule, 40, &[2]);
        assert_eq!(won(&record, &orders), [(2, 55), (0, 0)], "{rule:?}");
    }
    let (mut world, record, orders) = contest(Rule::Paper, 40, &[2]);
    assert_eq!(won(&record, &orders), [(0, 0), (1, 40)]);
    assert_eq!(record.sold[0].units, 1);
    // A buy displaces by the same rule: with one unit less than are held and free, the only bid
    // still fits.
    let free = world.buy(4, 1, 1, 30);
    world.all(vec![free]);
    let lease = world.lease_of(&orders[1]);
    world.deliver(1, lease);
    assert_eq!(world.state.lease(&lease).unwrap().units(), 1);
    // Cancelled, it pays its slot out. The bought unit is not acknowledged.
    let cancel = world.by(2, EntryBody::Cancel { order: orders[1] });
    world.all(vec![cancel]);
    let effects = world.until(24);
    assert!(lease_ends(&effects).contains(&(orders[1], LeaseEnd::Exit)));
    assert!(order_ends(&effects).contains(&(orders[1], OrderEnd::Cancelled)));
    assert_eq!(
        (world.account(2), world.account(1)),
        (START - 40, START + 40)
    );
}

fn shares(world: &World, order: &OrderId) -> Vec<Share> {
    let lease = world.lease_of(order);
    world.state.lease(&lease).unwrap().shares.clone()
}

fn one(offer: OfferId) -> Vec<Share> {
    vec![Share { offer, units: 1 }]
}

/// The only record among effects.
fn only(effects: &[Effect]) -> ClearingRecord {
    let mut records = clearings(effects);
    assert_eq!(records.len(), 1);
    records.remove(0)
}

/// Member 2 runs the only unit, of member 1 at a reserve of 10, since the boundary at 16, whose
/// effects are the last.
fn one_runs(switch_cost: u64) -> (World, Vec<OrderId>, Vec<Effect>) {
    let mut world = cleared_by(Rule::Exact, switch_cost);
    let offer = world.offer(1, 1, 1, 10, None);
    world.all(vec![offer]);
    world.until(9);
    let orders = world.bids(&[(2, bid(&world, &[(1, 50)], 9))]);
    let effects = world.until(16);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    (world, orders, effects)
}

#[test]
fn a_running_job_stays_until_another_unit_is_cheaper_by_the_switch_cost() {
    let (mut world, orders, effects) = one_runs(4);
    // Nobody held the unit yet: it was asked 14 for, and earns that.
    assert_eq!(money(&effects), [(Reason::Charge, 14)]);
    // Another seller asks 8: with the switch cost 12, so the job stays and pays the reserve of 10.
    let cheaper = world.offer(4, 1, 1, 8, None);
    world.all(vec![cheaper]);
    let effects = world.until(24);
    let paid = [
        (Reason::Earning, 14),
        (Reason::Lock, 14),
        (Reason::Charge, 10),
    ];
    assert_eq!(money(&effects), paid);
    let (old, new) = (world.offer_of(1, 1), world.offer_of(4, 1));
    assert_eq!(only(&effects).held, one(old));
    assert_eq!(shares(&world, &orders[0]), one(old));
    // At 5 it comes to 9: the job moves. It pays no more than that, and all of it goes to the unit
    // sold.
    let cheap = world.offer(4, 1, 1, 5, None);
    world.all(vec![cheap]);
    let effects = world.until(32);
    let paid = [
        (Reason::Earning, 10),
        (Reason::Lock, 10),
        (Reason::Charge, 9),
    ];
    assert_eq!(money(&effects), paid);
    assert_eq!(shares(&world, &orders[0]), one(new));
    fails_and_is_taken_again(world, orders[0]);
}

#[test]
fn a_running_job_does_not_move_to_a_unit_that_asks_the_same() {
    let (mut world, orders, _) = one_runs(0);
    let held = world.offer_of(1, 1);
    let others = (1..=6).map(|label| world.offer(4, label, 1, 10, None));
    world.all(others.collect());
    let sooner = (1..=6).any(|label| world.offer_of(4, label) < held);
    assert!(sooner, "one of them comes first by its id");
    let record = only(&world.until(24));
    assert_eq!((record.offers.len(), &record.held), (7, &one(held)));
    assert_eq!(shares(&world, &orders[0]), one(held));
}

#[test]
fn units_of_a_bid_that_ended_are_no_reason_to_move() {
    for switch_cost in [0, 4] {
        let (mut world, first, _) = one_runs(switch_cost);
        let other = world.offer(4, 1, 1, 10, None);
        world.all(vec![other]);
        world.until(21);
        // The second bid begins in the middle of the slot, while the first one's lease runs.
        let second = world.bids(&[(3, bid(&world, &[(1, 50)], 9))])[0];
        world.until(28);
        let own = one(world.offer_of(4, 1));
        assert_eq!(shares(&world, &second), own);
        let lease = world.lease_of(&second);
        world.deliver(4, lease);
        let cancel = world.by(2, EntryBody::Cancel { order: first[0] });
        world.all(vec![cancel]);
        let effects = world.until(32);
        assert!(order_ends(&effects).contains(&(first[0], OrderEnd::Cancelled)));
        let record = only(&effects);
        assert_eq!((record.offers.len(), &record.held), (2, &own));
        assert_eq!(shares(&world, &second), own);
    }
}

/// The new seller fails at 34, with 6 of 8 heights to go; between boundaries switching costs
/// nothing.
fn fails_and_is_taken_again(mut world: World, order: OrderId) {
    let lease = world.lease_of(&order);
    world.deliver(4, lease);
    let fail = world.by(4, EntryBody::Fail { lease });
    let effects = world.all(vec![fail]);
    assert_eq!(money(&effects), [(Reason::Refund, 6)]);
    let effects = world.until(36);
    let record = only(&effects);
    assert_eq!((record.kind, record.held.len()), (ClearingKind::Free, 0));
    assert_eq!(record.policy.switch_cost, Price(0));
    assert_eq!(record.awards[0].pay, credits(3), "half of the reserve");
    let lease = world.lease_of(&order);
    world.deliver(4, lease);
    let cancel = world.by(2, EntryBody::Cancel { order });
    world.all(vec![cancel]);
    world.until(40);
    assert!(world.state.order(&order).is_none());
    // For the slot in which it failed the seller earns nothing.
    assert_eq!(world.account(2), START - 14 - 10 - 3);
    assert_eq!(world.account(1), START + 14 + 10);
    assert_eq!(world.account(4), START + 3);
}
