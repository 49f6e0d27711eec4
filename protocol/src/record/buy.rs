//! Buys: the public record of the units that one took, their sellers, and the leases that lost
//! units to it.

use super::ausubel::ClearingOffer;
use crate::ids::{ClassId, LeaseId, OrderId};
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// One buy-it-now that was served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuyRecord {
    /// The order.
    pub order: OrderId,
    /// Height of the block that holds it.
    pub height: u64,
    /// The units taken for it, ascending by class.
    pub parts: Vec<BoughtPart>,
    /// Price per slot: the sum over the parts.
    pub price: Credits,
    /// Full slots bought.
    pub slots: u32,
}

/// The units that a buy took of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoughtPart {
    /// The class.
    pub class: ClassId,
    /// Units taken by offer, with the buy price of each.
    pub taken: Vec<ClearingOffer>,
    /// Leases that lost units to it.
    pub displaced: Vec<LeaseId>,
    /// Value per slot of the bids displaced.
    pub displaced_value: Credits,
    /// Buys that were evicted, ascending by lease.
    pub evicted: Vec<Eviction>,
    /// Price per slot: the larger of that value and the sum of the buy prices.
    pub price: Credits,
}

/// A buy that another one evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Eviction {
    /// Its lease.
    pub lease: LeaseId,
    /// Its unused prepaid money: all of it was returned.
    pub remainder: Credits,
    /// Its surcharge; nothing within one sponsor.
    pub surcharge: Credits,
}

impl BoughtPart {
    /// Units taken.
    pub fn units(&self) -> u32 {
        self.taken.iter().map(|t| t.units).sum()
    }
    /// The sellers' price per slot; `None` if that is no amount.
    pub fn asked(&self) -> Option<Credits> {
        asked(&self.taken)
    }
}

/// The price per slot of some units, all together; `None` if that is no amount.
pub fn asked(taken: &[ClearingOffer]) -> Option<Credits> {
    let asked = taken.iter().map(|t| t.reserve.times(u64::from(t.units)));
    asked.collect::<Option<Vec<_>>>().and_then(Credits::sum)
}

impl BuyRecord {
    /// Units taken of all classes.
    pub fn units(&self) -> u32 {
        self.parts.iter().map(BoughtPart::units).sum()
    }
    /// Its classes, ascending.
    pub fn classes(&self) -> impl Iterator<Item = ClassId> + use<'_> {
        self.parts.iter().map(|part| part.class)
    }
    /// Leases that lost units to it.
    pub fn displaced(&self) -> impl Iterator<Item = LeaseId> + use<'_> {
        self.parts
            .iter()
            .flat_map(|part| part.displaced.iter().copied())
    }
    /// Buys that were evicted for it.
    pub fn evicted(&self) -> impl Iterator<Item = Eviction> + use<'_> {
        self.parts
            .iter()
            .flat_map(|part| part.evicted.iter().copied())
    }
}
