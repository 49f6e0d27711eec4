//! Hires as the ledger keeps them.

use super::live::Live;
use super::{Sale, Way};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::order::Hire;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A hire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostedOrder {
    /// The terms asked for.
    pub hire: Hire,
    /// Units taken once it is served, each with its price of that moment, and the price of all of
    /// them per slot.
    pub sales: Vec<Sale>,
}

impl PostedOrder {
    /// A hire that is still to be decided.
    pub(crate) fn new(hire: Hire) -> PostedOrder {
        PostedOrder {
            hire,
            sales: Vec::new(),
        }
    }
    /// Price per slot once it is served.
    pub fn price(&self) -> Credits {
        Sale::sum(&self.sales)
    }
}

impl Live for PostedOrder {
    fn way(&self) -> Way {
        Way::Posted
    }
    fn work(&self) -> Hash32 {
        self.hire.work
    }
    fn tasks(&self) -> u32 {
        self.hire.units
    }
    fn agreed(&self) -> Option<Vec<Sale>> {
        Some(self.sales.clone())
    }
}
