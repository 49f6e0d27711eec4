//! Buys of several classes, with figures worked out by hand. Heights and balances as in `market`;
//! of the two classes units cost 30 and 50 a slot.

use crate::trade::{START, bid, lease_ends, money, order, order_ends};
use crate::world::{World, class_key, credits, genesis, policy};
use gridbay_ledger::Refusal;
use gridbay_protocol::class::{Class, ClassKey};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::genesis::{Genesis, Policy};
use gridbay_protocol::ids::{ClassId, OrderId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::order::{Buy, BuyPart};
use gridbay_protocol::payment::Reason::{Charge, Compensation, Lock, Refund, Release};
use gridbay_protocol::policy::buy::BuyPolicy;
use gridbay_protocol::record::buy::BuyRecord;
use gridbay_protocol::units::Price;

fn large_key() -> ClassKey {
    ClassKey {
        vcpu: 8,
        ..class_key()
    }
}

/// The class that only these tests and the model have.
pub(crate) fn large() -> ClassId {
    large_key().id()
}

/// As in [`genesis`], with a second class.
pub(crate) fn two_classes(policy: Policy) -> Genesis {
    let mut genesis = genesis(policy);
    genesis.classes.push(Class {
        name: "large".into(),
        key: large_key(),
        reference_price: Price(20),
    });
    genesis.classes.sort_by_key(|class| class.key.id());
    genesis
}

/// Member 1 sells so many small units at 30, member 2 so many large ones at 50; reserves are 10 and
/// 20.
fn sold(policy: Policy, small: u32, of_large: u32) -> World {
    let mut world = World::founded(two_classes(policy));
    let first = world.offer(1, 1, small, 10, Some(30));
    let second = in_large(&mut world, |world| {
        world.offer(2, 1, of_large, 20, Some(50))
    });
    world.all(vec![first, second]);
    world.until(9);
    world
}

/// Does something in the second class.
fn in_large<T>(world: &mut World, act: impl FnOnce(&mut World) -> T) -> T {
    let small = std::mem::replace(&mut world.class, large());
    let done = act(world);
    world.class = small;
    done
}

/// A group for one slot that does not wait.
fn group(world: &World, small: u32, of_large: u32, limit: u64) -> Buy {
    let mut parts = vec![
        BuyPart::anywhere(world.class, small),
        BuyPart::anywhere(large(), of_large),
    ];
    parts.sort_by_key(|part| part.class);
    Buy {
        parts,
        ..world.one(1, limit)
    }
}

fn send(world: &mut World, n: u8, buy: Buy) -> (OrderId, Vec<Effect>) {
    let entry = world.by(n, EntryBody::Buy(buy));
    let id = order(&entry.id());
    (id, world.all(vec![entry]))
}

/// Sends it, and closes its round.
fn decided(world: &mut World, n: u8, buy: Buy) -> (OrderId, Vec<Effect>) {
    let (id, mut effects) = send(world, n, buy);
    let height = world.state.height();
    if !height.is_multiple_of(4) {
        effects.extend(world.until(height.next_multiple_of(4)));
    }
    (id, effects)
}

fn record(effects: &[Effect]) -> Option<&BuyRecord> {
    effects.iter().find_map(|effect| match effect {
        Effect::Buy(record) => Some(record),
        _ => None,
    })
}

/// The displaced value and the price of one part of a record.
fn part(record: &BuyRecord, class: ClassId) -> (u64, u64) {
    let part = record.parts.iter().find(|part| part.class == class);
    let part = part.unwrap();
    (part.displaced_value.micros(), part.price.micros())
}

fn deliver_all(world: &mut World, id: &OrderId) {
    let lease = world.lease_of(id);
    world.deliver(1, lease);
    world.deliver(2, lease);
}

#[test]
fn a_group_is_one_order_and_one_lease() {
    let mut world = sold(policy(), 2, 2);
    let buy = group(&world, 1, 2, 130);
    // In its block it is only locked, though all units are free: its units start at the close of a
    // round.
    let (id, effects) = send(&mut world, 3, buy);
    assert_eq!(money(&effects), [(Lock, 260)]);
    // At 12 half of the slot is left: 15 for the small one, 50 for the large ones.
    let effects = world.until(12);
    assert_eq!(money(&effects), [(Charge, 65)]);
    let record = record(&effects).unwrap();
    assert_eq!((record.price.micros(), record.units()), (130, 3));
    assert_eq!(part(record, world.class), (0, 30));
    let lease = world.state.lease(&world.lease_of(&id)).unwrap();
    assert_eq!((lease.shares.len(), lease.units()), (2, 3));
    assert_eq!(lease.firm_through, Some(2));
    deliver_all(&mut world, &id);
    let effects = world.until(16);
    assert!(money(&effects).contains(&(Charge, 130)));
    assert_eq!(
        (world.account(1), world.account(2)),
        (START + 15, START + 50)
    );
    let effects = world.until(24);
    assert!(money(&effects).contains(&(Release, 65)));
    assert_eq!(lease_ends(&effects), [(id, LeaseEnd::Expired)]);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::Served)]);
    let accounts = [1, 2, 3].map(|n| world.account(n) - START);
    assert_eq!(accounts, [45, 150, -195]);
    // Each class's sales are its own.
    for (class, paid) in [(world.class, 45), (large(), 150)] {
        let sales = world.state.prices(&class).unwrap().period.values();
        assert_eq!(sales.map(|s| s.paid).sum::<u64>(), paid);
    }
    assert!(!world.state.work_is_due());
}

