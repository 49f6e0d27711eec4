//! The JSON of bids.

use crate::api::types::amount;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A sealed bid in the auction of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BidHow {
    /// Whether fewer nodes are of use too (an array of tasks).
    pub divisible: bool,
}

/// A job that is worth something only when it is done. Its bid for all nodes and a slot is the
/// worth divided by the slots it still needs, so it rises with every slot done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobWorth {
    /// Its worth.
    #[serde(with = "amount")]
    pub worth: Credits,
    /// Seconds that it needs on end, on all its nodes.
    pub length_seconds: u32,
}
