//! Leases on offers with uneven reserves: when they lose units, the rest must stay paid.

use crate::model::{Dice, check_pots};
use crate::trade::{bid, money};
use crate::world::{World, policy};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{LeaseId, OrderId};
use gridbay_protocol::payment::{Purse, Reason};
use std::collections::BTreeMap;

const START: i128 = 1_000_000;

/// Member 2 runs a unit of member 1 (reserve 0) and one of member 4 (reserve 100) from height 17
/// on, alone, at 100 a slot.
fn uneven_lease() -> (World, OrderId) {
    let mut world = World::new();
    let offers = vec![
        world.offer(1, 1, 1, 0, Some(1)),
        world.offer(4, 1, 1, 100, Some(100)),
    ];
    world.all(offers);
    world.until(9);
    let two = bid(&world, &[(1, 200), (1, 110)], 5);
    let orders = world.bids(&[(2, two)]);
    let effects = world.until(16);
    assert_eq!(money(&effects), [(Reason::Charge, 100)]);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    world.deliver(4, lease);
    (world, orders[0])
}

fn earned(world: &World, seller: u8) -> i128 {
    world.account(seller) - START
}

#[test]
fn a_buy_of_the_cheap_unit_leaves_the_dear_one_paid() {
    let (mut world, order) = uneven_lease();
    // Height 19, 5 of 8 heights left. The unit without a reserve cost nothing: the 100 are for the
    // other one. The buy displaces a unit worth 110.
    let buy = world.buy(3, 1, 1, 10_000);
    let effects = world.all(vec![buy]);
    assert_eq!(
        money(&effects),
        [(Reason::Lock, 20_000), (Reason::Charge, 69)]
    );
    let lease = world.state.lease(&world.lease_of(&order)).unwrap();
    assert_eq!(lease.shares[0].offer, world.offer_of(4, 1));
    assert_eq!(lease.units(), 1);
    // The buy's lease was not acknowledged; its money comes back.
    world.until(24);
    assert_eq!((earned(&world, 1), earned(&world, 4)), (0, 100));
}

#[test]
fn a_buy_with_money_above_the_reserves_refunds_only_that() {
    let mut world = World::new();
    let offers = vec![
        world.offer(1, 1, 1, 0, Some(1)),
        world.offer(4, 1, 1, 100, Some(100)),
    ];
    world.all(offers);
    world.until(9);
    let two = bid(&world, &[(1, 200), (1, 110)], 5);
    let three = bid(&world, &[(1, 108)], 1);
    let orders = world.bids(&[(2, two), (3, three)]);
    // Member 3 would have taken one unit at 108, the other would have gone back at 100: 108 + 100 -
    // 0 for two.
    let effects = world.until(16);
    let charged: Vec<_> = money(&effects);
    assert_eq!(charged, [(Reason::Charge, 208)]);
    let lease = world.lease_of(&orders[0]);
    world.deliver(1, lease);
    world.deliver(4, lease);
    // Height 19: the half of 208 leaves 104, which is enough. 5/8 of 104 come back.
    let buy = world.buy(3, 1, 1, 10_000);
    let effects = world.all(vec![buy]);
    assert!(money(&effects).contains(&(Reason::Refund, 65)));
    world.until(24);
    // 143 are left. Floors: 0 and 100. Weights: earnings of 104 each, less reserves, for 3 and 8 of
    // 8 heights: 39 and 4.
    assert_eq!((earned(&world, 1), earned(&world, 4)), (39, 104));
}

/// Every seller acknowledges every lease.
fn deliver_all(world: &mut World) {
    let leases: Vec<LeaseId> = world.state.leases().map(|(id, _)| *id).collect();
    let words = leases.iter().flat_map(|lease| {
        let deliver = EntryBody::Deliver { lease: *lease };
        (1..=4).map(move |n| (n, deliver.clone()))
    });
    let words = words.map(|(n, body)| world.by(n, body));
    let words = words.filter(|entry| world.state.admit(entry).is_ok());
    let words = words.collect();
    world.all(words);
}

/// The least that sellers must have earned at a boundary: all sold units were delivered, so no less
/// than the reserves of the unit-heights that they served, each part rounded down.
fn due(world: &World) -> BTreeMap<Purse, u64> {
    let mut due = BTreeMap::new();
    for pot in world.state.pots() {
        for stake in &pot.stakes {
            for part in &stake.parts {
                let sold = pot.sold.iter().find(|s| s.offer == part.offer).unwrap();
                let heights = part.stopped.map_or(pot.heights, |s| s.served);
                let whole = sold.reserve * u64::from(part.units) * heights;
                *due.entry(Purse::Account(sold.seller)).or_default() += whole / pot.heights;
            }
        }
    }
    due
}

/// The earnings of a purse by these effects.
fn earned_by(effects: &[Effect], purse: &Purse) -> u64 {
    let earning = |effect: &Effect| match effect {
        Effect::Posting(p) if p.reason == Reason::Earning && p.to == *purse => p.amount.micros(),
        _ => 0,
    };
    effects.iter().map(earning).sum()
}

/// One slot of dear and cheap units in few leases, which buys take apart. How often a lease with
/// uneven reserves lost a part of its units.
fn dismantled(seed: u64) -> usize {
    let mut policy = policy();
    policy.delivery_heights = 40;
    let mut world = World::with(policy);
    let mut dice = Dice(seed);
    let mut offers = vec![];
    for label in 0..5 {
        let reserve = [0, dice.below(30), 70 + dice.below(60)][dice.below(3) as usize];
        let seller = [1, 4][dice.below(2) as usize];
        let units = dice.below(2) as u32 + 1;
        offers.push(world.offer(seller, label, units, reserve, Some(reserve + dice.below(3))));
    }
    world.all(offers);
    world.until(9);
    let mut some_bid = || {
        let high = 220 + dice.below(40);
        let low = 90 + dice.below(110);
        bid(&world, &[(1 + dice.below(2) as u32, high), (2, low)], 9)
    };
    let bids = [(2, some_bid()), (3, some_bid())];
    world.bids(&bids);
    world.until(16);
    deliver_all(&mut world);
    let mut losses = 0;
    while world.state.height() < 23 {
        let buyer = dice.below(4) as u8 + 1;
        let buy = world.buy(
            buyer,
            dice.below(2) as u32 + 1,
            1,
            2_000 + world.state.height(),
        );
        let before = world.state.clone();
        let effects = world.all(vec![buy]);
        check_pots(&world);
        for lease in effects.iter().flat_map(|e| match e {
            Effect::Buy(buy) => buy.displaced().collect(),
            _ => vec![],
        }) {
            let shares = before.lease(&lease).unwrap().shares.iter();
            let mut reserves: Vec<_> = shares
                .map(|s| before.offer(&s.offer).unwrap().terms.reserve)
                .collect();
            reserves.dedup();
            losses += usize::from(reserves.len() > 1 && world.state.lease(&lease).is_some());
        }
        if world.state.height() < 23 {
            deliver_all(&mut world);
        }
    }
    let due = due(&world);
    let effects = world.until(24);
    for (seller, due) in due {
        let earned = earned_by(&effects, &seller);
        assert!(
            earned >= due,
            "seed {seed}: {seller:?} earned {earned} of {due}"
        );
    }
    check_pots(&world);
    assert_eq!(world.model.values().sum::<i128>(), 4_000_000);
    losses
}

#[test]
fn sellers_get_their_reserves_whatever_buys_take_apart() {
    let losses: usize = (0..60).map(dismantled).sum();
    assert!(losses >= 20, "only {losses} uneven losses");
}
