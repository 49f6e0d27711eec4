//! The auction sandwich of AuYoung's table 3.1: A takes 97 nodes in three parts, so that B fits
//! nowhere.
//!
//! | | nodes | hours | bid | bid per node-hour |
//! |---|---|---|---|---|
//! | B | 97 | 32 | 1,590 | 0.512 |
//! | A, to be ahead of B | 40 | 4 | 130 | 0.8125 |
//! | A, filling up | 24 | 4 | 5 | 0.052 |
//! | A, filling up | 33 | 4 | 1 | 0.0076 |
//!
//! Under first prices and one attempt A has everything for 136, 8.6 % of the value. With two
//! attempts or more B is tried first as well, and wins. Under `exact` (four hours of 97 alike
//! nodes, B's share of them 198.75) B wins and pays 136, and A has nothing, in one bid or in three.
//! But three bids that lie can win without paying: that needs the sponsor rule.

use crate::mirage::{bid, exact, greedy, market, sealed};
use gridbay_protocol::mechanism::ausubel::Bidder;

const B: u64 = 1;
const PARTS: [(u64, u32, u64); 3] = [(2, 40, 130), (3, 24, 5), (4, 33, 1)];

fn sandwich(fronts: u32) -> Vec<(u64, u64)> {
    let mut bids = vec![bid(B, 1_590, 97, 97, 32)];
    bids.extend(PARTS.map(|(id, nodes, value)| bid(id, value, nodes, 97, 4)));
    greedy(&market(97, 32, fronts, bids))
}

#[test]
fn one_attempt_sells_everything_for_a_twelfth() {
    let won = sandwich(1);
    assert_eq!(won, PARTS.map(|(id, _, value)| (id, value)));
    let paid: u64 = won.iter().map(|(_, pay)| pay).sum();
    assert_eq!(paid, 136);
    // Per mille: of the value, of the value per four hours, and the price of a node-hour beside
    // B's.
    assert_eq!([1_000 * paid / 1_590, 1_000 * paid * 8 / 1_590], [85, 684]);
    assert_eq!(
        [1_000 * paid / (97 * 4), 1_000 * 1_590 / (97 * 32)],
        [350, 512]
    );
}

#[test]
fn two_attempts_let_the_rival_through() {
    for fronts in [2, 10] {
        assert_eq!(sandwich(fronts), [(B, 1_590)]);
    }
}

/// Divides credits into all the numbers of units that occur.
const CREDIT: u64 = 97 * 264;

/// `units` units for so many hundredths of a credit together.
fn lot(id: u64, units: u32, hundredths: u64) -> Bidder<u64> {
    let price = hundredths * CREDIT / 100 / u64::from(units);
    sealed(id, units, vec![price; units as usize])
}

/// B's bid for the four hours.
fn rival() -> Bidder<u64> {
    lot(B, 97, 19_875)
}

#[test]
fn under_exact_the_rival_pays_what_it_displaces() {
    let parts = PARTS.map(|(id, units, value)| lot(id, units, 100 * value));
    let whole: Vec<u64> = parts.iter().flat_map(|part| part.prices.clone()).collect();
    // One concave bid, three all-or-none bids, three divisible ones.
    let one = vec![sealed(2, 0, whole)];
    let mut loose = parts.to_vec();
    loose.iter_mut().for_each(|part| part.min = 0);
    for mut bids in [one, parts.to_vec(), loose] {
        bids.push(rival());
        assert_eq!(exact(97, 0, &bids), [(B, 97, 136 * CREDIT)]);
    }
}

#[test]
fn shills_need_the_sponsor_rule() {
    // Each part claims 100, so that any two of them beat B's 198.75: without either, the others
    // still stand in its way.
    let mut bids: Vec<Bidder<u64>> = PARTS.map(|(id, units, _)| lot(id, units, 10_000)).into();
    bids.push(rival());
    let paid = |bids: &[Bidder<u64>]| {
        let won = exact(97, 0, bids);
        assert!(won.iter().all(|&(id, ..)| id != B));
        won.iter().map(|&(_, _, pay)| pay).sum::<u64>()
    };
    let strangers = paid(&bids);
    assert_eq!(
        strangers, 0,
        "A gains the whole 136 that the nodes are worth to it"
    );
    bids[..3].iter_mut().for_each(|part| part.sponsor = Some(7));
    let known = paid(&bids);
    assert_eq!(
        known,
        rival_value(),
        "A loses 62.75: the nodes are worth 136 to it"
    );
}

/// What B's four hours are worth to it, in the units of the auction.
fn rival_value() -> u64 {
    rival().prices.iter().sum()
}
