//! Quotes of orders, as JSON.

use crate::api::types::{amount, optional_amount};
use crate::buy::{DeadlineQuote, ShareOutlook};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The cost of an order, as things stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Quote {
    /// Name of the class; of several, all of them.
    pub class: String,
    /// Of how many classes that can serve the order the node chose this one, as the cheapest;
    /// `None` if it was named, or there is no other.
    #[serde(default)]
    pub among: Option<u32>,
    /// Nodes of all classes.
    pub nodes: u32,
    /// Seconds, rounded up to whole slots.
    pub seconds: u32,
    /// Full slots.
    pub slots: u32,
    /// Price limit per node-hour that the order would carry.
    #[serde(with = "amount")]
    pub max_price: Credits,
    /// The most it can cost: price limit x nodes x slots, or the budget if that is less.
    #[serde(with = "amount")]
    pub most: Credits,
    /// The likely cost at the last prices; `None` without any.
    #[serde(with = "optional_amount")]
    pub likely: Option<Credits>,
    /// The least that a reservation may bid: the posted price of its node-slots; `None` for other
    /// orders.
    #[serde(with = "optional_amount")]
    pub posted: Option<Credits>,
    /// The money that must be free at once: the deposit, then one slot at the bid; all of a buy or
    /// a reservation.
    #[serde(with = "amount")]
    pub needed_now: Credits,
    /// The free money, credit line included.
    #[serde(with = "amount")]
    pub spendable: Credits,
    /// Whether the order can be paid: `most` is at most `spendable`.
    pub funded: bool,
    /// Units of the class offered.
    pub units_offered: u32,
    /// Units of those that nobody holds.
    pub units_free: u32,
    /// Nodes that an order which does not wait for them can have now: a buy has free units and
    /// those of bids, which give way, a hire free ones. `None` for other orders, and where a
    /// surcharge may evict others' buys.
    #[serde(default)]
    pub nodes_in_reach: Option<u32>,
    /// What sellers ask at least per node-hour for so many nodes; `None` if too few are offered, or
    /// if orders of this way are refused below it.
    #[serde(default, with = "optional_amount")]
    pub asked: Option<Credits>,
    /// Whether the order offers less: it cannot win unless sellers come to ask less.
    #[serde(default)]
    pub too_low: bool,
    /// The place of a job by a deadline in the seller's plan; `None` for other orders.
    pub deadline: Option<DeadlineQuote>,
    /// The grant that a claim on a pool would get; `None` for other orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<ShareOutlook>,
}
