//! The rolling window: everything is taken, and slots that become free at its end go to bidders
//! that need little.
//!
//! A wants four slots at 10 each, B two slots at 9 each, again and again. If as many slots are sold
//! as there are starts, B always has enough at the window's end before A has, whatever A bids. With
//! 32 slots more than starts (the longest bid) both compete for one beginning, and A waits at most
//! 32 rounds. Pricing cures nothing: `exact`, cleared whenever something becomes free, gives it to
//! B as well.

use crate::mirage::{bid, exact, market, sealed};
use gridbay_protocol::mechanism::reservation::{Bid, Outcome, rounds};

const ROUNDS: u32 = 240;
const A: u64 = 1_000;

/// A node whose slots up to `taken` are sold in lengths of `taken`; then A from round 1 on, and B
/// at every second.
fn bids(taken: &[u32], value: u64) -> Vec<Bid<u64, u64>> {
    let mut start = 0;
    let mut bids = Vec::new();
    for (id, &slots) in (2_000..).zip(taken) {
        bids.push(Bid {
            earliest: start,
            latest: start,
            ..bid(id, 1_000_000, 1, 1, slots)
        });
        start += i64::from(slots);
    }
    let latest = i64::from(4 * ROUNDS);
    bids.push(Bid {
        time: 1,
        latest,
        ..bid(A, value, 1, 1, 4)
    });
    bids.extend((1..u64::from(ROUNDS) / 2).map(|n| Bid {
        time: 2 * n,
        latest,
        ..bid(n, 18, 1, 1, 2)
    }));
    bids
}

fn run(slots: u32, starts: u32, bids: Vec<Bid<u64, u64>>) -> Vec<Outcome<u64, u64>> {
    let mut input = market(1, slots, 10, bids);
    input.starts = starts;
    rounds::run(&input, ROUNDS).unwrap()
}

/// The round in which somebody wins.
fn won_in(outcomes: &[Outcome<u64, u64>], id: u64) -> Option<usize> {
    let wins = |o: &Outcome<u64, u64>| o.awards.iter().any(|a| a.placement.id == id);
    outcomes.iter().position(wins)
}

#[test]
fn as_many_starts_as_slots_starve_the_longer_bid() {
    for value in [40, 1_000_000] {
        let outcomes = run(72, 72, bids(&[72], value));
        assert_eq!(won_in(&outcomes, A), None, "{ROUNDS} rounds of waiting");
        // B gets every pair of slots in the round in which it appears.
        assert_eq!(won_in(&outcomes, 1), Some(2));
        assert_eq!(won_in(&outcomes, 100), Some(200));
    }
}

#[test]
fn with_the_longest_bid_as_a_margin_the_denser_one_wins() {
    // The window is full, and one of 32 slots stands at its end.
    let outcomes = run(104, 72, bids(&[71, 32], 40));
    let waited = won_in(&outcomes, A).unwrap() - 1;
    assert_eq!(waited, 31);
    let first_b = won_in(&outcomes, 1).unwrap();
    assert!(first_b > waited + 1, "B comes after A");
    // Worth less than one B, A waits instead, as it should.
    let cheap = run(104, 72, bids(&[71, 32], 17));
    assert_eq!(won_in(&cheap, 1), Some(32));
    assert!(won_in(&cheap, A).is_none_or(|round| round > 32));
}

#[test]
fn vcg_alone_does_not_cure_it() {
    let b = || sealed(1, 2, vec![9; 2]);
    for price in [10, 1_000_000] {
        let a = sealed(A, 4, vec![price; 4]);
        let mut free = 0;
        for _ in 0..ROUNDS {
            free += 1;
            let won = exact(free, 0, &[a.clone(), b()]);
            assert!(won.iter().all(|&(id, _, pay)| (id, pay) == (1, 0)));
            free -= won.iter().map(|&(_, units, _)| units).sum::<u32>();
        }
    }
    // Sold four at a time, A wins and pays what it displaces.
    let more = sealed(2, 2, vec![9; 2]);
    let won = exact(4, 0, &[sealed(A, 4, vec![10; 4]), b(), more]);
    assert_eq!(won, [(A, 4, 36)]);
}
