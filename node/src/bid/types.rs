//! Bids: suggestions, the bids that stand, and new prices for them.

use crate::api::types::{JobId, JobState, amount, optional_amount};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /bids/suggest`: a bid under consideration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BidWish {
    /// Name of the class; `None` for the cheapest that fits.
    pub class: Option<String>,
    /// Nodes.
    #[schema(minimum = 1, maximum = 4096)]
    pub nodes: u32,
    /// Whether fewer nodes are of use too (an array of tasks).
    pub divisible: bool,
    /// Hard limit on the running time.
    #[schema(minimum = 1)]
    pub seconds: u32,
    /// Percent of the clearings that it should win, 1 to 100.
    #[schema(minimum = 1, maximum = 100)]
    pub chance: u32,
}

/// A suggested bid, by the last clearings of the class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BidAdvice {
    /// Name of the class.
    pub class: String,
    /// Nodes.
    pub nodes: u32,
    /// Seconds, rounded up to whole slots.
    pub seconds: u32,
    /// Clearings looked at; 0 if there was none, and the price is the reserve.
    pub clearings: u32,
    /// The lowest price, per node-hour, at which offers together have so many nodes; `None` if
    /// there are fewer.
    #[serde(with = "optional_amount")]
    pub reserve: Option<Credits>,
    /// Price per node-hour that would have won so many of the clearings, the reserve at least;
    /// `None` if none would.
    #[serde(with = "optional_amount")]
    pub price: Option<Credits>,
    /// Percent of the clearings that this price would have won; `None` without clearings.
    pub won: Option<u32>,
    /// The most that a bid at this price can cost for the whole time, with the rest of the slot it
    /// starts in.
    #[serde(with = "optional_amount")]
    pub most: Option<Credits>,
    /// The successes of other prices, ascending.
    pub prices: Vec<PriceChance>,
}

/// The success of a price in past clearings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PriceChance {
    /// Price per node-hour.
    #[serde(with = "amount")]
    pub price: Credits,
    /// Percent of the clearings looked at.
    pub won: u32,
}

/// `GET /bids`: a bid of this node that is not over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StandingBid {
    /// Its job.
    pub id: JobId,
    /// Name of the job.
    pub name: String,
    /// Name of the class.
    pub class: String,
    /// Nodes.
    pub nodes: u32,
    /// Whether fewer nodes are of use too.
    pub divisible: bool,
    /// State of the job.
    pub state: JobState,
    /// Most per node-hour, as the ledger has it.
    #[serde(with = "amount")]
    pub max_price: Credits,
    /// Most for the whole order.
    #[serde(with = "amount")]
    pub budget: Credits,
    /// Paid so far.
    #[serde(with = "amount")]
    pub paid: Credits,
    /// Most per node-hour of an amendment that is under way; `None` without one.
    #[serde(with = "optional_amount")]
    pub amended: Option<Credits>,
}

/// `POST /bids/{id}/amend`: another price for a bid that stands or runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AmendRequest {
    /// Most per node-hour.
    #[serde(with = "amount")]
    pub max_price: Credits,
    /// Most for the whole order, with what was paid; `None` leaves it.
    #[serde(default, with = "optional_amount")]
    pub budget: Option<Credits>,
}
