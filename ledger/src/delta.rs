//! The changes of a block that is not decided yet.

use crate::record::{Chain, RecordChanges};
use crate::tree::TreeDelta;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{BlockId, Hash32};
use std::sync::Arc;

/// The changes that a block makes to the state it was executed on.
#[derive(Clone, Debug)]
pub struct Delta {
    pub(crate) parent: BlockId,
    pub(crate) block: BlockId,
    pub(crate) chain: Chain,
    pub(crate) changes: RecordChanges,
    pub(crate) tree: TreeDelta,
    pub(crate) effects: Arc<[Effect]>,
}

impl Delta {
    /// Everything the block does, in order. Shared: a clearing of thousands of bids is not copied.
    pub fn effects(&self) -> &Arc<[Effect]> {
        &self.effects
    }
    /// Height of the block.
    pub fn height(&self) -> u64 {
        self.chain.height
    }
    /// The block.
    pub fn block_id(&self) -> BlockId {
        self.block
    }
    /// Root of the state after the block.
    pub fn state_root(&self) -> Hash32 {
        Hash32(self.tree.root())
    }
}
