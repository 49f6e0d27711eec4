//! A bidder that opens several bids early and reads the others' cannot take back all but the
//! best of them: an opened bid is final until its clearing.

use crate::trade::{START, bid, clearings, two_units};
use crate::world::World;
use gridbay_ledger::Refusal;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::order::order_of;

/// The payment in all of one person with two accounts for a unit and a slot, with bids of 90 by
/// member 2 and of 11 by member 4, both opened first; then a rival opens a bid of 10 for a unit, so
/// that the low bid would do. `cancel`: tries to take the high bid back.
fn pays(cancel: bool) -> (u64, u32) {
    let mut world = two_units();
    let (high, low) = (bid(&world, &[(1, 90)], 1), bid(&world, &[(1, 11)], 1));
    let rival = bid(&world, &[(1, 10)], 1);
    let commits = vec![
        world.commit(2, &high, 0),
        world.commit(4, &low, 0),
        world.commit(3, &rival, 0),
    ];
    world.all(commits.clone());
    world.until(12);
    let opens = vec![
        world.open(2, &commits[0], &high),
        world.open(4, &commits[1], &low),
    ];
    world.all(opens);
    let open = world.open(3, &commits[2], &rival);
    world.all(vec![open]);
    let order = order_of(&commits[0].id());
    let refused = if cancel {
        let entry = world.by(2, EntryBody::Cancel { order });
        let refusal = world.refused(entry);
        assert_eq!(refusal, Refusal::Final(order));
        assert!(refusal.may_pass_later());
        1
    } else {
        0
    };
    let effects = world.until(16);
    let record = clearings(&effects).remove(0);
    let own = [order, order_of(&commits[1].id())];
    let awards = record.awards.iter().filter(|a| own.contains(&a.order));
    (awards.map(|a| a.pay.micros()).sum(), refused)
}

#[test]
fn a_second_bid_is_paid_for_also_if_the_first_would_have_done() {
    // Both win a unit for a slot, at the reserve of 10 each. Taken back for free, one unit would
    // have cost 10.
    assert_eq!(pays(false), (20, 0));
    assert_eq!(pays(true), (20, 1));
}

/// Two units, of which member 3 has both; a bid of member 2 stands and is outbid.
fn outbid() -> (World, OrderId) {
    let mut world = two_units();
    let (low, high) = (bid(&world, &[(2, 50)], 5), bid(&world, &[(2, 80)], 9));
    let orders = world.bids(&[(2, low), (3, high)]);
    world.until(16);
    (world, orders[0])
}

fn cancelled(world: &mut World, order: OrderId) -> Option<Refusal> {
    let entry = world.by(2, EntryBody::Cancel { order });
    world.block(vec![entry]);
    world.left_out.pop().map(|(_, refusal)| refusal)
}

#[test]
fn a_bid_that_was_cleared_can_be_cancelled() {
    let (mut world, order) = outbid();
    assert_eq!(cancelled(&mut world, order), None);
    assert_eq!(world.account(2), START);
}

#[test]
fn an_amendment_cannot_be_taken_back_with_its_order() {
    let (mut world, mine) = outbid();
    let raise = crate::amending::amended(&world, mine, 100);
    let commit = world.commit(2, &raise, 4);
    world.all(vec![commit.clone()]);
    world.until(20);
    // Its window: the deposit is not to be had by ending what it would have amended.
    let sealed = order_of(&commit.id());
    assert_eq!(cancelled(&mut world, mine), Some(Refusal::Unopened(sealed)));
    let open = world.open(2, &commit, &raise);
    world.all(vec![open]);
    assert_eq!(cancelled(&mut world, mine), Some(Refusal::Final(mine)));
}
