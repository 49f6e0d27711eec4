//! Jobs by deadlines of sellers that cannot stake, fail, are silent or withdraw.

use crate::deadline::{job, planned, plannings, seller, send, units};
use crate::trade::{START, lease_ends, money, order_ends};
use crate::world::credits;
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::payment::Reason;

#[test]
fn a_seller_who_cannot_stake_takes_nobody() {
    let mut world = seller(0);
    // Member 1 may fall to -500.
    let give = world.by(
        1,
        EntryBody::Transfer {
            to: world.member(2),
            amount: credits(1_000_400),
            memo: Hash32([0; 32]),
        },
    );
    world.all(vec![give]);
    let dear = job(&world, 4, (2, 5), (404, 100));
    let quote = world.state.quote_deadline(&dear);
    assert_eq!(quote, Err(OrderEnd::Unstaked));
    let dear = send(&mut world, 2, dear);
    let cheap = job(&world, 4, (2, 5), (400, 100));
    assert_eq!(
        world.state.quote_deadline(&cheap).unwrap().bond,
        credits(100)
    );
    let cheap = send(&mut world, 3, cheap);
    let effects = world.until(16);
    assert_eq!(order_ends(&effects), [(dear, OrderEnd::Unstaked)]);
    assert!(world.state.order(&cheap).unwrap().is_taken());
}

#[test]
fn a_seller_who_failed_gets_no_more_than_was_served_of_a_cancelled_job() {
    let mut world = seller(0);
    let long = job(&world, 12, (1, 5), (1_000, 200));
    let id = send(&mut world, 2, long);
    world.until(16);
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    world.until(24);
    let fail = world.by(1, EntryBody::Fail { lease });
    let cancel = world.by(2, EntryBody::Cancel { order: id });
    world.all(vec![fail, cancel]);
    // 4 of 12 were done, and the price of the second slot is 800.
    world.until(32);
    assert!(world.state.order(&id).is_none());
    assert_eq!(
        (world.account(1), world.account(2)),
        (START + 266, START - 266)
    );
}

#[test]
fn a_seller_who_fails_pays_his_stake() {
    let mut world = seller(0);
    let tight = job(&world, 12, (3, 3), (1_000, 1_000));
    let tight = send(&mut world, 2, tight);
    let effects = world.until(16);
    assert_eq!(plannings(&effects)[0].plan[0].units, 4);
    let lease = world.lease_of(&tight);
    world.deliver(1, lease);
    let fail = world.by(1, EntryBody::Fail { lease });
    let effects = world.all(vec![fail]);
    assert_eq!(lease_ends(&effects), [(tight, LeaseEnd::Undelivered)]);
    assert!(
        world.state.order(&tight).is_some(),
        "its end is for the plan to say"
    );
    let effects = world.until(24);
    assert_eq!(
        money(&effects),
        [(Reason::Damages, 250), (Reason::Release, 1_000)]
    );
    assert_eq!(order_ends(&effects), [(tight, OrderEnd::Missed)]);
    assert_eq!(
        (world.account(1), world.account(2)),
        (START - 250, START + 250)
    );
}

#[test]
fn a_silent_seller_is_suspended_and_may_come_back() {
    let mut world = seller(0);
    let loose = job(&world, 4, (2, 5), (1_000, 200));
    let id = send(&mut world, 2, loose);
    world.until(16);
    // Six heights to acknowledge; nobody does.
    let effects = world.until(22);
    assert_eq!(lease_ends(&effects), [(id, LeaseEnd::Undelivered)]);
    let effects = world.until(24);
    assert!(plannings(&effects)[0].suspended && plannings(&effects)[0].plan.is_empty());
    let offer = world.state.offer(&world.offer_of(1, 1)).unwrap();
    assert_eq!(
        (offer.supply(), offer.bound),
        (0, 4),
        "its units are promised"
    );
    let again = planned(&world, 1, 4, 0);
    let again = world.by(1, EntryBody::SetOffer(again));
    world.all(vec![again]);
    world.until(32);
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    // Age 3: 1,000 - floor(800 / 3).
    world.until(40);
    assert_eq!(world.account(1), START + 734);
    // A second one that nobody ever serves.
    let loose = job(&world, 4, (2, 5), (1_000, 200));
    let id = send(&mut world, 2, loose);
    world.until(48);
    let effects = world.until(48 + 5 * 8);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::Missed)]);
    assert_eq!(world.account(1), START + 734 - 250);
    world.until(world.state.height() + 4);
    assert!(world.state.offer(&world.offer_of(1, 1)).is_none());
}

#[test]
fn a_withdrawn_offer_does_what_it_took_and_takes_nobody_else() {
    let mut world = seller(0);
    let eight = job(&world, 8, (4, 9), (1_000, 200));
    let id = send(&mut world, 2, eight.clone());
    world.until(16);
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    let fewer = planned(&world, 1, 2, 0);
    let fewer = world.by(1, EntryBody::SetOffer(fewer));
    world.all(vec![fewer]);
    assert_eq!(world.state.quote_deadline(&eight), Err(OrderEnd::NoRoom));
    let asks = world.by(3, EntryBody::Deadline(eight.clone()));
    let offer = world.offer_of(1, 1);
    assert_eq!(world.refused(asks), Refusal::NotPlanned(offer));
    world.until(24);
    assert_eq!(units(&world, &id), 4);
    let withdraw = world.by(1, EntryBody::WithdrawOffer { label: 1 });
    world.all(vec![withdraw]);
    let effects = world.until(32);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::Served)]);
    world.until(36);
    assert!(world.state.offer(&offer).is_none());
    assert_eq!(world.account(1), START + 1_000);
}
