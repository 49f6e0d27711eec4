//! Posted prices against a restatement of their rule, unit by unit.

use crate::support::Dice;
use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::posted::{
    Award, Error, Input, Missing, Offer, Order, Outcome, Posted, UNITS_MAX, clear,
};
use proptest::prelude::*;

fn market(dice: &mut Dice, offers: u64, orders: u64) -> Input<u64, u64> {
    let offer = |id: u64| Offer {
        id: id * 5 % 8 + 8 * id,
        units: dice.below(5) as u32,
        price: dice.below(4) * 7,
    };
    let offers = (0..offers).map(offer).collect();
    let order = |id: u64| Order {
        id: id * 3 % 16 + 16 * id,
        time: dice.below(4),
        units: dice.within(1, 6) as u32,
        limit: dice.below(5) * 7,
    };
    let orders = (0..orders).map(order).collect();
    Input {
        offers,
        left_out: 0,
        orders,
    }
}

/// The units are on a table, each with its price. One buyer after the other picks up the cheapest
/// it may.
fn oracle(input: &Input<u64, u64>) -> Outcome<u64, u64> {
    let mut table: Vec<(u64, u64)> = Vec::new();
    for offer in &input.offers {
        for _ in 0..offer.units {
            table.push((offer.price, offer.id));
        }
    }
    let mut queue: Vec<&Order<u64>> = input.orders.iter().collect();
    let (mut awards, mut refused) = (Vec::new(), Vec::new());
    while !queue.is_empty() {
        let mut next = 0;
        for at in 1..queue.len() {
            if (queue[at].time, queue[at].id) < (queue[next].time, queue[next].id) {
                next = at;
            }
        }
        let order = queue.remove(next);
        let wanted = order.units as usize;
        if table.len() + (input.left_out as usize) < wanted {
            refused.push((order.id, Missing::Units));
            continue;
        }
        table.sort_unstable();
        if table.len() < wanted || table[wanted - 1].0 > order.limit {
            refused.push((order.id, Missing::Price));
            continue;
        }
        let picked: Vec<(u64, u64)> = table.drain(..wanted).collect();
        let mut taken: Vec<(u64, u32)> = Vec::new();
        let mut ids: Vec<u64> = picked.iter().map(|unit| unit.1).collect();
        ids.sort_unstable();
        for id in ids {
            match taken.last_mut() {
                Some(last) if last.0 == id => last.1 += 1,
                _ => taken.push((id, 1)),
            }
        }
        awards.push(Award {
            id: order.id,
            taken,
            pay: picked.iter().map(|unit| u128::from(unit.0)).sum(),
        });
    }
    Outcome { awards, refused }
}

/// Whether every unit on the list, up to the first one of the last offer, has a buyer of its own
/// whose limit covers it.
fn is_paid_for(input: &Input<u64, u64>) -> bool {
    let last = input.offers.len();
    let rows = input.offers.iter().zip(1..);
    let units = rows.map(|(o, n)| (o.price, if n < last { o.units } else { o.units.min(1) }));
    let mut limits = Vec::new();
    for order in &input.orders {
        limits.extend((0..order.units).map(|_| order.limit));
    }
    for (price, units) in units.collect::<Vec<_>>().into_iter().rev() {
        for _ in 0..units {
            let richest = limits.iter().enumerate().max_by_key(|(_, limit)| **limit);
            match richest {
                Some((n, limit)) if *limit >= price => limits.swap_remove(n),
                _ => return false,
            };
        }
    }
    true
}

