//! Buys that wait for units, and buys that evict others, with figures worked out by hand. Heights
//! and balances as in `market`.

use crate::trade::{START, lease_ends, money, order, order_ends};
use crate::world::{World, credits, policy};
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::limits;
use gridbay_protocol::order::Buy;
use gridbay_protocol::payment::Reason::{Charge, Compensation, Lock, Refund, Release};
use gridbay_protocol::policy::buy::BuyPolicy;
use gridbay_protocol::record::buy::Eviction;

/// Member 3 holds both units of member 1 from height 10 on, at 30 each, for the rest of slot 1 and
/// so many more.
fn all_bought(policy: Policy, slots: u32) -> (World, OrderId) {
    let mut world = World::with(policy);
    let offer = world.offer(1, 1, 2, 10, Some(30));
    world.all(vec![offer]);
    world.until(9);
    let buy = world.buy(3, 2, slots, 60);
    let id = order(&buy.id());
    assert_eq!(money(&world.all(vec![buy]))[1], (Charge, 45));
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    (world, id)
}

/// Sends a buy for one slot; returns the effects of its block.
fn buys(world: &mut World, n: u8, change: impl FnOnce(&mut Buy)) -> (OrderId, Vec<Effect>) {
    let mut buy = world.one(1, 40);
    change(&mut buy);
    let entry = world.by(n, EntryBody::Buy(buy));
    let id = order(&entry.id());
    (id, world.all(vec![entry]))
}

/// Members 2 and 4 wait from heights 13 and 17 on, for one unit and for two.
fn two_wait(stands_until: u64) -> (World, [OrderId; 2]) {
    let (mut world, _) = all_bought(policy(), 2);
    world.until(12);
    let (first, effects) = buys(&mut world, 2, |buy| buy.stands_until = 40);
    assert_eq!(money(&effects), [(Lock, 80)]);
    world.until(16);
    let (second, effects) = buys(&mut world, 4, |buy| {
        (buy.parts[0].units, buy.limit) = (2, credits(60));
        buy.stands_until = stands_until;
    });
    assert_eq!(money(&effects), [(Lock, 120)]);
    (world, [first, second])
}

#[test]
fn who_waits_is_served_in_order_of_arrival() {
    let (mut world, [first, second]) = two_wait(40);
    assert!(world.state.order(&first).unwrap().buy().unwrap().waits);
    // At 32 the units are free again: one for the buy that came first, and one is not enough for
    // the other.
    let effects = world.until(32);
    assert!(money(&effects).contains(&(Charge, 30)));
    let lease = world.lease_of(&first);
    assert!(world.state.order(&second).unwrap().lease.is_none());
    world.deliver(1, lease);
    let effects = world.until(40);
    let paid = money(&effects);
    assert!(paid.contains(&(Release, 50)) && paid.contains(&(Charge, 60)));
    let lease = world.lease_of(&second);
    assert!(!world.state.order(&second).unwrap().buy().unwrap().waits);
    // Its seller fails at 42, with 6 of 8 heights to go: 45 come back, and the rest of what was
    // locked.
    world.deliver(1, lease);
    let fail = world.by(1, EntryBody::Fail { lease });
    let effects = world.all(vec![fail]);
    assert_eq!(money(&effects), [(Refund, 45), (Release, 60)]);
    assert_eq!(order_ends(&effects), [(second, OrderEnd::NoUnits)]);
    world.until(48);
    assert_eq!(world.account(2), START - 30);
    // For the slot in which it failed the seller earns nothing: the price of the used part comes
    // back too.
    assert_eq!(world.account(4), START);
    assert_eq!(world.account(1), START + 45 + 60 + 60 + 30);
    assert!(!world.state.work_is_due());
}

#[test]
fn who_waits_goes_when_his_time_is_up_or_he_cancels() {
    // The round that closes at 40 is too late.
    let (mut world, [_, second]) = two_wait(39);
    world.until(35);
    assert!(world.state.order(&second).is_some());
    let effects = world.until(36);
    assert_eq!(order_ends(&effects), [(second, OrderEnd::NoUnits)]);
    assert_eq!(world.account(4), START);
    let (mut world, [first, second]) = two_wait(40);
    for (n, order) in [(2, first), (4, second)] {
        let cancel = world.by(n, EntryBody::Cancel { order });
        let effects = world.all(vec![cancel]);
        assert_eq!(order_ends(&effects), [(order, OrderEnd::Cancelled)]);
        assert_eq!(world.account(n), START);
    }
    // The queue is empty: a buy is decided in its block again.
    let (third, effects) = buys(&mut world, 2, |_| {});
    assert_eq!(order_ends(&effects), [(third, OrderEnd::NoUnits)]);
}

