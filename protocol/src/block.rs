//! Blocks: header, body and the checks that need no state.

use crate::codec::{self, CodecError};
use crate::entry::SignedEntry;
use crate::evidence::Evidence;
use crate::hash::{Domain, hash};
use crate::ids::{BlockId, Hash32, NetworkId, ValidatorId};
use crate::limits;
use crate::record::reservation::hint::{self, Hint};
use crate::vote::Certificate;
use serde::{Deserialize, Serialize};

/// The statements that a block commits to. Its hash is the block's id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`crate::genesis::FORMAT`].
    pub format: u16,
    /// [`crate::genesis::RULES`].
    pub rules: u32,
    /// The network.
    pub network: NetworkId,
    /// Height, from 1.
    pub height: u64,
    /// Ledger time in milliseconds since 1970; greater than the parent's.
    pub time_ms: u64,
    /// The parent; zeros for height 1.
    pub parent: BlockId,
    /// Its proposer.
    pub proposer: ValidatorId,
    /// Root over the ids of the body's entries, in order.
    pub entries_root: Hash32,
    /// Root over the effects, in order.
    pub effects_root: Hash32,
    /// Root of the state tree after this block.
    pub state_root: Hash32,
    /// Validators of this height.
    pub validators: Hash32,
    /// Validators of the next height.
    pub next_validators: Hash32,
    /// Root of the log of the blocks before this one.
    pub log_root: Hash32,
    /// Hash of the parent's certificate in the body; zeros for height 1.
    pub last_commit: Hash32,
    /// The proposer's next beacon preimage.
    pub beacon_reveal: Hash32,
    /// Root over the evidence in the body.
    pub evidence_root: Hash32,
    /// Root over the hints in the body, in order.
    pub hints_root: Hash32,
}

impl Header {
    /// The block's id.
    pub fn id(&self) -> BlockId {
        BlockId(hash(Domain::Block, &[&codec::encode(self)]))
    }
}

/// Header and body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// The header.
    pub header: Header,
    /// Entries in order of execution.
    pub entries: Vec<SignedEntry>,
    /// The proposer's copy of the parent's certificate; `None` for height 1.
    pub last_commit: Option<Certificate>,
    /// Evidence.
    pub evidence: Vec<Evidence>,
    /// Better allocations for the decisions of this block, ascending by class.
    pub hints: Vec<Hint>,
}

/// Why bytes are no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// Malformed.
    #[error("malformed block")]
    Bytes(#[from] CodecError),
    /// More entries, evidence or hints than a block may hold.
    #[error("too many entries or hints in block {0}")]
    TooMany(BlockId),
}

/// Evidence items in one block at the most.
pub const BLOCK_EVIDENCE: usize = 16;

impl Block {
    /// Parses canonical bytes and checks the counts.
    pub fn decode(bytes: &[u8]) -> Result<Block, BlockError> {
        let block: Block = codec::decode(bytes, limits::BLOCK_BYTES)?;
        if block.entries.len() > limits::BLOCK_ENTRIES
            || block.evidence.len() > BLOCK_EVIDENCE
            || !hint::fit(&block.hints)
        {
            return Err(BlockError::TooMany(block.id()));
        }
        Ok(block)
    }
    /// Canonical bytes.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }
    /// Its id.
    pub fn id(&self) -> BlockId {
        self.header.id()
    }
}
