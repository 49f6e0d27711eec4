//! Bids for a job that is worth nothing until it is done.
//!
//! The job needs its nodes for so many slots on end; if it loses them, it starts anew. Money
//! already paid is gone either way, so it does not count: ahead lie the costs of the slots left,
//! and the whole worth. At a steady price, going on pays if and only if price times slots left is
//! at most the worth. So the bid for a slot is the worth divided by the slots left, rounded down to
//! a price that each node may cost. It rises with every slot done, and falls back when the job has
//! to start anew.

use gridbay_protocol::units::{Credits, Price};
use serde::{Deserialize, Serialize};

/// A job's worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worth {
    /// Its worth when it is done; nothing before.
    pub worth: Credits,
    /// Slots that it needs on end, at least 1.
    pub length: u32,
}

impl Worth {
    /// Slots left after `done` of them; 1 at least, for a job that takes longer than stated.
    pub fn left(&self, done: u64) -> u32 {
        let done = u32::try_from(done).unwrap_or(u32::MAX);
        self.length.saturating_sub(done).max(1)
    }
    /// The bid for each of `units` nodes and a slot, with so many slots left: the highest steady
    /// price at which going on costs no more than the worth.
    pub fn bid(&self, left: u32, units: u32) -> Price {
        let all = u64::from(left.max(1)) * u64::from(units.max(1));
        Price((self.worth.micros() / all).min(Price::MAX.0))
    }
    /// Whether going on pays if a slot costs `slot` for all nodes from now on.
    pub fn pays(&self, left: u32, slot: Credits) -> bool {
        let rest = u128::from(slot.micros()) * u128::from(left);
        rest <= u128::from(self.worth.micros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(worth: u64, length: u32) -> Worth {
        Worth {
            worth: Credits::from_micros(worth).unwrap(),
            length,
        }
    }

    /// The most that can be made of the job from now on, by stopping after any number of slots at
    /// prices that are known.
    fn best(worth: u64, prices: &[u64]) -> i128 {
        let made = |slots: usize| {
            let cost: i128 = prices[..slots].iter().map(|p| i128::from(*p)).sum();
            i128::from(if slots == prices.len() { worth } else { 0 }) - cost
        };
        (0..=prices.len()).map(made).max().unwrap_or(0)
    }

    #[test]
    fn at_a_steady_price_the_rule_is_the_best_of_all_times_to_stop() {
        for (worth, left) in (0..160).flat_map(|w| (1..10).map(move |l| (w, l))) {
            for price in 0..40 {
                let job = job(worth, left);
                let best = best(worth, &vec![price; left as usize]);
                let done = i128::from(worth) - i128::from(price) * i128::from(left);
                assert_eq!(best, done.max(0));
                let slot = Credits::from_micros(price).unwrap();
                assert_eq!(job.pays(left, slot), best == done);
                assert_eq!(
                    job.bid(left, 1).0 >= price,
                    best == done,
                    "it wins just then"
                );
            }
        }
    }

    /// Numbers below 40 that look like chance.
    fn prices(seed: u64, count: u64) -> Vec<u64> {
        let number = |i: u64| (seed * 31 + i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (0..count).map(|i| number(i) % 40).collect()
    }

    #[test]
    fn while_prices_fall_nobody_who_goes_on_regrets_it_whatever_was_paid() {
        let mut went_on = 0;
        for (seed, count) in (0..500).flat_map(|seed| (1..9).map(move |count| (seed, count))) {
            let mut prices = prices(seed, count);
            prices.sort_unstable_by(|a, b| b.cmp(a));
            let worth = seed % 200;
            let job = job(worth, prices.len() as u32);
            for done in 0..prices.len() {
                let rest = &prices[done..];
                if job.bid(job.left(done as u64), 1).0 < rest[0] {
                    break;
                }
                let sum: i128 = rest.iter().map(|p| i128::from(*p)).sum();
                assert_eq!(best(worth, rest), i128::from(worth) - sum);
                assert!(sum <= i128::from(worth));
                went_on += 1;
            }
        }
        assert!(went_on > 1_000, "{went_on}");
    }

    #[test]
    fn the_bid_rises_with_every_slot_and_is_covered_by_the_worth() {
        for worth in [0, 1, 999, 20_000_000, 1 << 50] {
            for (length, units) in [(1, 1), (7, 3), (5_400, 4), (100_000, 4_096)] {
                let job = job(worth, length);
                let mut last = Price(0);
                for done in (0..u64::from(length) + 3).step_by(1 + length as usize / 50) {
                    let left = job.left(done);
                    let bid = job.bid(left, units);
                    let all = u128::from(left) * u128::from(units);
                    assert!(left >= 1 && bid >= last);
                    assert!(u128::from(bid.0) * all <= u128::from(worth));
                    let dearer = (u128::from(bid.0) + 1) * all > u128::from(worth);
                    assert!(dearer || bid == Price::MAX, "no less than that");
                    last = bid;
                }
            }
        }
    }
}
