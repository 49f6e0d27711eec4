//! The calendar: which height belongs to which round, slot and epoch.
//!
//! Time in the market is counted in heights, never in a clock. With `round_heights = 4` and
//! `slot_rounds = 2`:
//!
//! ```text
//! height   1  2  3  4 | 5  6  7  8 | 9 10 11 12 |13 ...
//! round         0     |     1      |     2      |  3
//! slot                0            |            1
//! closes            C           C*           C           C*     (* = slot boundary)
//! ```
//!
//! The last height of a round closes it: that block clears the bids opened in the round's other
//! blocks. The last height of a slot's last round is the slot boundary: its clearing decides which
//! buyer holds which units during the *next* slot.

use serde::{Deserialize, Serialize};

/// Lengths of rounds and slots; part of the genesis, whose check refuses lengths out of range.
/// Heights may be any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calendar {
    /// Heights of one round, 2 to 100: at least one for openings and one to close.
    pub round_heights: u32,
    /// Rounds of one slot, 1 to 1,000.
    pub slot_rounds: u32,
}

impl Calendar {
    /// Whether both lengths are in range.
    pub fn is_valid(&self) -> bool {
        (2..=100).contains(&self.round_heights) && (1..=1_000).contains(&self.slot_rounds)
    }
    /// Heights of one slot.
    pub fn slot_heights(&self) -> u64 {
        u64::from(self.round_heights) * u64::from(self.slot_rounds)
    }
    /// Round of a height; the genesis (height 0) counts to round 0.
    pub fn round(&self, height: u64) -> u64 {
        height.saturating_sub(1) / u64::from(self.round_heights)
    }
    /// Slot of a height.
    pub fn slot(&self, height: u64) -> u64 {
        height.saturating_sub(1) / self.slot_heights()
    }
    /// Whether the block of `height` closes its round.
    pub fn closes_round(&self, height: u64) -> bool {
        height > 0 && height.is_multiple_of(u64::from(self.round_heights))
    }
    /// Whether the block of `height` is its slot's last.
    pub fn closes_slot(&self, height: u64) -> bool {
        height > 0 && height.is_multiple_of(self.slot_heights())
    }
    /// Heights of the current slot that come after `height`: 0 at the boundary.
    pub fn heights_left(&self, height: u64) -> u64 {
        self.last_of_slot(self.slot(height)) - height
    }
    /// Last height of a slot: its boundary. Beyond the last height there is, that height.
    pub fn last_of_slot(&self, slot: u64) -> u64 {
        slot.saturating_add(1).saturating_mul(self.slot_heights())
    }
    /// Last height of a round: the one that closes it. Beyond the last height there is, that
    /// height.
    pub fn last_of_round(&self, round: u64) -> u64 {
        round
            .saturating_add(1)
            .saturating_mul(u64::from(self.round_heights))
    }
}

/// Epoch of a height: elections of an epoch use what was known at the end of the one before.
pub fn epoch(height: u64) -> u64 {
    height.saturating_sub(1) / crate::limits::EPOCH_HEIGHTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_height_has_its_place() {
        let cal = Calendar {
            round_heights: 4,
            slot_rounds: 2,
        };
        let closes: Vec<u64> = (0..=17).filter(|h| cal.closes_round(*h)).collect();
        assert_eq!(closes, [4, 8, 12, 16]);
        assert_eq!(
            (0..=17).filter(|h| cal.closes_slot(*h)).collect::<Vec<_>>(),
            [8, 16]
        );
        for h in 1..100 {
            assert_eq!(cal.slot(h), cal.round(h) / 2);
            assert!(cal.last_of_round(cal.round(h)) >= h);
            assert_eq!(cal.round(cal.last_of_round(cal.round(h))), cal.round(h));
            assert_eq!(cal.heights_left(h) == 0, cal.closes_slot(h));
        }
        assert_eq!(
            (cal.heights_left(u64::MAX), cal.last_of_round(u64::MAX)),
            (0, u64::MAX)
        );
        assert_eq!((epoch(1), epoch(1_200), epoch(1_201)), (0, 0, 1));
    }
}
