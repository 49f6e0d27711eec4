//! Buy-it-now: units of one class, or of several together.

use super::flaw::Flaw;
use crate::ids::{ClassId, Hash32, OfferId};
use crate::limits;
use crate::units::{Credits, Price};
use serde::{Deserialize, Serialize};

/// Buy-it-now: open, immediate if it can be, firm for a prepaid time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buy {
    /// The parts bought together, all or nothing: 1 to [`limits::BUY_PARTS`] parts, ascending by
    /// class; of several it is a group. At most [`limits::ORDER_UNITS`] units and
    /// [`limits::OFFERS_PER_ACCOUNT`] offers named in all.
    pub parts: Vec<BuyPart>,
    /// Full slots to hold them, after the rest of the running one.
    pub slots: u32,
    /// Most to pay per slot for all units together.
    pub limit: Credits,
    /// Last height at which it may be served. It is decided as soon as it can be; if there are not
    /// enough units then, it waits as long as this allows. 0 for not at all.
    pub stands_until: u64,
    /// Most to pay on top, once, to those whose buys are evicted for it.
    pub surcharge: Credits,
    /// Salted hash of the job.
    pub work: Hash32,
}

/// Units of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuyPart {
    /// The class.
    pub class: ClassId,
    /// Units, all or none, at least 1.
    pub units: u32,
    /// Offers to buy from, ascending; empty for any.
    pub offers: Vec<OfferId>,
}

impl BuyPart {
    /// Units of a class, from any offers.
    pub fn anywhere(class: ClassId, units: u32) -> BuyPart {
        BuyPart {
            class,
            units,
            offers: Vec::new(),
        }
    }
    /// The cost of its units a slot at so much each; `None` if that is no amount.
    pub fn at(&self, price: Price) -> Option<Credits> {
        price.times(u64::from(self.units))
    }
}

impl Buy {
    /// Units of all parts, capped: of a checked buy at most [`limits::ORDER_UNITS`].
    pub fn units(&self) -> u32 {
        let units = self.parts.iter().map(|part| part.units);
        units.fold(0, u32::saturating_add)
    }
    /// Its classes, ascending.
    pub fn classes(&self) -> impl Iterator<Item = ClassId> + use<'_> {
        self.parts.iter().map(|part| part.class)
    }
    /// Whether it asks for units of several classes.
    pub fn is_group(&self) -> bool {
        self.parts.len() > 1
    }
    /// The amount that it locks: the limit for all slots and one more, for the rest of the running
    /// one, and the surcharge; `None` if that is no amount.
    pub fn lock(&self) -> Option<Credits> {
        let slots = self.limit.checked_mul(u64::from(self.slots) + 1)?;
        slots.checked_add(self.surcharge)
    }
    /// Whether all values are in range.
    ///
    /// # Errors
    /// The first flaw.
    pub fn check(&self) -> Result<(), Flaw> {
        let parts = &self.parts;
        let ascends = |part: &BuyPart| part.offers.windows(2).all(|w| w[0] < w[1]);
        let named: usize = parts.iter().map(|part| part.offers.len()).sum();
        let flaws = [
            (
                Flaw::Parts,
                (1..=limits::BUY_PARTS).contains(&parts.len())
                    && parts.windows(2).all(|w| w[0].class < w[1].class),
            ),
            (
                Flaw::Units,
                parts.iter().all(|part| part.units > 0) && self.units() <= limits::ORDER_UNITS,
            ),
            (Flaw::Slots, (1..=limits::ORDER_SLOTS).contains(&self.slots)),
            (
                Flaw::Offers,
                named <= limits::OFFERS_PER_ACCOUNT && parts.iter().all(ascends),
            ),
        ];
        Flaw::first(&flaws)
    }
}
