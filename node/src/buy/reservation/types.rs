//! The JSON of reservations.

use gridbay_protocol::mechanism::reservation::Channels;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The nodes reserved, and the time at which they may start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Ahead {
    /// Nodes of certain offers; further nodes that the order asks for may be of any offer.
    pub groups: Vec<NodeGroup>,
    /// Earliest start.
    pub from: Start,
    /// Latest start; the last one for sale if `None`.
    pub until: Option<Start>,
    /// Channels of which the job needs one for itself.
    pub channels: Option<Channels>,
}

/// Some of the nodes, of certain offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeGroup {
    /// How many.
    pub nodes: u32,
    /// Of which offers, by their ids or how these begin; of any if empty.
    pub offers: Vec<String>,
}

/// A time in the market: `{"in": 3600}` or `{"slot": 123}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Seconds from now.
    In(u32),
    /// A slot.
    Slot(u64),
}
