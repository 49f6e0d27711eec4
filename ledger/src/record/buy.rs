//! Buys as the ledger keeps them.

use super::live::Live;
use super::{Sale, Way};
use gridbay_protocol::ids::{ClassId, Hash32};
use gridbay_protocol::order::Buy;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A buy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuyOrder {
    /// The terms asked for.
    pub buy: Buy,
    /// Whether it was decided on and waits for units since.
    pub waits: bool,
    /// Of a buy of several classes that waits: which of them had too few units when it was last
    /// decided on; `None` if all together were too dear.
    pub short: Option<ClassId>,
    /// Units taken once it is served, class by class, each with its buy price of that moment, and
    /// the price of all of them per slot.
    pub sales: Vec<Sale>,
}

impl BuyOrder {
    /// A buy that is still to be decided.
    pub(crate) fn new(buy: Buy) -> BuyOrder {
        BuyOrder {
            buy,
            waits: false,
            short: None,
            sales: Vec::new(),
        }
    }
    /// Price per slot once it is served.
    pub fn price(&self) -> Credits {
        Sale::sum(&self.sales)
    }
}

impl Live for BuyOrder {
    fn way(&self) -> Way {
        Way::Buy
    }
    fn work(&self) -> Hash32 {
        self.buy.work
    }
    fn tasks(&self) -> u32 {
        self.buy.units()
    }
    fn classes(&self) -> Option<Vec<ClassId>> {
        Some(self.buy.classes().collect())
    }
    fn agreed(&self) -> Option<Vec<Sale>> {
        Some(self.sales.clone())
    }
}