#[test]
fn one_class_short_takes_nothing_of_the_other() {
    let mut world = sold(policy(), 2, 2);
    for (buy, end) in [
        (group(&world, 1, 3, 500), OrderEnd::Short(large())),
        (group(&world, 3, 1, 500), OrderEnd::Short(world.class)),
        (group(&world, 1, 2, 129), OrderEnd::TooDear),
    ] {
        let lock = buy.lock().unwrap().micros();
        let (id, effects) = decided(&mut world, 3, buy);
        assert_eq!(order_ends(&effects), [(id, end)]);
        assert_eq!(money(&effects), [(Lock, lock), (Release, lock)]);
        for class in [world.class, large()] {
            assert_eq!(world.state.supply(&class), (2, 2));
        }
        assert_eq!(world.account(3), START);
    }
    // A class that is not there is refused, whatever else is asked for.
    let mut strange = group(&world, 1, 1, 500);
    strange.parts.push(BuyPart::anywhere(ClassId([255; 32]), 1));
    let strange = world.by(3, EntryBody::Buy(strange));
    assert_eq!(world.refused(strange), Refusal::NoClass(ClassId([255; 32])));
}

#[test]
fn a_group_waits_in_all_its_classes() {
    let mut world = sold(policy(), 2, 1);
    // Member 4 holds the large unit through slot 2.
    let held = in_large(&mut world, |world| world.buy(4, 1, 1, 50));
    world.all(vec![held.clone()]);
    let lease = world.lease_of(&order(&held.id()));
    world.deliver(2, lease);
    let mut buy = group(&world, 2, 1, 110);
    buy.stands_until = 28;
    let (id, _) = decided(&mut world, 3, buy);
    let waiting = world.state.order(&id).unwrap().buy().unwrap();
    assert_eq!((waiting.waits, waiting.short), (true, Some(large())));
    // So a buy of small ones, of which all are free, is decided at the close and not at once; it
    // gets what is free.
    let small = world.buy(4, 1, 1, 30);
    let other = order(&small.id());
    assert_eq!(money(&world.all(vec![small])), [(Lock, 60)]);
    world.until(16);
    let lease = world.lease_of(&other);
    world.deliver(1, lease);
    // At 24 both have ended.
    let effects = world.until(24);
    assert_eq!(record(&effects).unwrap().order, id);
    assert!(money(&effects).contains(&(Charge, 110)));
    let served = world.state.order(&id).unwrap().buy().unwrap();
    assert_eq!((served.waits, served.short), (false, None));
    deliver_all(&mut world, &id);
    // Nobody waits any more: buys of either class are decided in their blocks.
    for class in [world.class, large()] {
        world.class = class;
        let (id, effects) = {
            let buy = world.one(1, 100);
            send(&mut world, 4, buy)
        };
        assert_eq!(order_ends(&effects), [(id, OrderEnd::NoUnits)]);
    }
}

