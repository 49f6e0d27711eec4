//! The body of a block as it goes along with its proposal: whole, or without the entries that its
//! receivers have.

use gridbay_ledger::CheckedBlock;
use gridbay_protocol::block::Block;
use gridbay_protocol::ids::{BlockId, EntryId};
use gridbay_protocol::limits::BLOCK_ENTRIES;
use serde::{Deserialize, Serialize};

/// A body beside a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// With all entries.
    Whole(Box<Block>),
    /// With those that a receiver may lack.
    Short(Box<ShortBlock>),
}

/// A block of which a receiver has most entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShortBlock {
    /// The block, of its entries only those that a receiver may lack.
    pub block: Block,
    /// The ids of all its entries, in order.
    pub ids: Vec<EntryId>,
}

impl Body {
    /// The block's id.
    pub fn id(&self) -> BlockId {
        self.block().id()
    }
    /// The block, of its entries those that are here.
    pub fn block(&self) -> &Block {
        match self {
            Body::Whole(block) => block,
            Body::Short(short) => &short.block,
        }
    }
    /// Whether its lists are within their bounds.
    pub(super) fn counts_fit(&self) -> bool {
        let ids = match self {
            Body::Whole(_) => 0,
            Body::Short(short) => short.ids.len(),
        };
        ids <= BLOCK_ENTRIES && super::block_fits(self.block())
    }
}

impl ShortBlock {
    /// Leaves out all entries but those that a receiver may lack.
    pub(crate) fn of(whole: &CheckedBlock, may_lack: impl Fn(&EntryId) -> bool) -> ShortBlock {
        let entries = whole.entries().iter();
        let along = entries.clone().filter(|entry| may_lack(&entry.id()));
        let mut block = whole.without_entries();
        block
            .entries
            .extend(along.map(|entry| entry.signed().clone()));
        let ids = entries.map(|entry| entry.id()).collect();
        ShortBlock { block, ids }
    }
}
