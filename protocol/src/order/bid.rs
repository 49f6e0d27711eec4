//! Bids in the auction of a class: marginal values, sealed until they are opened.

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

/// What a sealed bid says once it is opened.
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
    /// Whether all values are in range and prices never rise.
    pub fn is_valid(&self) -> bool {
        let units = self.units();
        !self.steps.is_empty()
            && self.steps.len() <= limits::BID_STEPS
            && self
                .steps
                .iter()
                .all(|s| s.units >= 1 && s.price <= Price::MAX)
            && self.steps.windows(2).all(|w| w[0].price > w[1].price)
            && (1..=limits::ORDER_UNITS).contains(&units)
            && (1..=units).contains(&self.min)
            && (1..=limits::ORDER_SLOTS).contains(&self.slots)
    }
    /// Whether fewer units than some number above one are of no use.
    pub fn is_all_or_none(&self) -> bool {
        self.min > 1
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
        assert!(b.is_valid());
        let values: Vec<u64> = (0..=6).map(|n| b.value(n).micros()).collect();
        assert_eq!(values, [0, 10, 20, 27, 34, 41, 41]);
    }

    #[test]
    fn illegal_bids() {
        assert!(!bid(&[], 1).is_valid());
        assert!(!bid(&[(1, 5), (1, 6)], 1).is_valid(), "rising");
        assert!(!bid(&[(1, 5), (1, 5)], 1).is_valid(), "one price, one step");
        assert!(!bid(&[(0, 5)], 1).is_valid());
        assert!(!bid(&[(2, 5)], 3).is_valid());
        assert!(!bid(&[(2, 5)], 0).is_valid());
        assert!(!bid(&[(u32::MAX, 5), (u32::MAX, 4)], 1).is_valid());
        assert!(!bid(&[(1, Price::MAX.0 + 1)], 1).is_valid());
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
