//! A beacon chain that was registered and waits.

use gridbay_protocol::ids::Hash32;
use serde::{Deserialize, Serialize};

/// A registered tip that does not count yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Successor {
    /// The tip.
    pub tip: Hash32,
    /// First epoch in which it counts.
    pub epoch: u64,
}
