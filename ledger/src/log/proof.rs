//! Proofs about logs, checked by anyone who trusts roots and sizes; nothing here knows a
//! [`Log`](super::Log).
//!
//! The verifier derives the shape of the path from the sizes alone: walking from the top of the
//! tree to where the proof begins, it notes at each cut on which side the way goes on. That is at
//! most 64 steps for any 64-bit sizes. The path must have exactly that many hashes, which are then
//! folded upwards. So for given sizes and roots exactly one path passes, and no input makes it
//! panic.

use super::{Hash, hash, packed};
use serde::{Deserialize, Serialize};

/// That an item lies at an index of a log: hashes beside its way to the top, from the bottom up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InclusionProof {
    /// The audit path of RFC 6962; as one byte string of 32 bytes per hash on the wire.
    #[serde(with = "packed::list")]
    pub path: Vec<Hash>,
}

/// That a log is a prefix of a longer one.
///
/// The path is the one of RFC 6962, from the bottom up, except that it always begins with the
/// subtree from which both tree hashes are folded. The RFC leaves it out where the verifier knows
/// it already; ours knows only roots, which hide the tree hash behind the size. The proof from size
/// 0, which the RFC does not define, is the new tree hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsistencyProof {
    /// Hashes from the bottom up, the common subtree first; one byte string on the wire.
    #[serde(with = "packed::list")]
    pub path: Vec<Hash>,
}

/// Why a proof about a log does not show what it was offered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum LogProofError {
    /// A log of this size has no such item.
    #[error("no item {index} in a log of {size} items")]
    Index {
        /// The position claimed, from 0.
        index: u64,
        size: u64,
    },
    /// A longer log is never a prefix of a shorter one.
    #[error("old size {old} exceeds new size {new}")]
    Order { old: u64, new: u64 },
    /// The path has another length than the sizes demand.
    #[error("path has {found} hashes instead of {expected}")]
    PathLength { expected: usize, found: usize },
    /// The path does not lead to the root of the log, or of the newer log.
    #[error("proof does not lead to the root")]
    WrongRoot,
    /// The path does not lead to the root of the older log.
    #[error("proof does not lead to the older root")]
    WrongOldRoot,
}

/// Where the hash beside the way lies.
#[derive(Clone, Copy)]
enum Beside {
    Left,
    Right,
}

impl InclusionProof {
    /// Checks that a log with this `root` and `size` holds `item` at `index` (from 0).
    pub fn verify(
        &self,
        root: &Hash,
        size: u64,
        index: u64,
        item: &Hash,
    ) -> Result<(), LogProofError> {
        if index >= size {
            return Err(LogProofError::Index { index, size });
        }
        let (mut index, mut len, mut way) = (index, size, Vec::new());
        while len > 1 {
            let cut = hash::cut(len);
            if index < cut {
                way.push(Beside::Right);
                len = cut;
            } else {
                way.push(Beside::Left);
                index -= cut;
                len -= cut;
            }
        }
        expect_length(self.path.len(), way.len())?;
        let mut tree = hash::leaf(item);
        for (beside, side) in self.path.iter().zip(way.iter().rev()) {
            tree = match side {
                Beside::Left => hash::node(beside, &tree),
                Beside::Right => hash::node(&tree, beside),
            };
        }
        if hash::root(size, &tree) == *root {
            Ok(())
        } else {
            Err(LogProofError::WrongRoot)
        }
    }
}

impl ConsistencyProof {
    /// Checks that the log with `old_root` and `old_size` is a prefix of the one with `new_root`
    /// and `new_size`.
    pub fn verify(
        &self,
        old_root: &Hash,
        old_size: u64,
        new_root: &Hash,
        new_size: u64,
    ) -> Result<(), LogProofError> {
        if old_size > new_size {
            return Err(LogProofError::Order {
                old: old_size,
                new: new_size,
            });
        }
        let way = way_to_common_subtree(old_size, new_size);
        let length = LogProofError::PathLength {
            expected: way.len() + 1,
            found: self.path.len(),
        };
        let Some((common, path)) = self.path.split_first() else {
            return Err(length);
        };
        if path.len() != way.len() {
            return Err(length);
        }
        let (mut old, mut new) = (*common, *common);
        for (beside, side) in path.iter().zip(way.iter().rev()) {
            match side {
                Beside::Left => (old, new) = (hash::node(beside, &old), hash::node(beside, &new)),
                // Items on the right were appended after the old size.
                Beside::Right => new = hash::node(&new, beside),
            }
        }
        if old_size == 0 {
            old = hash::void();
        }
        if hash::root(old_size, &old) != *old_root {
            return Err(LogProofError::WrongOldRoot);
        }
        if hash::root(new_size, &new) == *new_root {
            Ok(())
        } else {
            Err(LogProofError::WrongRoot)
        }
    }
}

/// The way, from the top down, to the last complete subtree that ends where the old log ended. From
/// an empty log there is nothing in common, and no way.
fn way_to_common_subtree(old: u64, new: u64) -> Vec<Beside> {
    let (mut old, mut len, mut way) = (old, new, Vec::new());
    while 0 < old && old < len {
        let cut = hash::cut(len);
        if old <= cut {
            way.push(Beside::Right);
            len = cut;
        } else {
            way.push(Beside::Left);
            old -= cut;
            len -= cut;
        }
    }
    way
}

fn expect_length(found: usize, expected: usize) -> Result<(), LogProofError> {
    if found == expected {
        Ok(())
    } else {
        Err(LogProofError::PathLength { expected, found })
    }
}
