//! Buys as the ledger keeps them.

use super::Sale;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::order::Buy;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A buy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuyOrder {
    /// What was asked.
    pub buy: Buy,
    /// Whether it was decided on and waits for units since.
    pub waits: bool,
    /// Of a buy of several classes that waits: which of them had too few units when it was last decided on; `None` if all
    /// together were too dear.
    pub short: Option<ClassId>,
    /// Units taken once it is served, class by class, each with its buy price of that moment, and the price of all of them
    /// per slot.
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