proptest! {
    #[test]
    fn the_rule_is_what_happens_at_a_table(seed: u64, offers in 0u64..7, orders in 0u64..12) {
        let input = market(&mut Dice(seed), offers, orders);
        let outcome = clear(&input).unwrap();
        prop_assert_eq!(&outcome, &oracle(&input));
        prop_assert_eq!(Posted::<u64>::audit(&input, &outcome), Ok(()));
    }

    #[test]
    fn offers_that_no_order_reaches_change_nothing(seed: u64, offers in 0u64..9, orders in 0u64..9) {
        let input = market(&mut Dice(seed), offers, orders);
        let mut short = input.clone();
        short.shorten();
        let outcome = clear(&short).unwrap();
        prop_assert_eq!(&outcome, &clear(&input).unwrap());
        prop_assert_eq!(&outcome, &oracle(&short));
        prop_assert_eq!(Posted::<u64>::audit(&short, &outcome), Ok(()));
        let mut again = short.clone();
        again.shorten();
        prop_assert_eq!(&again, &short);
        // The cheapest offers are there, and the units of all others are counted.
        let mut all = input.offers.clone();
        all.sort_unstable_by_key(|offer| (offer.price, offer.id));
        let (stay, go) = all.split_at(short.offers.len());
        prop_assert_eq!(stay, &short.offers[..]);
        prop_assert_eq!(go.iter().map(|offer| offer.units).sum::<u32>(), short.left_out);
        prop_assert!(is_paid_for(&short));
    }

    #[test]
    fn who_came_later_takes_nothing_from_who_came_before(seed: u64, orders in 1u64..10) {
        let dice = &mut Dice(seed);
        let mut input = market(dice, 5, orders);
        let before = clear(&input).unwrap();
        let late = Order { id: 1_000, time: 9, units: dice.within(1, 9) as u32, limit: u64::MAX };
        input.orders.push(late);
        let after = clear(&input).unwrap();
        prop_assert_eq!(&after.awards[..before.awards.len()], &before.awards[..]);
    }

    #[test]
    fn a_higher_limit_never_costs_more(seed: u64, orders in 1u64..10) {
        let dice = &mut Dice(seed);
        let input = market(dice, 5, orders);
        let mut bold = input.clone();
        let at = dice.below(orders) as usize;
        bold.orders[at].limit = u64::MAX;
        let id = bold.orders[at].id;
        let (careful, bold) = (clear(&input).unwrap(), clear(&bold).unwrap());
        if let Some(award) = careful.awards.iter().find(|award| award.id == id) {
            prop_assert!(bold.awards.contains(award));
        }
    }

    #[test]
    fn an_audit_finds_what_is_wrong(seed: u64, orders in 2u64..10) {
        let dice = &mut Dice(seed);
        let input = market(dice, 5, orders);
        let outcome = clear(&input).unwrap();
        let mut lie = outcome.clone();
        match (lie.awards.is_empty(), dice.below(3)) {
            (true, _) => drop(lie.refused.pop()),
            (false, 0) => lie.awards[0].pay += 1,
            (false, 1) => {
                let id = lie.awards.pop().unwrap().id;
                lie.refused.push((id, Missing::Price));
            }
            (false, _) => lie.awards[0].taken[0].1 += 1,
        }
        prop_assert!(Posted::<u64>::audit(&input, &lie).is_err());
    }
}

#[test]
fn what_is_no_market_is_refused() {
    let good = || Input {
        offers: vec![Offer {
            id: 1u64,
            units: 2,
            price: 3,
        }],
        left_out: 0,
        orders: vec![Order {
            id: 7u64,
            time: 0,
            units: 2,
            limit: 3,
        }],
    };
    assert_eq!(clear(&good()).unwrap().awards[0].pay, 6);
    let with = |change: fn(&mut Input<u64, u64>)| {
        let mut input = good();
        change(&mut input);
        clear(&input).unwrap_err()
    };
    assert_eq!(with(|i| i.orders[0].units = 0), Error::OrderUnits(7));
    assert_eq!(
        with(|i| i.orders[0].units = UNITS_MAX + 1),
        Error::OrderUnits(7)
    );
    assert_eq!(
        with(|i| i.offers[0].units = UNITS_MAX + 1),
        Error::OfferUnits(1)
    );
    assert_eq!(
        with(|i| i.offers.push(i.offers[0].clone())),
        Error::DuplicateOffer(1)
    );
    assert_eq!(
        with(|i| i.orders.push(i.orders[0].clone())),
        Error::DuplicateOrder(7)
    );
}
