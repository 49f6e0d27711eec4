//! Amendments: their effect, its time, and their cost.

use crate::trade::{START, bid, lease_ends, money, one_lease, order, order_ends, two_units};
use crate::world::{World, credits};
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{Hash32, OrderId};
use gridbay_protocol::order::{Amendment, Bid};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Price;

/// The bid of a live order, at another price for each unit.
pub(crate) fn amended(world: &World, order: OrderId, price: u64) -> Amendment {
    let live = world.state.order(&order).expect("the order is live");
    let mut bid = live.bid().expect("a bid").bid.clone();
    for step in &mut bid.steps {
        step.price = Price(price);
    }
    Amendment { order, bid }
}

fn price(world: &World, order: &OrderId) -> u64 {
    world.state.order(order).unwrap().bid().unwrap().bid.steps[0]
        .price
        .0
}

fn escrow(world: &World, order: &OrderId) -> i128 {
    world.balance(Purse::Escrow(*order))
}

#[test]
fn a_running_bid_that_is_raised_keeps_its_lease() {
    let (mut world, mine) = one_lease();
    let lease = world.lease_of(&mine);
    assert_eq!((world.state.height(), escrow(&world, &mine)), (17, 80));
    let raise = amended(&world, mine, 100);
    let rival = bid(&world, &[(2, 80)], 3);
    let commits = [world.commit(2, &raise, 1), world.commit(3, &rival, 1)];
    world.all(commits.to_vec());
    assert_eq!(
        world.account(2),
        START - 20 - 80 - 20,
        "a deposit of 2 x 10"
    );
    world.until(20);
    let open = world.open(2, &commits[0], &raise);
    let effects = world.all(vec![open]);
    // One slot at the new bid is 200: 80 are there, the deposit has 20.
    assert_eq!(money(&effects), [(Reason::Lock, 20), (Reason::Lock, 100)]);
    let own = order(&commits[0].id());
    assert_eq!(order_ends(&effects), [(own, OrderEnd::Amended)]);
    assert_eq!((price(&world, &mine), escrow(&world, &mine)), (50, 200));
    let open = world.open(3, &commits[1], &rival);
    world.all(vec![open]);
    let effects = world.until(24);
    // The rival would have paid 160 for both. The lease goes on, and nothing but the price is
    // charged.
    let charges: Vec<_> = money(&effects)
        .into_iter()
        .filter(|(why, _)| *why != Reason::Earning)
        .collect();
    assert_eq!(charges, [(Reason::Charge, 160)]);
    assert_eq!(
        (lease_ends(&effects), world.lease_of(&mine)),
        (vec![], lease)
    );
    assert_eq!((price(&world, &mine), escrow(&world, &mine)), (100, 40));
    let live = world.state.order(&mine).unwrap().bid().unwrap();
    assert_eq!((live.paid, live.slots_used), (credits(180), 1));
    assert_eq!(world.account(2), START - 180 - 40);
}

#[test]
fn without_the_amendment_it_would_have_lost_it() {
    let (mut world, mine) = one_lease();
    let rival = bid(&world, &[(2, 80)], 3);
    world.bids(&[(3, rival)]);
    let effects = world.until(24);
    assert_eq!(lease_ends(&effects).len(), 1);
    assert_eq!(world.state.order(&mine).unwrap().lease, None);
}

#[test]
fn a_standing_bid_is_amended_at_the_next_clearing_and_gets_back_what_it_needs_no_more() {
    let mut world = two_units();
    let (low, high) = (bid(&world, &[(2, 50)], 5), bid(&world, &[(2, 80)], 5));
    let orders = world.bids(&[(2, low), (3, high)]);
    world.until(17);
    let mine = orders[0];
    assert_eq!(world.state.order(&mine).unwrap().lease, None);
    let lower = amended(&world, mine, 30);
    world.bids(&[(2, lower)]);
    assert_eq!((world.state.height(), price(&world, &mine)), (21, 50));
    world.until(23);
    assert_eq!((price(&world, &mine), world.account(2)), (50, START - 100));
    let effects = world.until(24);
    assert!(money(&effects).contains(&(Reason::Release, 40)));
    assert_eq!((price(&world, &mine), world.account(2)), (30, START - 60));
    let round = world.state.order(&mine).unwrap().round;
    let calendar = world.state.calendar();
    assert_eq!(
        round,
        calendar.round(18),
        "its place in ties is the amendment's"
    );
}

#[test]
fn an_amendment_that_is_not_opened_costs_its_deposit_and_changes_nothing() {
    let (mut world, mine) = one_lease();
    let before = world.account(2);
    let raise = amended(&world, mine, 100);
    let commit = world.commit(2, &raise, 1);
    world.all(vec![commit.clone()]);
    let lease = world.lease_of(&mine);
    world.until(39);
    let own = (order(&commit.id()), OrderEnd::NotOpened);
    assert!(order_ends(&world.effects).contains(&own));
    assert_eq!((price(&world, &mine), world.lease_of(&mine)), (50, lease));
    // Three slots at 20 a slot, of which the first was paid before; the escrow is full but for what
    // was charged.
    assert_eq!(world.account(2), before - 20 - 2 * 20);
}

