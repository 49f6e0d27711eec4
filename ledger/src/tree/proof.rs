//! Proofs about one key of the state tree, checked by anyone who trusts the root.
//!
//! A proof is the path from the root to where the key's bits lead: the hashes beside the path, from
//! the top down, and the leaf found at its end, if any. Checking, in this order:
//!
//! 1. The path is at most 256 steps.
//! 2. A leaf of another key must agree with the asked key in as many bits as the path has steps:
//!    otherwise it lies elsewhere and says nothing about the key.
//! 3. Hashing the end upwards along the key's bits gives the root.
//! 4. The end agrees with the claim: the key's own leaf with that value for `Some(value)`; an empty
//!    end or another key's leaf for `None`.
//!
//! For a root that a tree produced, exactly one proof per key passes steps 1 to 3.

use super::node::{bit, leaf_hash, node_hash};
use super::{EMPTY, Hash, MAX_DEPTH};
use crate::log::packed;
use serde::{Deserialize, Serialize};

/// Inclusion or absence of a key. Untrusted until [`Proof::verify`] says otherwise; decoding
/// refuses more than 256 siblings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// Hashes beside the path, from the top down; as one byte string of 32 bytes each on the wire.
    #[serde(with = "packed::list")]
    pub siblings: Vec<Hash>,
    /// The leaf at the end of the path; none if the subtree there is empty.
    pub leaf: Option<ProofLeaf>,
}

/// The leaf at the end of a proof's path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofLeaf {
    /// The leaf's key: the asked one (inclusion), or a neighbour's (absence).
    #[serde(with = "packed::one")]
    pub key: Hash,
    /// The value hash that the leaf holds.
    #[serde(with = "packed::one")]
    pub value: Hash,
}

/// Why a proof does not show what it was offered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The path has more steps than a key has bits.
    #[error("proof has {steps} steps, more than a key has bits")]
    TooDeep {
        /// Length of the offered path.
        steps: usize,
    },
    /// The leaf at the end does not lie on the asked key's path.
    #[error("proof ends at a leaf off the key's path")]
    OffPath,
    /// The path does not hash to the trusted root.
    #[error("proof does not lead to the root")]
    WrongRoot,
    /// The tree holds another value under the key than claimed.
    #[error("key holds another value")]
    OtherValue,
    /// The key was claimed to be absent, the tree holds it.
    #[error("key is present")]
    Present,
    /// The key was claimed to be present, the tree does not hold it.
    #[error("key is absent")]
    Absent,
}

impl Proof {
    /// Checks that a tree with this `root` holds `value` under `key`, or nothing for `None`. Total
    /// on any input; at most 257 hashes.
    pub fn verify(&self, root: &Hash, key: &Hash, value: Option<&Hash>) -> Result<(), ProofError> {
        let steps = self.siblings.len();
        if steps > MAX_DEPTH {
            return Err(ProofError::TooDeep { steps });
        }
        let end = match &self.leaf {
            None => EMPTY,
            Some(leaf) if shared_bits(&leaf.key, key) < steps => return Err(ProofError::OffPath),
            Some(leaf) => leaf_hash(&leaf.key, &leaf.value),
        };
        let top = self
            .siblings
            .iter()
            .enumerate()
            .rev()
            .fold(end, |below, (depth, beside)| {
                if bit(key, depth) {
                    node_hash(beside, &below)
                } else {
                    node_hash(&below, beside)
                }
            });
        if top != *root {
            return Err(ProofError::WrongRoot);
        }
        let found = self
            .leaf
            .as_ref()
            .filter(|leaf| leaf.key == *key)
            .map(|leaf| &leaf.value);
        match (found, value) {
            (None, None) => Ok(()),
            (Some(found), Some(claimed)) if found == claimed => Ok(()),
            (Some(_), Some(_)) => Err(ProofError::OtherValue),
            (Some(_), None) => Err(ProofError::Present),
            (None, Some(_)) => Err(ProofError::Absent),
        }
    }
}

/// Number of leading bits (0 to 256) in which two keys agree.
fn shared_bits(a: &Hash, b: &Hash) -> usize {
    (0..MAX_DEPTH)
        .find(|&depth| bit(a, depth) != bit(b, depth))
        .unwrap_or(MAX_DEPTH)
}
