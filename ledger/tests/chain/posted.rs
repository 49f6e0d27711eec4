//! Hires at posted prices. Heights and balances as in `market`: rounds of 4, slots of 8.

use crate::model::{Dice, check_pots};
use crate::trade::{START, bid, clearings, lease_ends, money, moved, order, order_ends, terms};
use crate::world::{World, key};
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::{ClassId, Hash32, OfferId, OrderId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::order::{Flaw, Hire};
use gridbay_protocol::payment::Reason;
use gridbay_protocol::record::posted::PostedRecord;
use gridbay_protocol::stage::{Authentic, Malformed, WellFormed};
use gridbay_protocol::units::Price;
use std::collections::BTreeMap;
use std::sync::Arc;

impl World {
    fn posts(&self, n: u8, label: u32, units: u32, price: u64) -> Arc<Authentic> {
        let mut terms = terms(self, label, units, price, None);
        terms.mechanism = Primary::Posted;
        self.by(n, EntryBody::SetOffer(terms))
    }
    fn hire(&self, n: u8, units: u32, slots: u32, limit: u64) -> Arc<Authentic> {
        self.by(n, EntryBody::Posted(hire(self.class, units, slots, limit)))
    }
    /// A hire that is the only entry of its block.
    fn hires(&mut self, n: u8, units: u32, slots: u32, limit: u64) -> (OrderId, Vec<Effect>) {
        let hire = self.hire(n, units, slots, limit);
        (order(&hire.id()), self.all(vec![hire]))
    }
}

fn hire(class: ClassId, units: u32, slots: u32, limit: u64) -> Hire {
    Hire {
        class,
        units,
        slots,
        limit: Price(limit),
        work: Hash32([5; 32]),
    }
}

/// Member 1 posts two units at 10, member 4 one at 20; the next height is 5.
fn shop() -> World {
    let mut world = World::new();
    let offers = vec![world.posts(1, 1, 2, 10), world.posts(4, 1, 1, 20)];
    world.all(offers);
    world.until(4);
    world
}

fn records(effects: &[Effect]) -> Vec<PostedRecord> {
    let record = |effect: &Effect| match effect {
        Effect::Posted(record) => Some(record.clone()),
        _ => None,
    };
    effects.iter().filter_map(record).collect()
}

#[test]
fn who_comes_first_takes_the_cheapest_and_pays_what_was_posted() {
    let mut world = shop();
    // Height 5, 3 of 8 heights left: ceil(10 * 3 / 8). Two slots and the rest of this one are
    // locked at the limit.
    let (first, effects) = world.hires(2, 1, 2, 20);
    assert_eq!(money(&effects), [(Reason::Lock, 60), (Reason::Charge, 4)]);
    // Height 6: one unit is left at 10, and one at 20.
    let (second, effects) = world.hires(3, 2, 1, 20);
    assert_eq!(money(&effects), [(Reason::Lock, 80), (Reason::Charge, 8)]);
    let record = &records(&effects)[0];
    assert_eq!(
        (record.offers.len(), record.served[0].price.micros()),
        (2, 30)
    );
    assert_eq!(record.serve().served, record.served);
    // Nothing is left: a late buyer would pay anything, and gets nothing.
    let (third, effects) = world.hires(2, 1, 1, 1_000);
    assert_eq!(order_ends(&effects), [(third, OrderEnd::NoUnits)]);
    assert!(records(&effects)[0].served.is_empty());
    let leases = [world.lease_of(&first), world.lease_of(&second)];
    for lease in leases {
        let entry = world.by(1, EntryBody::Deliver { lease });
        world.all(vec![entry]);
    }
    world.deliver(4, leases[1]);
    // Height 10, in the second slot: the sellers have what was charged for the first, except for
    // what was not acknowledged by its end.
    world.until(16);
    let second_slot = world.state.lease(&leases[0]);
    assert_eq!(second_slot.map(|lease| lease.paid.micros()), Some(10));
    assert!(
        world.state.lease(&leases[1]).is_none(),
        "one slot was asked for"
    );
    let effects = world.until(24);
    assert_eq!(lease_ends(&effects), [(first, LeaseEnd::Expired)]);
    assert_eq!(order_ends(&effects), [(first, OrderEnd::Served)]);
    let paid = [2, 3].map(|n| START - world.account(n));
    assert_eq!(paid[0], 4 + 10 + 10);
    let earned = [1, 4].map(|n| world.account(n) - START);
    assert_eq!(earned.iter().sum::<i128>(), paid.iter().sum());
    assert!(
        earned[1] >= 20,
        "the dear unit earns what it posted: {earned:?}"
    );
    assert_eq!(world.state.orders().count(), 0);
    assert_eq!(world.state.audit(), Ok(()));
}

#[test]
fn in_one_block_the_order_of_entry_decides() {
    let mut world = World::new();
    let offer = world.posts(1, 1, 1, 10);
    world.all(vec![offer]);
    world.until(4);
    let entries: Vec<_> = [2, 3, 4].map(|n| world.hire(n, 1, 1, 10)).to_vec();
    let effects = world.all(entries);
    let record = &records(&effects)[0];
    assert_eq!((record.bids.len(), record.served.len()), (3, 1));
    assert_eq!(record.served[0].order, record.bids[0].order);
    let ends = order_ends(&effects);
    let lost: Vec<OrderId> = record.bids[1..].iter().map(|bid| bid.order).collect();
    assert_eq!(ends.iter().map(|end| end.0).collect::<Vec<_>>(), lost);
    assert!(ends.iter().all(|end| end.1 == OrderEnd::NoUnits));
    assert_eq!(record.serve().served, record.served);
}

#[test]
fn a_hire_makes_no_record_longer_than_it_could_pay_for() {
    let mut world = shop();
    let listed = |effects: &[Effect]| {
        let record = records(effects).remove(0);
        (record.offers.len(), record.left_out)
    };
    // Nothing is locked, and nothing is listed; that there are units is known all the same.
    let (id, effects) = world.hires(2, 3, 1, 0);
    assert_eq!(listed(&effects), (0, 3));
    assert_eq!(order_ends(&effects), [(id, OrderEnd::TooDear)]);
    let (id, effects) = world.hires(2, 4, 1, 0);
    assert_eq!(listed(&effects), (0, 3));
    assert_eq!(order_ends(&effects), [(id, OrderEnd::NoUnits)]);
    // The first offer is enough for one unit, also if others ask for more and would pay nothing.
    let entries = vec![world.hire(3, 1, 1, 20), world.hire(2, 4_000, 1, 0)];
    let effects = world.all(entries);
    assert_eq!(listed(&effects), (1, 1));
    assert_eq!(records(&effects)[0].served.len(), 1);
}

#[test]
fn in_the_last_block_of_a_round_the_time_behind_it_is_sold() {
    // At 8 a slot ends: the whole next slot is sold, and is all that was asked for.
    let mut world = shop();
    world.until(7);
    let (id, effects) = world.hires(2, 1, 1, 10);
    assert_eq!(world.state.height(), 8);
    assert_eq!(money(&effects), [(Reason::Lock, 20), (Reason::Charge, 10)]);
    let lease = world.lease_of(&id);
    let held = world.state.lease(&lease).unwrap();
    assert_eq!(
        (held.slot, held.firm_through, held.slots_run),
        (1, Some(1), 0)
    );
    world.deliver(1, lease);
    let effects = world.until(16);
    assert_eq!(
        money(&effects),
        [(Reason::Earning, 10), (Reason::Release, 10)]
    );
    assert_eq!(order_ends(&effects), [(id, OrderEnd::Served)]);
    // At 20 only a round ends: half of the slot is left.
    world.until(19);
    let (id, effects) = world.hires(3, 1, 1, 10);
    assert_eq!(money(&effects), [(Reason::Lock, 20), (Reason::Charge, 5)]);
    let lease = world.lease_of(&id);
    assert_eq!(world.state.lease(&lease).unwrap().firm_through, Some(3));
    assert_eq!(world.state.audit(), Ok(()));
}

#[test]
fn what_is_posted_is_sold_in_no_other_way_and_nothing_else_is_hired() {
    let mut world = shop();
    let two = bid(&world, &[(2, 50)], 5);
    let bids = world.bids(&[(2, two)]);
    let effects = world.until(16);
    assert_eq!(
        (clearings(&effects), lease_ends(&effects)),
        (vec![], vec![])
    );
    assert!(world.state.order(&bids[0]).unwrap().lease.is_none());
    let buy = world.buy(3, 1, 1, 1_000);
    let ended = (order(&buy.id()), OrderEnd::NoUnits);
    let mut effects = world.all(vec![buy]);
    if order_ends(&effects).is_empty() {
        effects = world.until(20);
    }
    assert_eq!(order_ends(&effects), [ended]);
    // An auctioned unit is nobody's to hire.
    let offer = world.offer(4, 1, 1, 20, Some(30));
    world.all(vec![offer]);
    let cancel = world.by(2, EntryBody::Cancel { order: bids[0] });
    world.all(vec![cancel]);
    world.until(24);
    let (id, effects) = world.hires(3, 3, 1, 1_000);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::NoUnits)]);
    assert_eq!(world.account(3), START);
}

