//! Pots: the payments for a slot, by lease and units, until they are settled at the boundary.
//!
//! There is one pot per clearing, and one per firm lease and slot. Together the pots of a class
//! hold the content of its class purse.

use super::Way;
use gridbay_protocol::ids::{AccountId, ClassId, LeaseId, OfferId, OrderId};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A pot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pot {
    /// The class whose purse holds it: of a lease on units of several, the first.
    pub class: ClassId,
    /// How the units were sold.
    pub way: Way,
    /// The slot.
    pub slot: u64,
    /// Heights sold, at least 1.
    pub heights: u64,
    /// Credits in it: paid less refunded.
    pub left: Credits,
    /// Each lease's part of it.
    pub stakes: Vec<Stake>,
    /// The units sold, and their earnings if they are delivered, ascending by offer.
    pub sold: Vec<PotOffer>,
}

/// The payment of one lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stake {
    /// The lease.
    pub lease: LeaseId,
    /// Its order.
    pub order: OrderId,
    /// The buyer.
    pub account: AccountId,
    /// The cost of the units that still run for all heights sold; it covers their reserves.
    pub running: Credits,
    /// Its payment less its refunds.
    pub left: Credits,
    /// The units paid for.
    pub parts: Vec<Part>,
}

/// Units of one offer in one lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The offer.
    pub offer: OfferId,
    /// Units.
    pub units: u32,
    /// How it ended before the slot did; `None` while it runs.
    pub stopped: Option<Stopped>,
}

/// The early end of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stopped {
    /// Heights served of those sold.
    pub served: u64,
    /// Whether its seller had acknowledged the lease.
    pub delivered: bool,
    /// Whether its buyer has said all about it, so that nothing of it is held.
    pub undisputed: bool,
}

/// The units that an offer sold into a pot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PotOffer {
    /// The offer.
    pub offer: OfferId,
    /// The class of its units.
    pub class: ClassId,
    /// Its seller.
    pub seller: AccountId,
    /// Units sold.
    pub units: u32,
    /// Least earning of each for the heights sold.
    pub reserve: u64,
    /// Their earnings together for the heights sold.
    pub earns: Credits,
}

impl Pot {
    /// Least earning of a unit of an offer for the heights sold; nothing if none was sold.
    pub fn reserve(&self, offer: &OfferId) -> u64 {
        let sold = self.sold.iter().find(|s| s.offer == *offer);
        sold.map_or(0, |s| s.reserve)
    }
}
