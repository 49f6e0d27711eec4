//! Projects of the node's owner, as an order knows them.

use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The project that an order is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectMark {
    /// Its name.
    pub project: String,
    /// The user who sent the order, if it came from one.
    pub user: Option<String>,
    /// The most that the order can cost.
    pub most: Credits,
}

/// The bounds of a project when an order comes. What is absent has no bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectBounds {
    /// For all orders of the time.
    pub budget: Option<Credits>,
    /// Orders that are not over.
    pub jobs: Option<u32>,
    /// Their nodes.
    pub nodes: Option<u32>,
    /// The time that the budget is for, milliseconds since 1970.
    pub time_ms: Range<u64>,
}
