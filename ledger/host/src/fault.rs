//! Faults: the only errors that stop a host.
//!
//! A fault is about this node alone: its disk failed, a file of its own is damaged, or one of its
//! own invariants broke. Going on could make it sign twice or forget acknowledged entries, so the
//! caller stops the node and shows the message. A message of a peer or a user never causes a fault.

use crate::disk::DiskError;
use gridbay_protocol::ids::BlockId;

/// Why the node must stop.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A file is damaged where it once was safely on disk.
    #[error(
        "{file} is damaged at byte {offset}: restore it from a backup; only the block file may also be \
         removed and fetched from peers again (see docs/durability.md)"
    )]
    Corrupt {
        /// Name of the file.
        file: String,
        /// Where the first damaged record begins.
        offset: u64,
    },
    /// A record that is whole but makes no sense.
    #[error("{file} holds at byte {offset} what this program cannot have written: {what}")]
    Foreign {
        /// Name of the file.
        file: String,
        /// Where the record begins.
        offset: u64,
        /// The damage.
        what: &'static str,
    },
    /// The genesis is refused.
    #[error("genesis refused")]
    Genesis(#[from] gridbay_protocol::genesis::GenesisError),
    /// A block that this node decided is refused by its own rules.
    #[error("block {block} at height {height} was decided but is refused: {reason}")]
    Refused {
        /// Height.
        height: u64,
        /// The block.
        block: BlockId,
        /// The refusal.
        reason: String,
    },
    /// The sign-guard forbids a signature that consensus asked for.
    #[error("consensus asked for a second, different statement at height {height}, round {round}")]
    WouldEquivocate {
        /// Height.
        height: u64,
        /// Round.
        round: u32,
    },
    /// The consensus core reports an error of its own.
    #[error("consensus failed at height {height}: {reason}")]
    Consensus {
        /// Height.
        height: u64,
        /// The core's words.
        reason: String,
    },
    /// An own invariant broke.
    #[error("invariant broken: {0}")]
    Invariant(&'static str),
}
