//! Classes with many sellers: brute force with one phantom per offer, and what must always hold.

use std::collections::BTreeMap;

use crate::support::{Dice, Result, brute_force, in_tie_order, plain_programme};
use gridbay_protocol::mechanism::ausubel::sellers::{self, Input, Offer, Outcome};
use gridbay_protocol::mechanism::ausubel::{Bidder, Rule};

type Market = Input<u64, u64>;

/// Up to 3 sellers and 6 bidders, 1 to 12 units.
fn market(dice: &mut Dice, lumpy: u64) -> Market {
    let bound = [3, 8, 100][dice.below(3) as usize];
    let mut left = dice.within(1, 12);
    let mut offers = Vec::new();
    for id in 0..dice.within(1, 3) {
        let units = dice.below(left + 1);
        left -= units;
        offers.push(Offer {
            id,
            units: units as u32,
            held: dice.below(units + 2) as u32,
            reserve: dice.below(bound),
        });
    }
    offers[0].units += left as u32;
    let bidders = dice.within(2, 6);
    let longest = [0, 0, 8, 5, 3, 2, 2][bidders as usize];
    let bids = (0..bidders)
        .map(|id| dice.bidder(id, longest, bound, lumpy))
        .collect();
    dice.shuffle(&mut offers);
    Input {
        rule: Rule::Exact,
        switch_cost: dice.below(bound) * dice.below(2),
        offers,
        bids,
    }
}

fn clear(market: &Market) -> Outcome<u64, u64> {
    sellers::clear(market).unwrap()
}

type Oracle = fn(usize, i128, &[(usize, Vec<u64>)]) -> Result;

/// Compares with an oracle that sees real bidders, then a phantom for the held units of each offer
/// and one for its others.
fn assert_equals(oracle: Oracle, market: &Market) {
    let (ids, mut bidders) = in_tie_order(&market.bids);
    // The first to keep units in a tie sells last: dear before cheap, free before held, high ids
    // before low.
    let mut phantoms: Vec<(u64, bool, u64, u32)> = Vec::new();
    for offer in &market.offers {
        let held = offer.held.min(offer.units);
        phantoms.push((offer.reserve, false, offer.id, held));
        let ask = offer.reserve + market.switch_cost;
        phantoms.push((ask, true, offer.id, offer.units - held));
    }
    phantoms.sort_by_key(|(ask, free, id, _)| std::cmp::Reverse((*ask, *free, *id)));
    let phantom = |(ask, _, _, units): &(u64, bool, u64, u32)| (1, vec![*ask; *units as usize]);
    bidders.extend(phantoms.iter().map(phantom));
    let supply = market.offers.iter().map(|offer| offer.units).sum::<u32>() as usize;
    let oracle = oracle(supply, 0, &bidders);

    let outcome = clear(market);
    let awards: BTreeMap<u64, (usize, i128)> = outcome
        .awards
        .iter()
        .map(|a| (a.id, (a.units as usize, a.pay as i128)))
        .collect();
    for (id, expected) in ids.iter().zip(&oracle) {
        assert_eq!(
            awards.get(id).copied().unwrap_or((0, 0)),
            *expected,
            "{market:?}"
        );
    }
    let sales: BTreeMap<u64, u32> = outcome.sales.iter().map(|s| (s.offer, s.units)).collect();
    let mut kept: BTreeMap<u64, usize> = BTreeMap::new();
    for ((_, _, offer, _), (units, _)) in phantoms.iter().zip(&oracle[ids.len()..]) {
        *kept.entry(*offer).or_default() += units;
    }
    for offer in &market.offers {
        let sold = sales.get(&offer.id).copied().unwrap_or(0) as usize;
        assert_eq!(sold, offer.units as usize - kept[&offer.id], "{market:?}");
    }
}

#[test]
fn divisible_markets_equal_brute_force() {
    let mut dice = Dice(21);
    for _ in 0..10_000 {
        assert_equals(brute_force, &market(&mut dice, 0));
    }
}

