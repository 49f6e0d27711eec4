//! The state tree: an incremental sparse Merkle tree from 256-bit keys to 32-byte value hashes.
//!
//! A key is the hash of a record's kind and id, a value the hash of the record. The root commits to
//! the whole map and to nothing else: neither to the order of insertion nor to removed records.
//!
//! **The hash of a subtree.** At depth `d` (the root has depth 0) a subtree holds all keys that
//! agree in their first `d` bits, most significant bit of the first byte first.
//!
//! 1. No key: 32 zero bytes ([`EMPTY`]).
//! 2. Exactly one key, at whatever depth: `blake3("gridbay/tree/leaf/v1\0" ‖ key ‖ value)`. The
//!    full key is hashed, so a leaf means the same wherever the compression lifts it to.
//! 3. Two keys or more: `blake3("gridbay/tree/node/v1\0" ‖ left ‖ right)`, where bit `d` of a key
//!    chooses the side (0 is left). One side may be empty; such nodes are not skipped.
//!
//! The tags end with their only zero byte, so no preimage of one kind is a preimage of another; two
//! maps with one root would be a collision of blake3.
//!
//! **Cost.** With hashed keys a tree of n keys is about log2 n + 1 nodes deep. Updating k keys
//! hashes O(k log n) nodes and shares all others with the tree before. The depth is at most 256
//! whatever the keys are, so recursion is bounded too.

mod node;
mod proof;

pub use proof::{Proof, ProofError, ProofLeaf};

use node::Link;
use std::collections::BTreeMap;
use std::fmt;

/// A key, a value hash or the hash of a subtree.
pub type Hash = [u8; 32];

/// The hash of a subtree without keys, and so the root of an empty tree.
pub const EMPTY: Hash = [0; 32];

/// Bits of a key: no path is longer.
pub const MAX_DEPTH: usize = 256;

/// The map of the committed state. Cloning is cheap: nodes are shared and never change.
#[derive(Clone, Default)]
pub struct Tree {
    top: Link,
}

/// What [`Tree::preview`] found: the tree after the changes, and the root it was computed from.
#[derive(Clone)]
pub struct TreeDelta {
    before: Hash,
    top: Link,
}

/// A delta was offered to another tree than the one it was computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tree delta was computed from another root")]
pub struct StaleDelta {
    /// The root that the delta starts from.
    pub expected: Hash,
    /// The root of the tree it was offered to.
    pub found: Hash,
}

impl Tree {
    /// The empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tree of a whole map, for example one read from a snapshot.
    pub fn build(map: &BTreeMap<Hash, Hash>) -> Self {
        let leaves: Vec<_> = map.iter().map(|(key, value)| (*key, *value)).collect();
        Self {
            top: node::build(&leaves, 0),
        }
    }

    /// The commitment to the whole map.
    pub fn root(&self) -> Hash {
        node::hash_of(&self.top)
    }

    /// The value hash under `key`.
    pub fn get(&self, key: &Hash) -> Option<Hash> {
        let (leaf, _) = node::descend(&self.top, key);
        leaf.filter(|(found, _)| found == key)
            .map(|(_, value)| value)
    }

    /// The root after `changes` (`None` removes; removing an absent key changes nothing), and the
    /// delta that [`Tree::commit`] takes. This tree stays as it is.
    pub fn preview(&self, changes: &BTreeMap<Hash, Option<Hash>>) -> (Hash, TreeDelta) {
        let changes: Vec<_> = changes.iter().map(|(key, value)| (*key, *value)).collect();
        let delta = TreeDelta {
            before: self.root(),
            top: node::update(&self.top, 0, &changes),
        };
        (delta.root(), delta)
    }

    /// Makes a previewed change real. Fails, and changes nothing, if the tree moved on since.
    pub fn commit(&mut self, delta: TreeDelta) -> Result<(), StaleDelta> {
        let found = self.root();
        if delta.before != found {
            return Err(StaleDelta {
                expected: delta.before,
                found,
            });
        }
        self.top = delta.top;
        Ok(())
    }

    /// A proof of what this tree holds under `key`: its value, or that there is none.
    pub fn prove(&self, key: &Hash) -> Proof {
        let (leaf, siblings) = node::descend(&self.top, key);
        Proof {
            siblings,
            leaf: leaf.map(|(key, value)| ProofLeaf { key, value }),
        }
    }
}

impl TreeDelta {
    /// The root once the delta is committed.
    pub fn root(&self) -> Hash {
        node::hash_of(&self.top)
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tree")
            .field("root", &self.root())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TreeDelta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeDelta")
            .field("before", &self.before)
            .field("root", &self.root())
            .finish_non_exhaustive()
    }
}

/// Roots are equal exactly if the maps are.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.root() == other.root()
    }
}

impl Eq for Tree {}

#[cfg(test)]
mod tests {
    use super::node::Node;
    use super::*;
    use std::sync::Arc;

    /// Number of nodes of `after` that are not shared with `before`: the nodes an update hashed.
    fn fresh_nodes(before: &Link, after: &Link) -> usize {
        match (before, after) {
            (_, None) => 0,
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => 0,
            (before, Some(b)) => match &**b {
                Node::Leaf { .. } => 1,
                Node::Branch { left, right, .. } => {
                    let (l, r) = match before.as_deref() {
                        Some(Node::Branch { left, right, .. }) => (left.clone(), right.clone()),
                        _ => (None, None),
                    };
                    1 + fresh_nodes(&l, left) + fresh_nodes(&r, right)
                }
            },
        }
    }

    fn key(n: u32) -> Hash {
        *blake3::hash(&n.to_be_bytes()).as_bytes()
    }

    #[test]
    fn an_update_hashes_only_the_paths_of_its_keys() {
        let tree = Tree::build(&(0..4096).map(|n| (key(n), key(n))).collect());
        let changes = (0..8).map(|n| (key(n * 512), Some(EMPTY))).collect();
        let (_, delta) = tree.preview(&changes);
        let fresh = fresh_nodes(&tree.top, &delta.top);
        // 12 levels are full; a path may run some bits deeper until its key stands alone.
        assert!(
            (8..=8 * 24).contains(&fresh),
            "{fresh} of about 8192 nodes were hashed"
        );
    }

    #[test]
    fn an_update_without_effect_shares_every_node() {
        let tree = Tree::build(&(0..100).map(|n| (key(n), key(n))).collect());
        let changes = (0..200)
            .map(|n| (key(n), (n < 100).then(|| key(n))))
            .collect();
        let (root, delta) = tree.preview(&changes);
        assert_eq!(root, tree.root());
        assert_eq!(fresh_nodes(&tree.top, &delta.top), 0);
    }
}
