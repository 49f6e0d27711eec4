//! How orders end: unopened, unfunded, cancelled, out of time. Heights and balances as in `market`.

use crate::trade::{START, bid, lease_ends, money, one_lease, order, order_ends, two_units};
use crate::world::credits;
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::payment::{Purse, Reason};

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
    // The closing block takes no opening.
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
    // Six heights later the deposit of 4 units at 10 goes to the bank.
    world.until(21);
    assert_eq!(world.balance(Purse::Bank), 0);
    world.until(22);
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
    // At 24 the budget left is 110: it goes on. At 32 it is 90, below the 100 of one slot at the
    // bid.
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
    // A standing order that was cleared ends at once.
    let other = bid(&world, &[(1, 5)], 1);
    let orders = world.bids(&[(3, other)]);
    let calendar = world.state.calendar();
    let cleared = calendar.last_of_round(calendar.round(world.state.height()));
    world.until(cleared);
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
