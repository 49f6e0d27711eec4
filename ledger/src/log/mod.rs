//! Append-only Merkle logs, shaped as in RFC 6962 section 2.1, over items of 32 bytes each.
//!
//! **Hashes.** All are blake3 of a tag and a payload; the tags end with their only zero byte, so no
//! preimage of one kind is one of another. `MTH` is the tree hash of RFC 6962:
//!
//! 1. No item: `MTH() = blake3("gridbay/log/void/v1\0")`.
//! 2. One item: `MTH(d) = blake3("gridbay/log/leaf/v1\0" ‖ d)`.
//! 3. n > 1 items, k the largest power of two below n:
//!    `MTH(d[0..n]) = blake3("gridbay/log/node/v1\0" ‖ MTH(d[0..k]) ‖ MTH(d[k..n]))`.
//! 4. The **root**, the only commitment that leaves this module, binds the size too: `root =
//!    blake3("gridbay/log/root/v1\0" ‖ n as 8 bytes big-endian ‖ MTH)`.
//!
//! RFC 6962 leaves the binding of rule 4 to the signature on a tree head. Here a block header holds
//! a root alone. Without rule 4 a proof for size 3 could pass for size 4, because their paths have
//! the same shape.
//!
//! **Parts.** [`Frontier`] appends and knows its root in O(log n) space: the state holds one.
//! [`Log`] keeps every complete subtree and makes proofs: an archive holds one. [`InclusionProof`]
//! and [`ConsistencyProof`] verify on their own. [`merkle_root`] and [`prove_in_list`] serve the
//! short lists of one block.

mod archive;
mod frontier;
mod hash;
pub(crate) mod packed;
mod proof;

pub use archive::{Log, OutOfRange};
pub use frontier::{BadFrontier, Frontier, MAX_SIZE};
pub use hash::empty_root;
pub use proof::{ConsistencyProof, InclusionProof, LogProofError};

/// An item, a subtree hash or a root of a log.
pub type Hash = [u8; 32];

/// The root over the items of one list, such as a block's entries or effects.
pub fn merkle_root(items: &[Hash]) -> Hash {
    items.iter().copied().collect::<Frontier>().root()
}

/// Proof that `items[index]` lies at `index` in the list with root [`merkle_root`]`(items)`.
pub fn prove_in_list(items: &[Hash], index: u64) -> Result<InclusionProof, OutOfRange> {
    let log: Log = items.iter().copied().collect();
    log.inclusion_proof(index, log.len())
}
