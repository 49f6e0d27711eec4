//! Amendments: another price for a bid that stands or runs, sealed like a bid.

use super::Bid;
use crate::ids::OrderId;
use crate::order::flaw::Flaw;
use serde::{Deserialize, Serialize};

/// The contents of a sealed amendment. Its bid replaces the order's from the next clearing in which
/// the order takes part; class, units, minimum, slots and work are those of the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amendment {
    /// The order.
    pub order: OrderId,
    /// Its terms from then on; the budget is for the whole order, earlier payments included.
    pub bid: Bid,
}

impl Amendment {
    /// Whether all values are in range and prices fall.
    ///
    /// # Errors
    /// The first flaw.
    pub fn check(&self) -> Result<(), Flaw> {
        self.bid.check()
    }
    /// Whether it leaves alone what it may not change of a bid.
    pub fn suits(&self, bid: &Bid) -> bool {
        let shape = |b: &Bid| (b.class, b.units(), b.min, b.slots, b.work);
        shape(&self.bid) == shape(bid)
    }
}
