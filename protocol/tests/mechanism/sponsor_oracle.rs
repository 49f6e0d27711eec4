//! The sponsor rule against an oracle that removes every sponsor's winners and clears again.

use std::collections::BTreeMap;

use crate::support::{Dice, Result, brute_force, in_tie_order, plain_programme, total};
use gridbay_protocol::mechanism::ausubel::sellers;
use gridbay_protocol::mechanism::ausubel::{Bidder, Input, Rule, clear};

type Oracle = fn(usize, i128, &[(usize, Vec<u64>)]) -> Result;

/// An oracle's payments raised by the sponsor rule. Bidders and sponsors in tie order.
fn raised(
    oracle: Oracle,
    supply: usize,
    reserve: i128,
    bidders: &[(usize, Vec<u64>)],
    sponsors: &[Option<u32>],
) -> Result {
    let mut result = oracle(supply, reserve, bidders);
    let best = total(bidders, reserve, &result);
    let mut groups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, sponsor) in sponsors.iter().enumerate() {
        if let (Some(sponsor), 1..) = (sponsor, result[i].0) {
            groups.entry(*sponsor).or_default().push(i);
        }
    }
    for winners in groups.into_values().filter(|winners| winners.len() > 1) {
        let others: Vec<_> = (0..bidders.len())
            .filter(|i| !winners.contains(i))
            .map(|i| bidders[i].clone())
            .collect();
        let without = total(&others, reserve, &oracle(supply, reserve, &others));
        let stated = |i: usize| -> i128 {
            let prices = &bidders[i].1[..result[i].0];
            prices.iter().map(|&p| i128::from(p)).sum()
        };
        let units: usize = winners.iter().map(|&i| result[i].0).sum();
        let value: i128 = winners.iter().map(|&i| stated(i)).sum();
        // reserve * units + (W without them - (W - (value - reserve * units)))
        let joint = without - best + value;
        assert!(joint >= reserve * units as i128);
        let paid: i128 = winners.iter().map(|&i| result[i].1).sum();
        let excess = (joint - paid).max(0);
        let headroom: Vec<i128> = winners.iter().map(|&i| stated(i) - result[i].1).collect();
        // Weights in large units stay within 128 bits.
        let unit = if headroom.iter().all(|h| h % (1 << 53) == 0) {
            1 << 53
        } else {
            1
        };
        let headroom: Vec<i128> = headroom.iter().map(|h| h / unit).collect();
        let room: i128 = headroom.iter().sum::<i128>().max(1);
        let mut missing = excess;
        for (&i, h) in winners.iter().zip(&headroom) {
            result[i].1 += excess * h / room;
            missing -= excess * h / room;
        }
        let mut order: Vec<usize> = (0..winners.len()).collect();
        order.sort_by_key(|&n| std::cmp::Reverse(excess * headroom[n] % room));
        for n in order.into_iter().take(missing as usize) {
            result[winners[n]].1 += 1;
        }
    }
    result
}

fn sponsors_in_tie_order(bidders: &[Bidder<u64>]) -> Vec<Option<u32>> {
    let mut sorted: Vec<&Bidder<u64>> = bidders.iter().collect();
    sorted.sort_by_key(|b| (b.time, b.id));
    sorted.iter().map(|b| b.sponsor).collect()
}

/// Compares a market with the oracle, and says by how much the rule raised payments.
fn compare(oracle: Oracle, market: &Input<u64>) -> i128 {
    let (ids, bidders) = in_tie_order(&market.bidders);
    let sponsors = sponsors_in_tie_order(&market.bidders);
    let (supply, reserve) = (market.supply as usize, market.reserve.into());
    let expected = raised(oracle, supply, reserve, &bidders, &sponsors);
    let outcome = clear(market).unwrap();
    for (id, expected) in ids.iter().zip(&expected) {
        let award = outcome.awards.iter().find(|award| award.id == *id);
        let found = award.map_or((0, 0), |a| (a.units as usize, a.pay as i128));
        assert_eq!(found, *expected, "{id} of {market:?}");
    }
    let plain = oracle(supply, reserve, &bidders);
    expected.iter().zip(&plain).map(|(a, b)| a.1 - b.1).sum()
}

