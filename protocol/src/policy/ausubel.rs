//! A federation's policy for its auction; part of the genesis, and of the record of every clearing.

use crate::mechanism::ausubel::Rule;
use crate::record::ausubel::ClearingKind;
use crate::units::Price;
use serde::{Deserialize, Serialize};

/// How a class is cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuctionPolicy {
    /// Who wins, and what winners pay.
    pub rule: Rule,
    /// The worth above its reserve, a slot, that a unit must have which nobody holds, at most
    /// [`Price::MAX`]: so much must be gained before a running job is moved.
    pub switch_cost: Price,
}

impl AuctionPolicy {
    /// Whether all values are in range.
    pub fn is_valid(&self) -> bool {
        self.switch_cost <= Price::MAX
    }
    /// The terms of one clearing. Between boundaries no unit for sale is held: there is nobody to
    /// move, so switching costs nothing.
    pub fn of(self, kind: ClearingKind) -> AuctionPolicy {
        match kind {
            ClearingKind::Boundary => self,
            ClearingKind::Free => AuctionPolicy {
                switch_cost: Price::default(),
                ..self
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switching_costs_at_boundaries_only_and_within_the_range_of_prices() {
        let policy = AuctionPolicy {
            rule: Rule::Floor,
            switch_cost: Price::MAX,
        };
        assert!(policy.is_valid() && AuctionPolicy::default().is_valid());
        assert_eq!(policy.of(ClearingKind::Boundary), policy);
        let free = policy.of(ClearingKind::Free);
        assert_eq!((free.rule, free.switch_cost), (Rule::Floor, Price(0)));
        let beyond = AuctionPolicy {
            switch_cost: Price(Price::MAX.0 + 1),
            ..policy
        };
        assert!(!beyond.is_valid());
    }
}
