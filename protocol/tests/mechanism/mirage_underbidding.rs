//! Underbidding: a bidder that sees few rivals, or none, bids just enough.
//!
//! One unit, n bidders whose values are spread evenly over 0 .. 1,000. Under first prices the best
//! answer is to bid (n - 1) / n of the value; an idle market sells for 1. Under `exact` nothing
//! beats the truth. In equilibrium both earn (n - 1) / (n + 1) of 1,000 on average; tolerance:
//! three standard errors.

use crate::dice::Dice;
use crate::mirage::{bid, exact, greedy, market, sealed};

const TOP: u64 = 1_000;
const ROUNDS: i64 = 4_000;

fn first_price(bids: &[u64]) -> Option<(u64, u64)> {
    let bids = (0..).zip(bids).map(|(id, &value)| bid(id, value, 1, 1, 1));
    greedy(&market(1, 1, 10, bids.collect())).first().copied()
}

fn second_price(reserve: u64, bids: &[u64]) -> Option<(u64, u64)> {
    let bidders = (0..)
        .zip(bids)
        .map(|(id, &price)| sealed(id, 0, vec![price]));
    let bidders: Vec<_> = bidders.collect();
    let won = exact(1, reserve, &bidders);
    won.first().map(|&(id, _, pay)| (id, pay))
}

/// Asserts that a sum of revenues is within three standard errors of `expected` each.
fn assert_mean(revenues: &[u64], expected: i64) {
    let off = |r: &u64| *r as i64 - expected;
    let sum: i64 = revenues.iter().map(off).sum();
    let squares: i64 = revenues.iter().map(|r| off(r) * off(r)).sum();
    assert!(sum * sum <= 9 * squares, "{sum} beside {expected}");
}

#[test]
fn both_earn_the_same_if_everybody_plays_his_best() {
    let mut dice = Dice(51);
    for n in [2u64, 3, 5] {
        let (mut first, mut second) = (vec![], vec![]);
        for _ in 0..ROUNDS {
            let values: Vec<u64> = (0..n).map(|_| dice.below(TOP + 1)).collect();
            let shaded: Vec<u64> = values.iter().map(|v| v * (n - 1) / n).collect();
            first.push(first_price(&shaded).unwrap().1);
            let (winner, pay) = second_price(0, &values).unwrap();
            assert_eq!(values[winner as usize], *values.iter().max().unwrap());
            second.push(pay);
        }
        let expected = (TOP * (n - 1) / (n + 1)) as i64;
        assert_mean(&first, expected);
        assert_mean(&second, expected);
    }
}

#[test]
fn shading_pays_under_first_prices_and_never_under_exact() {
    let mut dice = Dice(52);
    for n in [2u64, 5] {
        let value = 900;
        // The attacker's average gain by a bid of so many twentieths of its value.
        let (mut shaded, mut sealed) = ([0i64; 21], [0i64; 21]);
        for _ in 0..ROUNDS {
            let rivals: Vec<u64> = (1..n).map(|_| dice.below(TOP + 1)).collect();
            for twentieths in 0..=20u64 {
                let own = value * twentieths / 20;
                let gain = |won: Option<(u64, u64)>| match won {
                    Some((0, pay)) => value as i64 - pay as i64,
                    _ => 0,
                };
                let best = rivals.iter().map(|v| v * (n - 1) / n);
                let bids: Vec<u64> = std::iter::once(own).chain(best).collect();
                shaded[twentieths as usize] += gain(first_price(&bids));
                let bids: Vec<u64> = std::iter::once(own).chain(rivals.clone()).collect();
                let (lie, truth) = (gain(second_price(0, &bids)), {
                    let mut bids = bids.clone();
                    bids[0] = value;
                    gain(second_price(0, &bids))
                });
                assert!(lie <= truth, "regret {} of {bids:?}", lie - truth);
                sealed[twentieths as usize] += lie;
            }
        }
        let best = (0..21).max_by_key(|&i| shaded[i]).unwrap() as i64;
        let expected = 20 * (n as i64 - 1) / n as i64;
        assert!(
            (best - expected).abs() <= 2,
            "{best} of 20 with {n} bidders"
        );
        assert_eq!(shaded[20], 0, "the truth gains nothing under first prices");
        assert_eq!(sealed.iter().max(), Some(&sealed[20]));
    }
}

#[test]
fn an_idle_market_sells_for_nearly_nothing_unless_there_is_a_reserve() {
    // There is no rival, and the bidder that would pay 1,000 knows it.
    assert_eq!(first_price(&[1]), Some((0, 1)));
    let mut idle = market(1, 1, 10, vec![bid(0, 1, 1, 1, 1)]);
    idle.reserve = 400;
    assert_eq!(greedy(&idle), [], "bidding 1 wins nothing any more");
    idle.bids[0].value = 400;
    assert_eq!(greedy(&idle), [(0, 400)]);
    // The truth costs the reserve, too, and nothing without one: no bid does better.
    assert_eq!(second_price(0, &[TOP]), Some((0, 0)));
    assert_eq!(second_price(400, &[TOP]), Some((0, 400)));
    assert_eq!(second_price(400, &[399]), None);
}
