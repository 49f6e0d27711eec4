//! The changes of a block that is not decided yet.

use crate::record::{Chain, RecordChanges};
use crate::tree::TreeDelta;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{BlockId, Hash32};

/// The changes that a block makes to the state it was executed on.
#[derive(Clone, Debug)]
pub struct Delta {
    pub(crate) parent: BlockId,
    pub(crate) block: BlockId,
    pub(crate) chain: Chain,
    pub(crate) changes: RecordChanges,
    pub(crate) tree: TreeDelta,
    pub(crate) effects: Vec<Effect>,
}

impl Delta {
    /// Everything the block does, in order.
    pub fn effects(&self) -> &[Effect] {
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