#[test]
fn displaced_bids_are_compensated_in_each_class() {
    let mut world = sold(policy(), 2, 2);
    let small = bid(&world, &[(2, 50)], 5);
    let of_large = in_large(&mut world, |world| bid(world, &[(2, 90)], 5));
    let orders = world.bids(&[(4, small), (4, of_large)]);
    world.until(16);
    for (seller, order) in [1, 2].into_iter().zip(&orders) {
        let lease = world.lease_of(order);
        world.deliver(seller, lease);
    }
    // They run at their reserves, 20 and 40 a slot, and have run one full slot at 24.
    world.until(25);
    assert_eq!(
        (world.account(1), world.account(2)),
        (START + 20, START + 40)
    );
    let buy = group(&world, 1, 1, 1_000);
    // At 28 half of the slot is left. One unit of each class is displaced: it cost 10 (20), and
    // half of it comes back.
    let (id, effects) = decided(&mut world, 3, buy);
    let record = record(&effects).unwrap();
    assert_eq!(part(record, world.class), (50, 50));
    assert_eq!(part(record, large()), (90, 90));
    assert_eq!(record.displaced().count(), 2);
    let mut paid = money(&effects);
    paid.sort();
    let mut due = [
        (Lock, 2_000),
        (Refund, 5),
        (Refund, 10),
        (Compensation, 5),
        (Compensation, 10),
        (Charge, 70),
    ];
    due.sort();
    assert_eq!(paid, due);
    deliver_all(&mut world, &id);
    // Value displaced in a class is earned in it: 15 are left of the bid and 25 of the group; 30
    // and 45.
    world.until(32);
    assert_eq!(world.account(1), START + 20 + 40);
    assert_eq!(world.account(2), START + 40 + 75);
    world.until(40);
    assert_eq!(world.account(1), START + 60 + 10 + 50);
    assert_eq!(world.account(2), START + 115 + 20 + 90);
    assert_eq!(world.account(3), START - 15 - 70 - 140);
}

#[test]
fn the_limit_is_for_all_parts_together() {
    for (limit, served) in [(139, false), (140, true)] {
        let mut world = sold(policy(), 1, 1);
        let small = bid(&world, &[(1, 50)], 5);
        let of_large = in_large(&mut world, |world| bid(world, &[(1, 90)], 5));
        world.bids(&[(4, small), (4, of_large)]);
        world.until(17);
        let buy = group(&world, 1, 1, limit);
        let (id, effects) = decided(&mut world, 3, buy);
        let ended = order_ends(&effects).contains(&(id, OrderEnd::TooDear));
        assert_eq!((record(&effects).is_some(), ended), (served, !served));
    }
}

/// The classes' buys of members 1 and 2 fill them both.
fn full(small: u32) -> (World, [OrderId; 2]) {
    let policy = Policy {
        buy: BuyPolicy {
            surcharge_ppm: 200_000,
        },
        ..policy()
    };
    let mut world = sold(policy, small, 1);
    let first = world.buy(4, small, 4, 30 * u64::from(small));
    let second = in_large(&mut world, |world| world.buy(4, 1, 4, 50));
    let orders = [&first, &second].map(|buy| order(&buy.id()));
    world.all(vec![first, second]);
    for (seller, order) in [1, 2].into_iter().zip(&orders) {
        let lease = world.lease_of(order);
        world.deliver(seller, lease);
    }
    (world, orders)
}