#[test]
fn a_new_buy_is_decided_behind_those_that_wait() {
    let (mut world, [first, second]) = two_wait(40);
    world.until(29);
    // There is room from 32 on. The new one waits for the close, and gets what the second cannot
    // use.
    let (new, effects) = buys(&mut world, 3, |_| {});
    assert_eq!(money(&effects), [(Lock, 80)]);
    world.until(32);
    let runs = |order: &OrderId| world.state.order(order).unwrap().lease.is_some();
    assert_eq!([first, second, new].map(|o| runs(&o)), [true, false, true]);
}

#[test]
fn only_who_offers_the_reference_price_may_wait() {
    let (mut world, _) = all_bought(policy(), 2);
    for (limit, waits) in [(9, false), (10, true)] {
        let (id, _) = buys(&mut world, 2, |buy| {
            (buy.limit, buy.stands_until) = (credits(limit), 40);
        });
        assert_eq!(world.state.order(&id).is_some(), waits, "{limit}");
    }
    let beyond = world.state.height() + 2 + limits::ORDER_WINDOW;
    let mut endless = world.one(1, 40);
    endless.stands_until = beyond;
    let endless = world.by(2, EntryBody::Buy(endless));
    let refusal = Refusal::Standing {
        stands_until: beyond,
    };
    assert_eq!(world.refused(endless), refusal);
}

fn evicting() -> Policy {
    Policy {
        buy: BuyPolicy {
            surcharge_ppm: 200_000,
        },
        ..policy()
    }
}

fn evictions(effects: &[Effect]) -> Vec<Eviction> {
    let evicted = |effect: &Effect| match effect {
        Effect::Buy(buy) => Some(buy.evicted().collect::<Vec<_>>()),
        _ => None,
    };
    effects.iter().filter_map(evicted).flatten().collect()
}

#[test]
fn an_evicted_buy_gets_its_remainder_and_the_surcharge() {
    let (mut world, held) = all_bought(evicting(), 4);
    let lease = world.lease_of(&held);
    // Height 18, 6 of 8 heights left: 45 of the 60 for this slot, and three slots at 60 that are
    // locked. A fifth of 225.
    world.until(17);
    let (poor, effects) = buys(&mut world, 4, |buy| buy.surcharge = credits(44));
    assert_eq!(order_ends(&effects), [(poor, OrderEnd::NoUnits)]);
    assert_eq!(money(&effects), [(Lock, 124), (Release, 124)]);
    // Height 19: 37 of the 60, so 217 in all; a fifth is 44 when rounded up.
    let (id, effects) = buys(&mut world, 2, |buy| buy.surcharge = credits(100));
    let evicted = Eviction {
        lease,
        remainder: credits(217),
        surcharge: credits(44),
    };
    assert_eq!(evictions(&effects), [evicted]);
    let paid = [
        (Lock, 180),
        (Refund, 37),
        (Compensation, 44),
        (Release, 195),
        (Release, 56),
        (Charge, 19),
    ];
    assert_eq!(money(&effects), paid);
    assert_eq!(lease_ends(&effects), [(held, LeaseEnd::Preempted)]);
    assert_eq!(order_ends(&effects), [(held, OrderEnd::Evicted)]);
    assert_eq!(world.account(3), START - 45 - 23 + 44);
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    world.until(32);
    assert_eq!(world.account(2), START - 44 - 19 - 30);
    assert_eq!(world.account(1), START + 45 + 23 + 19 + 30);
}

#[test]
fn nobody_is_evicted_for_nothing_else_than_need_and_money() {
    // Within one sponsor nothing is due on top.
    let (mut world, held) = all_bought(evicting(), 4);
    let tenant = world.tenant(3, 5_000);
    let (_, effects) = buys(&mut world, tenant, |buy| buy.surcharge = credits(1));
    assert_eq!(evictions(&effects)[0].surcharge, credits(0));
    assert_eq!(order_ends(&effects), [(held, OrderEnd::Evicted)]);
    // There is a free unit now: nobody has to go.
    let (_, effects) = buys(&mut world, 4, |buy| buy.surcharge = credits(500));
    assert_eq!(evictions(&effects), []);
    assert!(money(&effects).contains(&(Release, 500)));
    // Where the policy evicts nobody a surcharge is refused, and one beyond all money everywhere.
    let (mut world, _) = all_bought(policy(), 2);
    let mut vain = world.one(1, 40);
    vain.surcharge = credits(100);
    let vain = world.by(2, EntryBody::Buy(vain));
    assert_eq!(world.refused(vain), Refusal::Surcharge(credits(100)));
    let (mut world, _) = all_bought(evicting(), 2);
    let mut most = world.one(1, 40);
    most.surcharge = credits(i64::MAX as u64);
    let most = world.by(2, EntryBody::Buy(most));
    assert_eq!(world.refused(most), Refusal::Overflow);
}
