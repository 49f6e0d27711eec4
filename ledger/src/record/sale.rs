//! Units that were sold together, and their price.

use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// Units of one class that share what is paid for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sale {
    /// Credits paid for them: per slot, as an order keeps it.
    pub price: Credits,
    /// The units, each with the least that it earns of a full slot; ascending by offer.
    pub taken: Vec<ClearingOffer>,
}

impl Sale {
    /// Credits paid for all sales of an order.
    pub(crate) fn sum(sales: &[Sale]) -> Credits {
        let sum = Credits::sum(sales.iter().map(|sale| sale.price));
        sum.expect("an order's price is within its limit")
    }
}
