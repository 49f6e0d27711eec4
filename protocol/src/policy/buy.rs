//! A federation's policy for buy-it-now; part of the genesis.

use crate::limits;
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// Millionths in one.
const PPM: u64 = 1_000_000;

/// Whether a buy may evict others' buys, and at what price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuyPolicy {
    /// The surcharge that an evicted buy gets on top of its remainder, in millionths of it, at most
    /// [`limits::SURCHARGE_PPM`]; 0 if nobody is evicted.
    pub surcharge_ppm: u32,
}

impl BuyPolicy {
    /// Whether all values are in range.
    pub fn is_valid(&self) -> bool {
        self.surcharge_ppm <= limits::SURCHARGE_PPM
    }
    /// Whether a buy may be evicted at all.
    pub fn evicts(&self) -> bool {
        self.surcharge_ppm > 0
    }
    /// The surcharge on a remainder, rounded up; `None` if that is no amount.
    pub fn surcharge(&self, remainder: Credits) -> Option<Credits> {
        remainder.share_ceil(u64::from(self.surcharge_ppm), PPM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surcharges_are_rounded_up_and_bounded() {
        let micros = |n| Credits::from_micros(n).unwrap();
        let fifth = BuyPolicy {
            surcharge_ppm: 200_000,
        };
        assert_eq!(fifth.surcharge(micros(101)), Some(micros(21)));
        assert_eq!(fifth.surcharge(Credits::ZERO), Some(Credits::ZERO));
        assert!(fifth.evicts() && fifth.is_valid());
        let off = BuyPolicy::default();
        assert!(!off.evicts() && off.is_valid());
        let most = BuyPolicy {
            surcharge_ppm: limits::SURCHARGE_PPM,
        };
        assert_eq!(most.surcharge(Credits::MAX), None);
        let beyond = BuyPolicy {
            surcharge_ppm: limits::SURCHARGE_PPM + 1,
        };
        assert!(most.is_valid() && !beyond.is_valid());
    }
}
