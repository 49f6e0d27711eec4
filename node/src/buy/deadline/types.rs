//! The JSON of jobs by deadlines.

use crate::api::types::{amount, optional_amount};
use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A bag of tasks by a deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadlineHow {
    /// Seconds after acceptance through which `pay` is paid.
    pub soft_seconds: u32,
    /// Seconds after acceptance by which it is done, or costs nothing.
    pub hard_seconds: u32,
    /// Price of all of it until the soft deadline.
    #[serde(with = "amount")]
    pub pay: Credits,
    /// Price at the hard deadline.
    #[serde(with = "amount")]
    pub late_pay: Credits,
    /// How the price falls in between.
    pub shape: Shape,
    /// The id of the seller's offer, or how it begins; `None` for the offer with the most room.
    pub offer: Option<String>,
    /// Name or account of the seller, if no offer is named.
    pub seller: Option<String>,
}

/// The place of a job by a deadline in a seller's plan, as things stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeadlineQuote {
    /// The offer.
    pub offer: OfferId,
    /// Its seller.
    pub seller: AccountId,
    /// Work declared: nodes times slots.
    pub node_slots: u64,
    /// Seconds after acceptance through which `pay` is paid, whole slots.
    pub soft_seconds: u64,
    /// Seconds after acceptance by which it is done, whole slots.
    pub hard_seconds: u64,
    /// Price until the soft deadline.
    #[serde(with = "amount")]
    pub pay: Credits,
    /// Price at the hard deadline.
    #[serde(with = "amount")]
    pub late_pay: Credits,
    /// The seller's stake on it, the buyer's if it misses its hard deadline.
    #[serde(with = "amount")]
    pub bond: Credits,
    /// Seconds after acceptance when it would be done; `None` if it would not be taken.
    pub done_seconds: Option<u64>,
    /// Its price then.
    #[serde(with = "optional_amount")]
    pub price: Option<Credits>,
    /// Why it would not be taken.
    pub refused: Option<String>,
}
