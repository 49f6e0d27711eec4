//! What an order would cost, as JSON.

use crate::api::types::{amount, optional_amount};
use crate::buy::{DeadlineQuote, ShareOutlook};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// What an order would cost, as things stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// Name of the class; of several, all of them.
    pub class: String,
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
    /// What it likely costs at the last prices; `None` without any to go by.
    #[serde(with = "optional_amount")]
    pub likely: Option<Credits>,
    /// The least that a reservation may bid: the posted price of its node-slots; `None` for other
    /// orders.
    #[serde(with = "optional_amount")]
    pub posted: Option<Credits>,
    /// What must be free at once: the deposit, then one slot at the bid; all of a buy or a
    /// reservation.
    #[serde(with = "amount")]
    pub needed_now: Credits,
    /// What is free, credit line included.
    #[serde(with = "amount")]
    pub spendable: Credits,
    /// Whether the order can be paid: `most` is at most `spendable`.
    pub funded: bool,
    /// Units of the class offered.
    pub units_offered: u32,
    /// Units of those that nobody holds.
    pub units_free: u32,
    /// What the seller's plan says to a job by a deadline; `None` for other orders.
    pub deadline: Option<DeadlineQuote>,
    /// What a claim on a pool would get; `None` for other orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<ShareOutlook>,
}
