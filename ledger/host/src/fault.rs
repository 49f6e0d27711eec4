//! Faults: the only errors that stop a host.
//!
//! A fault is about this node alone: its disk failed, a file of its own is damaged, or one of its
//! own invariants broke. Going on could make it sign twice or forget acknowledged entries, so the
//! caller stops the node and shows the message. A message of a peer or a user never causes a fault.

use crate::disk::DiskError;
use gridbay_protocol::ids::BlockId;

/// Why the node must stop.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum Fault {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A file is damaged where it once was safely on disk.
    #[error(
        "{file} is damaged at byte {offset}: restore it from a backup; only the block file may also be \
         removed and fetched from peers again (see docs/durability.md)"
    )]
    Corrupt { file: String, offset: u64 },
    /// A record that is whole but makes no sense.
    #[error("{file} holds at byte {offset} what this program cannot have written: {what}")]
    Foreign {
        file: String,
        offset: u64,
        what: &'static str,
    },
    /// The genesis is refused.
    #[error("genesis refused")]
    Genesis(#[from] gridbay_protocol::genesis::GenesisError),
    /// A block that this node decided is refused by its own rules.
    #[error("block {block} at height {height} was decided but is refused: {reason}")]
    Refused {
        height: u64,
        block: BlockId,
        reason: String,
    },
    /// The sign-guard forbids a signature that consensus asked for.
    #[error("consensus asked for a second, different statement at height {height}, round {round}")]
    WouldEquivocate { height: u64, round: u32 },
    /// The consensus core reports an error of its own.
    #[error("consensus failed at height {height}: {reason}")]
    Consensus { height: u64, reason: String },
    /// An own invariant broke.
    #[error("invariant broken: {0}")]
    Invariant(&'static str),
}