#[test]
fn one_surcharge_pays_for_evictions_in_all_classes() {
    // At 16 a full slot has been paid, and three are to come: 120 and 200. A fifth on top.
    for (surcharge, served) in [(63, false), (64, true)] {
        let (mut world, held) = full(1);
        world.until(14);
        let mut buy = group(&world, 1, 1, 80);
        buy.surcharge = credits(surcharge);
        let (id, effects) = decided(&mut world, 3, buy);
        let evicted = order_ends(&effects);
        let gone = held.map(|order| evicted.contains(&(order, OrderEnd::Evicted)));
        assert_eq!(gone, [served; 2], "{effects:?}");
        assert_eq!(world.state.order(&id).is_some(), served);
        if let Some(record) = record(&effects) {
            let due = record.evicted().map(|e| e.surcharge.micros());
            assert_eq!(due.sum::<u64>(), surcharge);
            assert_eq!(record.parts.len(), 2);
        }
    }
}

#[test]
fn a_group_is_never_evicted() {
    let (mut world, _) = full(1);
    world.until(14);
    let mut buy = group(&world, 1, 1, 80);
    (buy.slots, buy.surcharge) = (4, credits(100));
    let (id, _) = decided(&mut world, 3, buy);
    deliver_all(&mut world, &id);
    // It lies wholly on the units of no class; so nobody can take its unit of one.
    let mut other = world.one(1, 100);
    other.surcharge = credits(10_000);
    let (other, effects) = send(&mut world, 4, other);
    assert_eq!(order_ends(&effects), [(other, OrderEnd::NoUnits)]);
    let both = {
        let mut buy = group(&world, 1, 1, 200);
        buy.surcharge = credits(10_000);
        buy
    };
    let short = both.parts[0].class;
    let (both, effects) = decided(&mut world, 4, both);
    assert_eq!(order_ends(&effects), [(both, OrderEnd::Short(short))]);
    assert!(world.state.order(&id).is_some());
}

/// So many buys wait for more small units than there are; then a group, whose large unit a bid
/// takes before it.
fn behind(before: usize) -> bool {
    let mut world = sold(policy(), 2, 1);
    let held = in_large(&mut world, |world| world.buy(4, 1, 1, 50));
    world.all(vec![held.clone()]);
    let lease = world.lease_of(&order(&held.id()));
    world.deliver(2, lease);
    for _ in 0..before {
        let mut vain = world.one(1, 100);
        (vain.parts[0].units, vain.stands_until) = (3, 100);
        vain.work.0[0] = world.fresh() as u8;
        send(&mut world, 1, vain);
    }
    // Of one round the beacon would say who is first.
    let calendar = world.state.calendar();
    let last = calendar.last_of_round(calendar.round(world.state.height()));
    if world.state.height() < last {
        world.until(last);
    }
    let mut buy = group(&world, 1, 1, 200);
    buy.stands_until = 100;
    let (id, _) = send(&mut world, 3, buy);
    let of_large = in_large(&mut world, |world| bid(world, &[(1, 90)], 5));
    let bids = world.bids(&[(4, of_large)]);
    world.until(24);
    assert_eq!(
        world.state.order(&bids[0]).unwrap().lease.is_none(),
        before < 2
    );
    world.state.order(&id).unwrap().lease.is_some()
}

#[test]
fn a_group_displaces_only_if_it_is_among_the_first_of_each_class() {
    assert!(behind(1));
    assert!(!behind(2));
}

#[test]
fn a_failing_seller_ends_the_whole_lease() {
    let mut world = sold(policy(), 1, 1);
    let buy = group(&world, 1, 1, 80);
    let (id, _) = send(&mut world, 3, buy);
    world.until(12);
    deliver_all(&mut world, &id);
    let lease = world.lease_of(&id);
    let fail = world.by(2, EntryBody::Fail { lease });
    let effects = world.all(vec![fail]);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::NoUnits)]);
    // 40 for half a slot; one height of its four is left.
    assert!(
        money(&effects).contains(&(Refund, 10)),
        "{:?}",
        money(&effects)
    );
    for class in [world.class, large()] {
        assert_eq!(world.state.supply(&class).1, 1, "free again");
    }
}