/// The refusal of the opening of an amendment that was committed in time, and a world in which
/// nothing came of it.
fn refusal(world: &mut World, n: u8, amendment: &Amendment) -> Refusal {
    let commit = world.commit(n, amendment, 4);
    world.all(vec![commit.clone()]);
    let calendar = world.state.calendar();
    let last = calendar.last_of_round(calendar.round(world.state.height()));
    if last > world.state.height() {
        world.until(last);
    }
    let before = world.state.order(&amendment.order).cloned();
    let open = world.open(n, &commit, amendment);
    let refusal = world.refused(open);
    assert_eq!(world.state.order(&amendment.order).cloned(), before);
    refusal
}

#[test]
fn what_may_not_be_amended() {
    let (mut world, mine) = one_lease();
    let raise = amended(&world, mine, 100);
    assert_eq!(refusal(&mut world, 3, &raise), Refusal::NoOrder(mine));
    let changes: [fn(&mut Bid); 4] = [
        |b| b.steps[0].units = 3,
        |b| b.min = 2,
        |b| b.slots = 6,
        |b| b.work = Hash32([9; 32]),
    ];
    for change in changes {
        let mut other = raise.clone();
        change(&mut other.bid);
        let found = refusal(&mut world, 2, &other);
        assert_eq!(found, Refusal::Reshaped(mine), "{other:?}");
    }
}

#[test]
fn the_budget_of_an_amendment_counts_what_was_paid() {
    let (mut world, mine) = one_lease();
    let mut poor = amended(&world, mine, 100);
    poor.bid.budget = credits(20 + 199);
    let (left, slot) = (credits(199), credits(200));
    assert_eq!(refusal(&mut world, 2, &poor), Refusal::Spent { left, slot });
}

#[test]
fn firm_orders_have_no_bid_to_amend() {
    let mut world = two_units();
    let buy = world.buy(2, 1, 3, 1_000);
    let firm = order(&buy.id());
    world.all(vec![buy]);
    assert!(world.state.order(&firm).unwrap().lease.is_some());
    let mut bid = bid(&world, &[(1, 50)], 3);
    bid.work = Hash32([4; 32]);
    let amendment = Amendment { order: firm, bid };
    assert_eq!(refusal(&mut world, 2, &amendment), Refusal::NotABid(firm));
}

#[test]
fn an_amendment_that_cannot_be_paid_leaves_the_old_bid() {
    let (mut world, mine) = one_lease();
    let mut raise = amended(&world, mine, 1_000_000);
    raise.bid.budget = credits(10_000_000);
    let found = refusal(&mut world, 2, &raise);
    assert!(matches!(found, Refusal::Funds { .. }), "{found:?}");
    world.until(32);
    assert!(world.state.order(&mine).unwrap().lease.is_some());
}

#[test]
fn an_amendment_of_an_order_that_ends_lapses_and_costs_nothing() {
    for running in [false, true] {
        let (mut world, mine) = if running {
            one_lease()
        } else {
            let mut world = two_units();
            let (low, high) = (bid(&world, &[(2, 50)], 5), bid(&world, &[(2, 80)], 5));
            let orders = world.bids(&[(2, low), (3, high)]);
            world.until(17);
            (world, orders[0])
        };
        let raise = amended(&world, mine, 100);
        let commit = world.commit(2, &raise, 4);
        world.all(vec![commit.clone()]);
        let cancel = world.by(2, EntryBody::Cancel { order: mine });
        world.all(vec![cancel]);
        world.until(20);
        let before = world.account(2);
        let open = world.open(2, &commit, &raise);
        let effects = world.all(vec![open]);
        assert_eq!(
            order_ends(&effects),
            [(order(&commit.id()), OrderEnd::Lapsed)]
        );
        assert_eq!(money(&effects), [(Reason::Release, 160)]);
        assert_eq!(world.account(2), before + 160);
        world.until(24);
        assert!(world.state.order(&mine).is_none());
    }
}

#[test]
fn a_buy_before_the_clearing_displaces_the_bid_that_won() {
    let mut world = two_units();
    let two = bid(&world, &[(2, 50)], 5);
    let mine = world.bids(&[(2, two)])[0];
    // Committed while it stands, opened while it runs: it competes again at height 24.
    let raise = amended(&world, mine, 500);
    let commit = world.commit(2, &raise, 4);
    world.all(vec![commit.clone()]);
    world.until(16);
    let lease = world.lease_of(&mine);
    world.deliver(1, lease);
    let open = world.open(2, &commit, &raise);
    world.all(vec![open]);
    world.until(20);
    let buy = world.buy(3, 2, 1, 150);
    let effects = world.all(vec![buy]);
    assert_eq!(
        lease_ends(&effects).len(),
        1,
        "displaced at 2 x 50, not at 2 x 500"
    );
    assert_eq!(price(&world, &mine), 50);
    world.until(24);
    assert_eq!(price(&world, &mine), 500);
}

#[test]
fn of_two_amendments_that_wait_the_later_counts() {
    let mut world = two_units();
    let two = bid(&world, &[(2, 50)], 5);
    let mine = world.bids(&[(2, two)])[0];
    let first = amended(&world, mine, 500);
    let commit = world.commit(2, &first, 4);
    world.all(vec![commit.clone()]);
    world.until(16);
    let open = world.open(2, &commit, &first);
    let second = amended(&world, mine, 60);
    let next = world.commit(2, &second, 4);
    world.all(vec![open, next.clone()]);
    assert_eq!(escrow(&world, &mine), 1_000);
    world.until(20);
    let open = world.open(2, &next, &second);
    world.all(vec![open]);
    let effects = world.until(24);
    assert_eq!(price(&world, &mine), 60);
    assert!(
        money(&effects).contains(&(Reason::Release, 880)),
        "all but 2 x 60"
    );
}
