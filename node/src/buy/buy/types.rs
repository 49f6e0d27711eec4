//! The JSON of buys.

use crate::api::types::amount;
use crate::buy::way::Also;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Buy-it-now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BuyHow {
    /// Seconds to wait for nodes if there are not enough; 0 for not at all.
    #[serde(default)]
    pub wait_seconds: u32,
    /// Most to pay on top, once, to those whose buys are evicted for it, where the federation's
    /// policy evicts.
    #[serde(default, with = "amount")]
    pub surcharge: Credits,
    /// Nodes of other classes, with them all or none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Also>,
}