#[test]
fn an_offer_that_turns_to_the_auction_sells_what_is_not_hired() {
    let mut world = shop();
    let (id, _) = world.hires(3, 1, 9, 10);
    let hired = world.lease_of(&id);
    world.deliver(1, hired);
    let turned = world.offer(1, 1, 2, 10, None);
    world.all(vec![turned]);
    world.until(9);
    let two = bid(&world, &[(2, 50)], 5);
    let bids = world.bids(&[(2, two)]);
    world.until(16);
    assert_eq!(
        world
            .state
            .lease(&world.lease_of(&bids[0]))
            .unwrap()
            .units(),
        1
    );
    assert_eq!(world.state.lease(&hired).unwrap().units(), 1);
    assert_eq!(world.state.lease(&hired).unwrap().paid.micros(), 10);
    assert_eq!(world.state.audit(), Ok(()));
}

#[test]
fn a_seller_who_posts_another_price_changes_no_lease() {
    let mut world = shop();
    let (id, _) = world.hires(2, 1, 3, 10);
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    let dear = world.posts(1, 1, 2, 15);
    world.all(vec![dear]);
    // Height 8 is the last at which the old price holds.
    let (late, effects) = world.hires(3, 1, 1, 10);
    assert_eq!(moved(&effects, Reason::Charge), [10, 10]);
    let late = world.lease_of(&late);
    world.deliver(1, late);
    let (id, effects) = world.hires(4, 1, 1, 10);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::TooDear)]);
    world.until(24);
    assert_eq!(world.state.lease(&lease).unwrap().paid.micros(), 10);
    world.until(32);
    assert!(world.state.lease(&lease).is_none());
    assert_eq!(START - world.account(2), 4 + 3 * 10);
}

