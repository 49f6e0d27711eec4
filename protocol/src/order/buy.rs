//! Buy-it-now.

use super::flaw::Flaw;
use crate::ids::{ClassId, Hash32, OfferId};
use crate::limits;
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// Buy-it-now: open, immediate if it can be, firm for a prepaid time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buy {
    /// The class.
    pub class: ClassId,
    /// Units, all or none, 1 to [`limits::ORDER_UNITS`].
    pub units: u32,
    /// Full slots to hold them, after the rest of the running one.
    pub slots: u32,
    /// Most to pay per slot for all units together.
    pub limit: Credits,
    /// Offers to buy from, ascending; empty for any.
    pub offers: Vec<OfferId>,
    /// Last height at which it may be served. It is decided as soon as it can be; if there are not enough units then,
    /// it waits as long as this allows. 0 for not at all.
    pub stands_until: u64,
    /// Most to pay on top, once, to those whose buys are evicted for it.
    pub surcharge: Credits,
    /// Salted hash of the job.
    pub work: Hash32,
}

impl Buy {
    /// What it locks: the limit for all slots and one more, for the rest of the running one, and the surcharge; `None` if
    /// that is no amount.
    pub fn lock(&self) -> Option<Credits> {
        let slots = self.limit.checked_mul(u64::from(self.slots) + 1)?;
        slots.checked_add(self.surcharge)
    }
    /// Whether all values are in range.
    ///
    /// # Errors
    /// The first flaw.
    pub fn check(&self) -> Result<(), Flaw> {
        let offers = &self.offers;
        let flaws = [
            (Flaw::Units, (1..=limits::ORDER_UNITS).contains(&self.units)),
            (Flaw::Slots, (1..=limits::ORDER_SLOTS).contains(&self.slots)),
            (
                Flaw::Offers,
                offers.len() <= limits::OFFERS_PER_ACCOUNT
                    && offers.windows(2).all(|w| w[0] < w[1]),
            ),
        ];
        Flaw::first(&flaws)
    }
}