#[test]
fn all_or_none_markets_equal_brute_force() {
    let mut dice = Dice(22);
    for _ in 0..2_000 {
        assert_equals(brute_force, &market(&mut dice, 50));
    }
}

#[test]
fn large_markets_equal_the_plain_programme() {
    let mut dice = Dice(25);
    for _ in 0..100 {
        let bound = [3, 20, 1000][dice.below(3) as usize];
        let longest = [4, 40][dice.below(2) as usize];
        let lumpy = [0, 20, 80][dice.below(3) as usize];
        let offer = |id| {
            let units = dice.below(50) as u32;
            Offer {
                id,
                units,
                held: dice.below(50) as u32,
                reserve: dice.below(bound),
            }
        };
        let offers = (0..5).map(offer).collect();
        let bids = (0..20)
            .map(|id| dice.bidder(id, longest, bound, lumpy))
            .collect();
        assert_equals(
            plain_programme,
            &Input {
                rule: Rule::Exact,
                switch_cost: dice.below(bound),
                offers,
                bids,
            },
        );
    }
}

/// I5 and I16 in the small.
fn assert_sound(market: &Market, outcome: &Outcome<u64, u64>) {
    let bids: BTreeMap<u64, &Bidder<u64>> = market.bids.iter().map(|b| (b.id, b)).collect();
    let offers: BTreeMap<u64, &Offer<u64>> = market.offers.iter().map(|o| (o.id, o)).collect();
    let (mut paid, mut won) = (0u128, 0u32);
    for award in &outcome.awards {
        let bid = bids[&award.id];
        let stated: u64 = bid.prices[..award.units as usize].iter().sum();
        assert!(award.pay <= u128::from(stated), "above the bid: {market:?}");
        assert!(award.units >= bid.min.max(1));
        paid += award.pay;
        won += award.units;
    }
    let (mut earned, mut sold) = (0u128, 0u32);
    for sale in &outcome.sales {
        let offer = offers[&sale.offer];
        assert!(0 < sale.units && sale.units <= offer.units);
        let least = u128::from(offer.reserve) * u128::from(sale.units);
        assert!(sale.earned >= least, "below the reserve: {market:?}");
        earned += sale.earned;
        sold += sale.units;
    }
    assert_eq!((paid, won), (earned, sold), "{market:?}");
    assert_eq!(paid, outcome.revenue);
    assert_cheapest(market, outcome);
}

/// The units sold are those asked the least for, and a unit that somebody holds goes before one
/// that nobody holds unless that is cheaper, by more than the switch cost.
fn assert_cheapest(market: &Market, outcome: &Outcome<u64, u64>) {
    let sold: BTreeMap<u64, u32> = outcome.sales.iter().map(|s| (s.offer, s.units)).collect();
    let sold = |offer: &Offer<u64>| sold.get(&offer.id).copied().unwrap_or(0);
    let held = |offer: &Offer<u64>| offer.held.min(offer.units);
    let mut dearest_sold = None;
    let mut cheapest_kept = None;
    for offer in &market.offers {
        let (sold, held) = (sold(offer), held(offer));
        let ask = |unit: u32| offer.reserve + market.switch_cost * u64::from(unit >= held);
        if sold > 0 {
            let last = (ask(sold - 1), sold > held, offer.id);
            dearest_sold = dearest_sold.max(Some(last));
        }
        if sold < offer.units {
            let next = (ask(sold), sold >= held, offer.id);
            let cheaper = |kept: (u64, bool, u64)| kept.min(next);
            cheapest_kept = Some(cheapest_kept.map_or(next, cheaper));
        }
    }
    if let (Some(sold), Some(kept)) = (dearest_sold, cheapest_kept) {
        assert!(sold <= kept, "{market:?}: {outcome:?}");
    }
    for left in market.offers.iter().filter(|o| sold(o) < held(o)) {
        for taken in market.offers.iter().filter(|o| sold(o) > held(o)) {
            let nearly_as_dear = taken.reserve + market.switch_cost >= left.reserve;
            assert!(!nearly_as_dear, "moved for too little: {market:?}");
        }
    }
}