#[test]
fn a_withdrawn_offer_sells_until_its_round_is_over_and_keeps_its_leases() {
    let mut world = shop();
    let withdraw = world.by(1, EntryBody::WithdrawOffer { label: 1 });
    world.all(vec![withdraw]);
    let (id, _) = world.hires(2, 1, 2, 10);
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    world.until(8);
    let (late, effects) = world.hires(3, 1, 1, 10);
    let too_dear = [(late, OrderEnd::TooDear)];
    assert_eq!(order_ends(&effects), too_dear, "the other asks 20");
    world.until(16);
    assert_eq!(world.state.lease(&lease).unwrap().paid.micros(), 10);
    world.until(24);
    assert!(world.state.lease(&lease).is_none());
    let gone = world.state.offer(&world.offer_of(1, 1));
    assert!(gone.is_none(), "nothing holds it");
    assert_eq!(START - world.account(2), 3 + 2 * 10);
}

#[test]
fn who_cancels_pays_for_the_slot_and_who_is_not_served_for_none() {
    let mut world = shop();
    let (id, _) = world.hires(2, 1, 9, 10);
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    let cancel = world.by(2, EntryBody::Cancel { order: id });
    world.all(vec![cancel]);
    let effects = world.until(8);
    assert_eq!(lease_ends(&effects), [(id, LeaseEnd::Exit)]);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::Cancelled)]);
    assert_eq!(START - world.account(2), 4);
    // A seller that does not deliver earns nothing, and the order ends as one without units.
    let (id, _) = world.hires(3, 1, 9, 10);
    let effects = world.until(15);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::NoUnits)]);
    world.until(16);
    assert_eq!(world.account(3), START);
    assert_eq!(world.state.audit(), Ok(()));
}

