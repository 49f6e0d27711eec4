//! Where the chain stands.

use gridbay_protocol::ids::Hash32;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// Where the chain stands after a block; one record of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Height of the last block; 0 for the genesis.
    pub height: u64,
    /// Its time.
    pub time_ms: u64,
    /// The beacon after it.
    pub beacon: Hash32,
    /// Seed of the election of the next height.
    pub seed: Hash32,
    /// Money ever minted.
    pub minted: Credits,
}

/// Name of the [`Chain`] record in the state tree.
pub const CHAIN: &str = "chain";
