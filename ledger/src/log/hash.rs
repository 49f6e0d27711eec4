//! The four kinds of hashes of a log, as numbered in the module's specification.

use super::Hash;

const VOID_TAG: &[u8] = b"gridbay/log/void/v1\0";
const LEAF_TAG: &[u8] = b"gridbay/log/leaf/v1\0";
const NODE_TAG: &[u8] = b"gridbay/log/node/v1\0";
const ROOT_TAG: &[u8] = b"gridbay/log/root/v1\0";

/// Rule 1: the tree hash of no items.
pub(super) fn void() -> Hash {
    tagged(VOID_TAG, &[])
}

/// Rule 2: the tree hash of one item.
pub(super) fn leaf(item: &Hash) -> Hash {
    tagged(LEAF_TAG, &[item])
}

/// Rule 3: the tree hash over two subtrees.
pub(super) fn node(left: &Hash, right: &Hash) -> Hash {
    tagged(NODE_TAG, &[left, right])
}

/// Rule 4: the root of a log of `size` items.
pub(super) fn root(size: u64, tree: &Hash) -> Hash {
    tagged(ROOT_TAG, &[&size.to_be_bytes(), tree])
}

/// The root of a log without items.
pub fn empty_root() -> Hash {
    root(0, &void())
}

fn tagged(tag: &[u8], parts: &[&[u8]]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tag);
    for part in parts {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

/// The largest power of two below `size`: where rule 3 cuts. `size` is at least 2.
pub(super) fn cut(size: u64) -> u64 {
    debug_assert!(size > 1, "only a subtree of two items or more is cut");
    1 << (size - 1).ilog2()
}