#[test]
fn hires_that_make_no_sense_are_refused() {
    let mut world = shop();
    let bad = |units, slots, limit, flaw| {
        let entry = Entry {
            network: world.network,
            account: world.member(2),
            key: key(2).public(),
            valid_until: 50,
            body: EntryBody::Posted(hire(world.class, units, slots, limit)),
        };
        let formed = WellFormed::check(&world.network, SignedEntry::new(entry, &key(2)));
        let kind = "posted";
        assert_eq!(formed, Err(Malformed::Order { kind, flaw }));
    };
    bad(0, 1, 10, Flaw::Units);
    bad(4_097, 1, 10, Flaw::Units);
    bad(1, 0, 10, Flaw::Slots);
    bad(1, 1, Price::MAX.0 + 1, Flaw::Price);
    let long = world.hire(2, 1, 101, 10);
    let (slots, limit) = (101, 100);
    assert_eq!(world.refused(long), Refusal::FirmSlots { slots, limit });
    let class = ClassId([9; 32]);
    let strange = world.by(2, EntryBody::Posted(hire(class, 1, 1, 10)));
    assert_eq!(world.refused(strange), Refusal::NoClass(class));
    let dear = world.hire(2, 4_096, 100, Price::MAX.0);
    assert!(matches!(
        world.refused(dear),
        Refusal::Funds { .. } | Refusal::Overflow
    ));
    // One that names less than is posted ends as too dear, and all of its money comes back.
    let (id, effects) = world.hires(3, 1, 1, 9);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::TooDear)]);
    assert_eq!(world.account(3), START);
}

/// Random blocks of sellers that come, change and leave, and of hires, bids and buys beside one
/// another.
#[test]
fn whatever_happens_no_unit_is_sold_twice_and_money_adds_up() {
    let mut served = 0;
    for seed in 0..6 {
        let (mut world, mut dice) = (World::new(), Dice(seed));
        let mut bids: Vec<(u8, Arc<Authentic>, gridbay_protocol::order::Bid)> = Vec::new();
        for _ in 0..120 {
            let mut entries = Vec::new();
            for _ in 0..dice.below(4) {
                entries.extend(random(&world, &mut dice, &mut bids));
            }
            let effects = world.block(entries);
            for record in records(&effects) {
                let outcome = record.serve();
                assert_eq!(outcome.served, record.served);
                assert_eq!(
                    outcome.served.len() + outcome.refused.len(),
                    record.bids.len()
                );
                served += record.served.len();
            }
            check(&world);
        }
    }
    assert!(served > 30, "{served} hires were served");
}

fn random(
    world: &World,
    dice: &mut Dice,
    bids: &mut Vec<(u8, Arc<Authentic>, gridbay_protocol::order::Bid)>,
) -> Option<Arc<Authentic>> {
    let n = dice.below(4) as u8 + 1;
    let label = dice.below(2) as u32;
    let (units, price) = (dice.below(3) as u32 + 1, dice.below(4) * 5);
    match dice.below(10) {
        0 => Some(world.posts(n, label, units, price)),
        1 => Some(world.offer(n, label, units, price, Some(price + 5))),
        2 => Some(world.by(n, EntryBody::WithdrawOffer { label })),
        3 => {
            let bid = bid(world, &[(units, price + 1)], 3);
            let commit = world.commit(n, &bid, 4);
            bids.push((n, commit.clone(), bid));
            Some(commit)
        }
        4 => {
            let (n, commit, bid) = bids.pop()?;
            Some(world.open(n, &commit, &bid))
        }
        5 => Some(world.buy(n, units, 2, 100)),
        6 => {
            let orders: Vec<OrderId> = world
                .state
                .orders_of(&world.member(n))
                .map(|o| *o.0)
                .collect();
            let order = dice.pick(&orders)?;
            Some(world.by(n, EntryBody::Cancel { order }))
        }
        7 => {
            let leases: Vec<_> = world.state.leases().map(|lease| *lease.0).collect();
            let lease = dice.pick(&leases)?;
            Some(world.by(n, EntryBody::Deliver { lease }))
        }
        _ => Some(world.hire(n, units, dice.below(3) as u32 + 1, price)),
    }
}

fn check(world: &World) {
    assert_eq!(world.state.audit(), Ok(()));
    check_pots(world);
    assert_eq!(world.model.values().sum::<i128>(), 4_000_000);
    let mut held: BTreeMap<OfferId, u32> = BTreeMap::new();
    for (_, lease) in world.state.leases() {
        for share in &lease.shares {
            *held.entry(share.offer).or_default() += share.units;
        }
    }
    for (offer, units) in held {
        assert!(units <= world.state.offer(&offer).unwrap().bound);
    }
    for (id, order) in world.state.orders() {
        assert!(
            order.hire().is_none() || order.lease.is_some(),
            "{id} waits"
        );
    }
}