#[test]
fn paid_equals_earned_under_every_rule() {
    let mut dice = Dice(23);
    for _ in 0..10_000 {
        let mut market = market(&mut dice, 50);
        for rule in [Rule::Exact, Rule::Floor, Rule::Paper] {
            market.rule = rule;
            assert_sound(&market, &clear(&market));
        }
    }
}

#[test]
fn the_order_of_offers_and_bids_does_not_matter() {
    let mut dice = Dice(24);
    for _ in 0..1_000 {
        let mut market = market(&mut dice, 30);
        market.rule = [Rule::Exact, Rule::Floor, Rule::Paper][dice.below(3) as usize];
        let outcome = clear(&market);
        dice.shuffle(&mut market.offers);
        dice.shuffle(&mut market.bids);
        assert_eq!(clear(&market), outcome);
    }
}

#[test]
fn a_seller_keeps_units_nobody_pays_the_reserve_for() {
    let offers = vec![
        Offer {
            id: 1,
            units: 2,
            held: 0,
            reserve: 10,
        },
        Offer {
            id: 2,
            units: 2,
            held: 0,
            reserve: 30,
        },
    ];
    let bids = vec![Bidder {
        id: 9,
        time: 0,
        min: 0,
        prices: vec![50, 40, 20],
        sponsor: None,
    }];
    let outcome = clear(&Input {
        rule: Rule::Exact,
        switch_cost: 0,
        offers,
        bids,
    });
    assert_eq!((outcome.awards[0].units, outcome.awards[0].pay), (2, 20));
    assert_eq!((outcome.sales.len(), outcome.sales[0].earned), (1, 20));
}

#[test]
fn a_running_job_moves_only_for_more_than_the_switch_cost() {
    // Offer 3 is held and asks 10, offer 2 is not and asks less, or as much.
    let outcome = |cheaper: u64, switch_cost: u64, price: u64| {
        let offer = |id, held, reserve| Offer {
            id,
            units: 1,
            held,
            reserve,
        };
        clear(&Input {
            rule: Rule::Exact,
            switch_cost,
            offers: vec![offer(3, 1, 10), offer(2, 0, 10 - cheaper)],
            bids: vec![Bidder {
                id: 9,
                time: 0,
                min: 0,
                prices: vec![price],
                sponsor: None,
            }],
        })
    };
    let sold = |cheaper, switch_cost| {
        let outcome = outcome(cheaper, switch_cost, 30);
        (outcome.sales[0].offer, outcome.sales[0].earned)
    };
    assert_eq!(sold(0, 0), (3, 10), "not for nothing");
    assert_eq!(sold(3, 0), (2, 7));
    assert_eq!(
        sold(3, 2),
        (2, 9),
        "the winner pays what the other unit is kept for"
    );
    assert_eq!(sold(3, 3), (3, 10));
    assert_eq!(sold(3, 4), (3, 10));
    assert!(outcome(3, 4, 9).sales.is_empty(), "below every ask");
}

#[test]
fn bad_input_is_refused() {
    let offer = |id, units| Offer {
        id,
        units,
        held: 0,
        reserve: 0,
    };
    let bid = |prices| Bidder {
        id: 1u64,
        time: 0,
        min: 0,
        prices,
        sponsor: None,
    };
    let clear = |offers, bids| {
        sellers::clear(&Input {
            rule: Rule::Exact,
            switch_cost: 0,
            offers,
            bids,
        })
        .unwrap_err()
    };
    let twice = clear(vec![offer(1u64, 1), offer(1, 2)], vec![]);
    assert_eq!(twice, sellers::Error::DuplicateOffer(1));
    let many = clear(vec![offer(1, u32::MAX), offer(2, u32::MAX)], vec![]);
    assert_eq!(
        many,
        sellers::Error::TooManyUnits {
            units: 2 * u64::from(u32::MAX)
        }
    );
    let rising = clear(vec![offer(1, 1)], vec![bid(vec![1, 2])]);
    assert!(matches!(rising, sellers::Error::Bid(_)));
}
