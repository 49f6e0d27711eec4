//! Random markets against oracles: every allocation looked at, and the plain dynamic programme.

use crate::support::{Dice, Result, brute_force, in_tie_order, plain_programme};
use gridbay_protocol::mechanism::ausubel::{Bidder, Input, Outcome, Rule, clear};

/// An outcome as units and payment per bidder of `ids`.
fn dense(outcome: &Outcome<u64>, ids: &[u64]) -> Result {
    let of = |id: &u64| {
        let award = outcome.awards.iter().find(|award| award.id == *id);
        award.map_or((0, 0), |award| (award.units as usize, award.pay as i128))
    };
    ids.iter().map(of).collect()
}

fn run(market: &Input<u64>, rule: Rule) -> Outcome<u64> {
    clear(&Input {
        rule,
        ..market.clone()
    })
    .unwrap()
}

/// Up to 6 bidders, with no more than about 3,000 allocations.
fn small_market(dice: &mut Dice, lumpy: u64) -> Input<u64> {
    let bidders = dice.within(2, 6);
    let longest = [0, 0, 12, 10, 6, 4, 3][bidders as usize];
    let bound = [3, 8, 100][dice.below(3) as usize];
    Input {
        rule: Rule::Exact,
        supply: dice.within(1, 12) as u32,
        reserve: if dice.chance(50) {
            0
        } else {
            dice.below(bound)
        },
        bidders: (0..bidders)
            .map(|id| dice.bidder(id, longest, bound, lumpy))
            .collect(),
    }
}

#[test]
fn all_or_none_markets_equal_brute_force() {
    let mut dice = Dice(11);
    for round in 0..4_000 {
        let market = small_market(&mut dice, 60);
        let (ids, bidders) = in_tie_order(&market.bidders);
        let oracle = brute_force(market.supply as usize, market.reserve.into(), &bidders);
        assert_eq!(
            dense(&run(&market, Rule::Exact), &ids),
            oracle,
            "{round}: {market:?}"
        );
    }
}

#[test]
fn without_all_or_none_bids_the_three_rules_equal_brute_force() {
    let mut dice = Dice(12);
    for round in 0..3_000 {
        let market = small_market(&mut dice, 0);
        let (ids, bidders) = in_tie_order(&market.bidders);
        let oracle = brute_force(market.supply as usize, market.reserve.into(), &bidders);
        for rule in [Rule::Exact, Rule::Floor, Rule::Paper] {
            assert_eq!(
                dense(&run(&market, rule), &ids),
                oracle,
                "{round} {rule:?}: {market:?}"
            );
        }
    }
}

/// Markets large enough for every short cut: long bids, many bidders, wide sums.
fn large_market(dice: &mut Dice) -> Input<u64> {
    let lumpy = [5, 30, 80][dice.below(3) as usize];
    let bound = [2, 6, 1000][dice.below(3) as usize];
    let longest = [4, 20, 90][dice.below(3) as usize];
    let scale = [1, 1 << 53][dice.below(2) as usize];
    let bidders = dice.within(1, 30);
    let mut market = Input {
        rule: Rule::Exact,
        supply: dice.within(1, 200) as u32,
        reserve: dice.below(bound) / 2 * scale,
        bidders: (0..bidders)
            .map(|id| dice.bidder(id, longest, bound, lumpy))
            .collect(),
    };
    for price in market
        .bidders
        .iter_mut()
        .flat_map(|b: &mut Bidder<u64>| &mut b.prices)
    {
        *price *= scale;
    }
    market
}

#[test]
fn large_markets_equal_the_plain_programme() {
    let mut dice = Dice(13);
    for round in 0..500 {
        let market = large_market(&mut dice);
        let (ids, bidders) = in_tie_order(&market.bidders);
        let oracle = plain_programme(market.supply as usize, market.reserve.into(), &bidders);
        assert_eq!(
            dense(&run(&market, Rule::Exact), &ids),
            oracle,
            "{round}: {market:?}"
        );
    }
}

#[test]
fn every_rule_is_individually_rational_and_ignores_the_order() {
    let mut dice = Dice(14);
    for _ in 0..400 {
        let mut market = large_market(&mut dice);
        for rule in [Rule::Exact, Rule::Floor, Rule::Paper] {
            let outcome = run(&market, rule);
            dice.shuffle(&mut market.bidders);
            assert_eq!(run(&market, rule), outcome);
            let units: u32 = outcome.awards.iter().map(|award| award.units).sum();
            assert!(units <= market.supply);
            for award in &outcome.awards {
                let bid = market
                    .bidders
                    .iter()
                    .find(|bid| bid.id == award.id)
                    .unwrap();
                let stated: u128 = bid.prices[..award.units as usize]
                    .iter()
                    .map(|&p| u128::from(p))
                    .sum();
                let least = u128::from(award.units) * u128::from(market.reserve);
                assert!(award.units >= bid.min.max(1));
                assert!(
                    least <= award.pay && award.pay <= stated,
                    "{rule:?} {award:?} {market:?}"
                );
            }
        }
    }
}

/// Rule `floor` restated: rivals' units by average price, places supply - units .. supply.
fn floor_payment(market: &Input<u64>, winner: &Bidder<u64>, units: usize, vcg: u128) -> u128 {
    let supply = market.supply as usize;
    let mut rivals: Vec<u64> = Vec::new();
    for rival in market.bidders.iter().filter(|bid| bid.id != winner.id) {
        let prices = &rival.prices[..rival.prices.len().min(supply)];
        let head = rival.min.max(1) as usize;
        if head <= prices.len() {
            let value: u128 = prices[..head].iter().map(|&p| u128::from(p)).sum();
            rivals.extend(vec![(value / head as u128) as u64; head]);
            rivals.extend(&prices[head..]);
        }
    }
    rivals.sort_unstable_by(|a, b| b.cmp(a));
    let at = |place: usize| {
        rivals
            .get(place)
            .map_or(market.reserve, |&p| p.max(market.reserve))
    };
    let clinched: u128 = (supply - units..supply)
        .map(|place| u128::from(at(place)))
        .sum();
    let stated: u128 = winner.prices[..units].iter().map(|&p| u128::from(p)).sum();
    stated.min(vcg.max(clinched))
}

#[test]
fn floor_is_exact_with_raised_payments() {
    let mut dice = Dice(15);
    for _ in 0..2_000 {
        let market = small_market(&mut dice, 60);
        let (exact, floor) = (run(&market, Rule::Exact), run(&market, Rule::Floor));
        assert_eq!(exact.awards.len(), floor.awards.len());
        for (vcg, award) in exact.awards.iter().zip(&floor.awards) {
            let winner = market
                .bidders
                .iter()
                .find(|bid| bid.id == award.id)
                .unwrap();
            let pay = floor_payment(&market, winner, vcg.units as usize, vcg.pay);
            assert_eq!((vcg.id, vcg.units, pay), (award.id, award.units, award.pay));
        }
    }
}
