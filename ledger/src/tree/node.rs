//! Persistent nodes: the shape and the hashes of the state tree.

use super::{EMPTY, Hash};
use std::sync::Arc;

const LEAF_TAG: &[u8] = b"gridbay/tree/leaf/v1\0";
const NODE_TAG: &[u8] = b"gridbay/tree/node/v1\0";

/// A subtree; `None` is the empty one.
pub(super) type Link = Option<Arc<Node>>;

/// A subtree with keys. Its hash is computed once, when it is made.
///
/// Invariant: a branch has at least two leaves below it. So it never has two empty sides, never one
/// empty side and a leaf, and never lies deeper than 255.
pub(super) enum Node {
    Leaf { key: Hash, value: Hash, hash: Hash },
    Branch { left: Link, right: Link, hash: Hash },
}

/// Rule 2 of the tree's specification.
pub(super) fn leaf_hash(key: &Hash, value: &Hash) -> Hash {
    tagged(LEAF_TAG, key, value)
}

/// Rule 3 of the tree's specification.
pub(super) fn node_hash(left: &Hash, right: &Hash) -> Hash {
    tagged(NODE_TAG, left, right)
}

fn tagged(tag: &[u8], first: &Hash, second: &Hash) -> Hash {
    *blake3::Hasher::new()
        .update(tag)
        .update(first)
        .update(second)
        .finalize()
        .as_bytes()
}

/// Bit `depth` (0 to 255) of a key, the most significant bit of the first byte first.
pub(super) fn bit(key: &Hash, depth: usize) -> bool {
    key[depth / 8] & (0x80 >> (depth % 8)) != 0
}

pub(super) fn hash_of(link: &Link) -> Hash {
    match link.as_deref() {
        None => EMPTY,
        Some(Node::Leaf { hash, .. } | Node::Branch { hash, .. }) => *hash,
    }
}

/// Follows `key` down to the leaf (of this key or another one) or empty subtree where its path
/// ends. Returns the leaf's key and value, and the hashes beside the path from the top down.
pub(super) fn descend(top: &Link, key: &Hash) -> (Option<(Hash, Hash)>, Vec<Hash>) {
    let (mut here, mut siblings) = (top, Vec::new());
    loop {
        match here.as_deref() {
            None => return (None, siblings),
            Some(Node::Leaf { key, value, .. }) => return (Some((*key, *value)), siblings),
            Some(Node::Branch { left, right, .. }) => {
                let (on, beside) = if bit(key, siblings.len()) {
                    (right, left)
                } else {
                    (left, right)
                };
                siblings.push(hash_of(beside));
                here = on;
            }
        }
    }
}

/// The subtree at `depth` of the given leaves: ascending, distinct, equal in their first `depth`
/// bits.
pub(super) fn build(leaves: &[(Hash, Hash)], depth: usize) -> Link {
    match leaves {
        [] => None,
        [(key, value)] => {
            let hash = leaf_hash(key, value);
            Some(Arc::new(Node::Leaf {
                key: *key,
                value: *value,
                hash,
            }))
        }
        _ => {
            let (left, right) = split(leaves, depth);
            join(build(left, depth + 1), build(right, depth + 1))
        }
    }
}

/// The subtree `link` at `depth` after `changes`: ascending, distinct, all within this subtree.
/// Unchanged nodes are shared.
pub(super) fn update(link: &Link, depth: usize, changes: &[(Hash, Option<Hash>)]) -> Link {
    if changes.is_empty() {
        return link.clone();
    }
    match link.as_deref() {
        None => build(&settled(changes), depth),
        Some(Node::Leaf { key, value, .. }) => {
            let mut leaves = settled(changes);
            if let Err(at) = changes.binary_search_by(|(changed, _)| changed.cmp(key)) {
                // The leaf survives: it goes behind the new leaves that precede it.
                let removed = changes[..at]
                    .iter()
                    .filter(|(_, value)| value.is_none())
                    .count();
                leaves.insert(at - removed, (*key, *value));
            }
            if leaves == [(*key, *value)] {
                link.clone()
            } else {
                build(&leaves, depth)
            }
        }
        Some(Node::Branch { left, right, .. }) => {
            let (low, high) = split(changes, depth);
            let (new_left, new_right) =
                (update(left, depth + 1, low), update(right, depth + 1, high));
            if same(left, &new_left) && same(right, &new_right) {
                link.clone()
            } else {
                join(new_left, new_right)
            }
        }
    }
}

/// The leaves that changes to an empty subtree leave behind.
fn settled(changes: &[(Hash, Option<Hash>)]) -> Vec<(Hash, Hash)> {
    changes
        .iter()
        .filter_map(|(key, value)| value.map(|value| (*key, value)))
        .collect()
}

/// A list in ascending order of its keys.
type Keyed<T> = [(Hash, T)];

/// Cuts a list at bit `depth`.
fn split<T>(list: &Keyed<T>, depth: usize) -> (&Keyed<T>, &Keyed<T>) {
    list.split_at(list.partition_point(|(key, _)| !bit(key, depth)))
}

/// The subtree over two sides; a leaf that is left alone moves up.
fn join(left: Link, right: Link) -> Link {
    match (left.as_deref(), right.as_deref()) {
        (None, None) => None,
        (Some(Node::Leaf { .. }), None) => left,
        (None, Some(Node::Leaf { .. })) => right,
        _ => {
            let hash = node_hash(&hash_of(&left), &hash_of(&right));
            Some(Arc::new(Node::Branch { left, right, hash }))
        }
    }
}

fn same(a: &Link, b: &Link) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}
