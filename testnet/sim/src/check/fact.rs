//! The entries and effects of a block, read once for all checkers.

use gridbay_core::Core;
use gridbay_host::message::DecidedBlock;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;

/// A decided block with its effects.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The honest node that showed it.
    pub node: usize,
    /// Its height.
    pub height: u64,
    /// The block and its certificate.
    pub decided: DecidedBlock,
    /// Its effects, in order.
    pub effects: Vec<Effect>,
}

impl Fact {
    /// Reads a block from a node that has it.
    ///
    /// # Errors
    /// The node does not have what it decided.
    pub fn read(core: &Core, node: usize, height: u64) -> Result<Fact, String> {
        let read = core.host().block(height);
        let read = read.map_err(|e| format!("block {height} of node {node}: {e}"))?;
        let decided = read.ok_or(format!("node {node} has no block {height}"))?;
        let effect = |bytes: Vec<u8>| codec::decode(&bytes, bytes.len());
        let effects: Result<Vec<Effect>, _> = core
            .host()
            .effect_bytes(height)
            .into_iter()
            .map(effect)
            .collect();
        Ok(Fact {
            node,
            height,
            decided,
            effects: effects.map_err(|e| format!("effects of block {height}: {e}"))?,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use gridbay_protocol::block::{Block, Header};
    use gridbay_protocol::ids::{BlockId, Hash32, NetworkId, ValidatorId};
    use gridbay_protocol::vote::Certificate;

    /// An empty block for tests of checkers.
    pub(crate) fn decided(height: u64) -> DecidedBlock {
        let header = Header {
            format: 1,
            rules: 1,
            network: NetworkId::default(),
            height,
            time_ms: height,
            parent: BlockId::default(),
            proposer: ValidatorId::default(),
            entries_root: Hash32::default(),
            effects_root: Hash32::default(),
            state_root: Hash32::default(),
            validators: Hash32::default(),
            next_validators: Hash32::default(),
            log_root: Hash32::default(),
            last_commit: Hash32::default(),
            beacon_reveal: Hash32::default(),
            evidence_root: Hash32::default(),
            hints_root: Hash32::default(),
        };
        let block = Block {
            header,
            entries: vec![],
            last_commit: None,
            evidence: vec![],
            hints: vec![],
        };
        let certificate = Certificate {
            height,
            round: 0,
            block: block.id(),
            signatures: vec![],
        };
        DecidedBlock { block, certificate }
    }
}
