//! Hires: units of a class at the price that their sellers posted.

use super::flaw::Flaw;
use crate::ids::{ClassId, Hash32};
use crate::limits;
use crate::units::{Credits, Price};
use serde::{Deserialize, Serialize};

/// A hire: open, served with the block that includes it or not at all, firm for a prepaid time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hire {
    /// The class.
    pub class: ClassId,
    /// Units, all or none, 1 to [`limits::ORDER_UNITS`].
    pub units: u32,
    /// Full slots to hold them, after the rest of the running one, 1 to [`limits::ORDER_SLOTS`].
    pub slots: u32,
    /// The most that each unit may cost per slot.
    pub limit: Price,
    /// Salted hash of the job.
    pub work: Hash32,
}

impl Hire {
    /// The amount that it locks: all units at the limit for all slots and one more, for the rest of
    /// the running one; `None` if that is no amount.
    pub fn lock(&self) -> Option<Credits> {
        let slot = self.limit.times(u64::from(self.units))?;
        slot.checked_mul(u64::from(self.slots) + 1)
    }
    /// Checks that all values are in range.
    ///
    /// # Errors
    /// The first flaw.
    pub fn check(&self) -> Result<(), Flaw> {
        Flaw::first(&[
            (Flaw::Units, (1..=limits::ORDER_UNITS).contains(&self.units)),
            (Flaw::Slots, (1..=limits::ORDER_SLOTS).contains(&self.slots)),
            (Flaw::Price, self.limit <= Price::MAX),
        ])
    }
}
