//! A federation's policy for reservations; part of the genesis.

use super::{Orders, Policy};
use crate::limits;
use serde::{Deserialize, Serialize};

/// Most bids that are moved to the front in turn.
const FRONTS: u32 = 10;

/// How far ahead units are sold, and how much is tried to sell them well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowPolicy {
    /// Slots for sale from the next one on (T), 1 to [`limits::RESERVATION_SLOTS`].
    pub slots: u32,
    /// Slots in which a reservation may start (S), 1 to `slots`. With `slots - starts` at least the
    /// longest reservation, long and short ones compete for the same beginnings.
    pub starts: u32,
    /// Reservations that are moved to the front in turn (k), 1 to 10.
    pub fronts: u32,
    /// Rankings that this is done with.
    pub orders: Orders,
}

impl WindowPolicy {
    /// Mirage's: 104 slots, starts in the first 72 (3.4.3 p. 45; B.2), 10 attempts (3.2.1 p. 31).
    pub const MIRAGE: WindowPolicy = WindowPolicy {
        slots: 104,
        starts: 72,
        fronts: 10,
        orders: Orders::Density,
    };

    /// Whether all values are in range.
    pub fn is_valid(&self) -> bool {
        (1..=limits::RESERVATION_SLOTS).contains(&self.slots)
            && (1..=self.slots).contains(&self.starts)
            && (1..=FRONTS).contains(&self.fronts)
    }
    /// How much is tried.
    pub fn attempts(&self) -> Policy {
        Policy {
            fronts: self.fronts,
            orders: self.orders,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_legal_and_ranges_are_checked() {
        let good = WindowPolicy::MIRAGE;
        assert!(good.is_valid());
        for bad in [
            WindowPolicy { slots: 0, ..good },
            WindowPolicy {
                slots: limits::RESERVATION_SLOTS + 1,
                ..good
            },
            WindowPolicy { starts: 0, ..good },
            WindowPolicy {
                starts: good.slots + 1,
                ..good
            },
            WindowPolicy { fronts: 0, ..good },
            WindowPolicy {
                fronts: FRONTS + 1,
                ..good
            },
        ] {
            assert!(!bad.is_valid(), "{bad:?}");
        }
    }
}