/// A market in which a bidder has one of `sponsors` sponsors, or none. With `lumpy` percent of
/// all-or-none bids.
fn market(dice: &mut Dice, count: u64, longest: u64, lumpy: u64, sponsors: u64) -> Input<u64> {
    let bound = [3, 8, 100, 1_000][dice.below(4) as usize];
    let bidders = (0..count).map(|id| {
        let sponsor = dice.below(sponsors + 1) as u32;
        Bidder {
            sponsor: sponsor.checked_sub(1),
            ..dice.bidder(id, longest, bound, lumpy)
        }
    });
    let mut bidders: Vec<Bidder<u64>> = bidders.collect();
    let supply = dice.within(1, 2 + count * longest / 2);
    if lumpy > 0 && dice.chance(70) {
        // A bidder that needs nearly everything, at a price at which others together may drive it
        // out.
        bidders[0].sponsor = None;
        bidders[0].prices = vec![bound / 2; supply as usize];
        bidders[0].min = dice.within(supply.div_ceil(2), supply) as u32;
    }
    Input {
        rule: Rule::Exact,
        supply: supply as u32,
        reserve: dice.below(bound) / 2 * dice.below(2),
        bidders,
    }
}

#[test]
fn small_markets_equal_brute_force() {
    let mut dice = Dice(31);
    let (mut raised, mut rounds) = (0, 0);
    for _ in 0..12_000 {
        let count = dice.within(3, 6);
        let longest = [0, 0, 8, 6, 4, 3, 2][count as usize];
        let market = market(&mut dice, count, longest, 60, 2);
        let more = compare(brute_force, &market);
        rounds += i32::from(more > 0);
        raised += more;
    }
    assert!(raised > 10_000 && rounds > 200, "{raised} in {rounds}");
}

#[test]
fn without_all_or_none_bids_nothing_is_raised() {
    let mut dice = Dice(32);
    for _ in 0..2_000 {
        let market = market(&mut dice, 5, 3, 0, 2);
        assert_eq!(compare(brute_force, &market), 0);
    }
}

#[test]
fn large_markets_equal_the_plain_programme() {
    let mut dice = Dice(33);
    let mut raised = 0;
    for _ in 0..150 {
        let lumpy = [10, 40, 100][dice.below(3) as usize];
        let longest = [3, 12, 60][dice.below(3) as usize];
        let sponsors = [1, 4, 9][dice.below(3) as usize];
        let mut market = market(&mut dice, 24, longest, lumpy, sponsors);
        if dice.chance(30) {
            // Sums beyond 64 bits.
            market.reserve <<= 53;
            let prices = market.bidders.iter_mut().flat_map(|b| &mut b.prices);
            prices.for_each(|price| *price <<= 53);
        }
        raised += compare(plain_programme, &market).signum();
    }
    assert!(raised > 20, "{raised}");
}

#[test]
fn a_pool_equals_brute_force_and_pays_out_what_the_rule_raises() {
    let mut dice = Dice(34);
    let mut raises = 0;
    for _ in 0..6_000 {
        let market = market(&mut dice, 5, 3, 60, 2);
        let offers: Vec<sellers::Offer<u64>> = (0..3)
            .map(|id| sellers::Offer {
                id,
                units: dice.below(4) as u32,
                held: 0,
                reserve: dice.below(10),
            })
            .collect();
        let outcome = sellers::clear(&sellers::Input {
            rule: Rule::Exact,
            switch_cost: 0,
            offers: offers.clone(),
            bids: market.bidders.clone(),
        });
        let outcome = outcome.unwrap();
        let earned: u128 = outcome.sales.iter().map(|sale| sale.earned).sum();
        assert_eq!(earned, outcome.revenue);
        // The sellers are one more bidder, behind all others and without a sponsor.
        let mut reserves: Vec<u64> = offers
            .iter()
            .flat_map(|o| vec![o.reserve; o.units as usize])
            .collect();
        reserves.sort_unstable_by(|a, b| b.cmp(a));
        let supply = reserves.len();
        let (ids, mut bidders) = in_tie_order(&market.bidders);
        let mut sponsors = sponsors_in_tie_order(&market.bidders);
        bidders.push((1, reserves));
        sponsors.push(None);
        let expected = raised(brute_force, supply, 0, &bidders, &sponsors);
        for (id, expected) in ids.iter().zip(&expected) {
            let award = outcome.awards.iter().find(|award| award.id == *id);
            let found = award.map_or((0, 0), |a| (a.units as usize, a.pay as i128));
            assert_eq!(found, *expected, "{id} of {market:?}, {offers:?}");
        }
        raises += i32::from(expected != brute_force(supply, 0, &bidders));
    }
    assert!(raises > 50, "{raises}");
}
