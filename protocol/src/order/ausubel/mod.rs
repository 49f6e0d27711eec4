//! Bids in the auction of a class: marginal values, sealed until they are opened.

mod amendment;

pub use amendment::Amendment;

use super::flaw::Flaw;
use super::sealed::Wish;
use crate::ids::{AccountId, ClassId, Hash32, NetworkId};
use crate::limits;
use crate::units::{Credits, Price};
use serde::{Deserialize, Serialize};

/// Some units at one marginal price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Units, at least 1.
    pub units: u32,
    /// Value of each per slot.
    pub price: Price,
}

/// Prices of the first, second, third... unit, for at most `units` of them.
pub fn unit_prices(steps: &[Step], units: u32) -> Vec<u64> {
    let each = steps.iter();
    let each = each.flat_map(|s| std::iter::repeat_n(s.price.0, s.units as usize));
    each.take(units as usize).collect()
}

/// The contents of a sealed bid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bid {
    /// The class.
    pub class: ClassId,
    /// Marginal values, prices falling; 1 to [`limits::BID_STEPS`] steps.
    pub steps: Vec<Step>,
    /// Fewest units that are of use: 1 takes any number, all of them is all-or-none.
    pub min: u32,
    /// Slots to run at the most, 1 to [`limits::ORDER_SLOTS`].
    pub slots: u32,
    /// Most to pay over the whole order.
    pub budget: Credits,
    /// Last height at which the order may stand without running.
    pub stands_until: u64,
    /// Salted hash of the job; its text stays off the ledger.
    pub work: Hash32,
}

impl Bid {
    /// Units asked for; 0 if the steps overflow.
    pub fn units(&self) -> u32 {
        self.steps
            .iter()
            .try_fold(0u32, |n, s| n.checked_add(s.units))
            .unwrap_or(0)
    }
    /// The price of all its units for one slot; its escrow must hold as much before it competes.
    pub fn slot(&self) -> Credits {
        self.value(self.units())
    }
    /// The bid's value of its first `units` units for one slot: the most they can cost.
    pub fn value(&self, units: u32) -> Credits {
        let mut left = units;
        let mut sum = Credits::ZERO;
        for step in &self.steps {
            let n = step.units.min(left);
            left -= n;
            let part = step.price.times(u64::from(n)).unwrap_or(Credits::MAX);
            sum = sum.checked_add(part).unwrap_or(Credits::MAX);
        }
        sum
    }
    /// Whether all values are in range and prices fall.
    ///
    /// # Errors
    /// The first flaw.
    pub fn check(&self) -> Result<(), Flaw> {
        let units = self.units();
        let steps = &self.steps;
        let flaws = [
            (Flaw::Steps, (1..=limits::BID_STEPS).contains(&steps.len())),
            (
                Flaw::NotFalling,
                steps.windows(2).all(|w| w[0].price > w[1].price),
            ),
            (Flaw::Price, steps.iter().all(|s| s.price <= Price::MAX)),
            (
                Flaw::Units,
                steps.iter().all(|s| s.units >= 1) && (1..=limits::ORDER_UNITS).contains(&units),
            ),
            (Flaw::Minimum, (1..=units).contains(&self.min)),
            (Flaw::Slots, (1..=limits::ORDER_SLOTS).contains(&self.slots)),
        ];
        Flaw::first(&flaws)
    }
    /// How much the bid counts towards [`limits::ALL_OR_NONE_PER_CLASS`]: nothing if it takes any
    /// number of units, one if it takes all or none, [`limits::ALL_OR_NONE_CHOICE`] if it leaves a
    /// choice above a minimum.
    pub fn lumpiness(&self) -> u64 {
        match self.min {
            0 | 1 => 0,
            min if min == self.units() => 1,
            _ => limits::ALL_OR_NONE_CHOICE as u64,
        }
    }
    /// The commitment that seals this bid.
    pub fn seal(&self, network: &NetworkId, account: &AccountId, salt: &[u8; 32]) -> Hash32 {
        Wish::Bid(self.clone()).seal(network, account, salt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bid(steps: &[(u32, u64)], min: u32) -> Bid {
        Bid {
            class: ClassId([1; 32]),
            steps: steps
                .iter()
                .map(|&(units, p)| Step {
                    units,
                    price: Price(p),
                })
                .collect(),
            min,
            slots: 3,
            budget: Credits::MAX,
            stands_until: 100,
            work: Hash32([2; 32]),
        }
    }

    #[test]
    fn value_follows_the_steps() {
        let b = bid(&[(2, 10), (3, 7)], 1);
        assert_eq!(b.check(), Ok(()));
        let values: Vec<u64> = (0..=6).map(|n| b.value(n).micros()).collect();
        assert_eq!(values, [0, 10, 20, 27, 34, 41, 41]);
    }

    #[test]
    fn a_choice_above_a_minimum_counts_more_than_none() {
        let lumpiness = |min| bid(&[(2, 10), (3, 7)], min).lumpiness();
        let choice = limits::ALL_OR_NONE_CHOICE as u64;
        assert_eq!([1, 2, 4, 5].map(lumpiness), [0, choice, choice, 1]);
    }

    #[test]
    fn illegal_bids() {
        let cases = [
            (bid(&[], 1), Flaw::Steps),
            (bid(&[(1, 5), (1, 6)], 1), Flaw::NotFalling),
            (bid(&[(1, 5), (1, 5)], 1), Flaw::NotFalling),
            (bid(&[(0, 5)], 1), Flaw::Units),
            (bid(&[(u32::MAX, 5), (u32::MAX, 4)], 1), Flaw::Units),
            (bid(&[(2, 5)], 3), Flaw::Minimum),
            (bid(&[(2, 5)], 0), Flaw::Minimum),
            (bid(&[(1, Price::MAX.0 + 1)], 1), Flaw::Price),
            (
                Bid {
                    slots: 0,
                    ..bid(&[(1, 5)], 1)
                },
                Flaw::Slots,
            ),
        ];
        for (bid, flaw) in cases {
            assert_eq!(bid.check(), Err(flaw), "{bid:?}");
        }
    }

    #[test]
    fn a_seal_binds_network_account_salt_and_bid() {
        let b = bid(&[(2, 10)], 1);
        let (n, a) = (NetworkId([3; 32]), AccountId([4; 32]));
        let seal = b.seal(&n, &a, &[5; 32]);
        assert_ne!(seal, b.seal(&NetworkId([9; 32]), &a, &[5; 32]));
        assert_ne!(seal, b.seal(&n, &AccountId([9; 32]), &[5; 32]));
        assert_ne!(seal, b.seal(&n, &a, &[9; 32]));
        assert_ne!(seal, bid(&[(2, 11)], 1).seal(&n, &a, &[5; 32]));
    }
}
