//! Snapshots: a state as bytes. They hold the records, not the tree, which follows from them.
//!
//! A restored state is as good as its [`State::root`]: compare that with the state root of a header
//! that is known to be final, and [`State::tip`] with its id, before using it.

use crate::log::Frontier;
use crate::record::{CHAIN, Chain, Records};
use crate::roots;
use crate::state::State;
use crate::tree::Tree;
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::genesis::{Genesis, GenesisError};
use gridbay_protocol::ids::{BlockId, NetworkId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    network: NetworkId,
    chain: Chain,
    tip: BlockId,
    blocks: Frontier,
    records: Records,
}

/// Why bytes are no snapshot of a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// The genesis is bad.
    #[error("genesis")]
    Genesis(#[from] GenesisError),
    /// Not the canonical bytes of a snapshot.
    #[error("malformed snapshot")]
    Bytes(#[from] CodecError),
    /// Of another network.
    #[error("a snapshot of network {0}")]
    Network(NetworkId),
}

impl State {
    /// The state as canonical bytes, in time and size proportional to its records.
    pub fn snapshot(&self) -> Vec<u8> {
        codec::encode(&Snapshot {
            network: self.network(),
            chain: self.chain,
            tip: self.tip,
            blocks: self.blocks.clone(),
            records: self.records.clone(),
        })
    }

    /// The state of a snapshot of at most `max` bytes.
    ///
    /// # Errors
    /// Bytes that are no snapshot of this genesis' network.
    pub fn restore(genesis: &Genesis, bytes: &[u8], max: usize) -> Result<State, SnapshotError> {
        let mut state = State::genesis(genesis)?;
        let snapshot: Snapshot = codec::decode(bytes, max)?;
        if snapshot.network != state.network() {
            return Err(SnapshotError::Network(snapshot.network));
        }
        let mut leaves = snapshot.records.leaves();
        let chain = roots::record_value(&snapshot.chain);
        leaves.insert(roots::record_key(CHAIN, &()), chain);
        state.tree = Tree::build(&leaves);
        state.chain = snapshot.chain;
        state.tip = snapshot.tip;
        state.blocks = snapshot.blocks;
        state.records = snapshot.records;
        Ok(state)
    }
}
