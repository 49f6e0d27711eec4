//! The whole log: every complete subtree, and the proofs made from them.
//!
//! `levels[h][i]` is the tree hash of the items `i·2^h .. (i+1)·2^h`; level 0 holds the leaf
//! hashes. A log of n items keeps fewer than 2n hashes. Any subtree that RFC 6962 speaks of begins
//! at a multiple of its size rounded up to a power of two, so it folds from at most one hash per
//! level, and every root and proof of every earlier size costs O(log² n).

use super::{ConsistencyProof, Hash, InclusionProof, hash};

/// An append-only log that can prove what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    levels: Vec<Vec<Hash>>,
}

/// A root or a proof was asked for that the log does not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum OutOfRange {
    /// The log is shorter than the size asked for.
    #[error("size {size} exceeds the log of {len} items")]
    Size { size: u64, len: u64 },
    /// There is no such item at that size.
    #[error("no item {index} in a log of {size} items")]
    Index {
        /// The position asked for, from 0.
        index: u64,
        size: u64,
    },
    /// A longer log is never a prefix of a shorter one.
    #[error("old size {old} exceeds new size {new}")]
    Order { old: u64, new: u64 },
}

impl Log {
    /// The log without items.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of items.
    pub fn len(&self) -> u64 {
        self.levels.first().map_or(0, |leaves| leaves.len() as u64)
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Appends one item: a level whose length becomes even has completed a subtree of the next.
    pub fn append(&mut self, item: Hash) {
        let mut complete = hash::leaf(&item);
        for height in 0.. {
            if height == self.levels.len() {
                self.levels.push(Vec::new());
            }
            let level = &mut self.levels[height];
            level.push(complete);
            let (pairs, []) = level.as_chunks::<2>() else {
                return;
            };
            let Some([left, right]) = pairs.last() else {
                return;
            };
            complete = hash::node(left, right);
        }
    }

    /// The root of the whole log.
    pub fn root(&self) -> Hash {
        hash::root(self.len(), &self.tree(0, self.len()))
    }

    /// The root that the log had when it held `size` items.
    pub fn root_at(&self, size: u64) -> Result<Hash, OutOfRange> {
        self.reaches(size)?;
        Ok(hash::root(size, &self.tree(0, size)))
    }

    /// Proof that item `index` lies in the log of `size` items (RFC 6962 section 2.1.1).
    pub fn inclusion_proof(&self, index: u64, size: u64) -> Result<InclusionProof, OutOfRange> {
        self.reaches(size)?;
        if index >= size {
            return Err(OutOfRange::Index { index, size });
        }
        let (mut start, mut len, mut path) = (0, size, Vec::new());
        while len > 1 {
            let cut = hash::cut(len);
            if index - start < cut {
                path.push(self.tree(start + cut, len - cut));
                len = cut;
            } else {
                path.push(self.tree(start, cut));
                start += cut;
                len -= cut;
            }
        }
        path.reverse();
        Ok(InclusionProof { path })
    }

    /// Proof that the log of `old` items is a prefix of the log of `new` items (RFC 6962 section
    /// 2.1.2; see [`ConsistencyProof`] for the differences).
    pub fn consistency_proof(&self, old: u64, new: u64) -> Result<ConsistencyProof, OutOfRange> {
        self.reaches(new)?;
        if old > new {
            return Err(OutOfRange::Order { old, new });
        }
        if old == 0 {
            return Ok(ConsistencyProof {
                path: vec![self.tree(0, new)],
            });
        }
        let (mut start, mut len, mut path) = (0, new, Vec::new());
        while old - start < len {
            let cut = hash::cut(len);
            if old - start <= cut {
                path.push(self.tree(start + cut, len - cut));
                len = cut;
            } else {
                path.push(self.tree(start, cut));
                start += cut;
                len -= cut;
            }
        }
        path.push(self.tree(start, len));
        path.reverse();
        Ok(ConsistencyProof { path })
    }

    fn reaches(&self, size: u64) -> Result<(), OutOfRange> {
        let len = self.len();
        if size > len {
            Err(OutOfRange::Size { size, len })
        } else {
            Ok(())
        }
    }

    /// The tree hash of `len` items from `start`, which lie in the log and are a subtree of it.
    fn tree(&self, start: u64, len: u64) -> Hash {
        if len == 0 {
            return hash::void();
        }
        if len.is_power_of_two() {
            let height = len.trailing_zeros();
            return self.levels[height as usize][(start >> height) as usize];
        }
        let cut = hash::cut(len);
        hash::node(&self.tree(start, cut), &self.tree(start + cut, len - cut))
    }
}

impl FromIterator<Hash> for Log {
    fn from_iter<I: IntoIterator<Item = Hash>>(items: I) -> Self {
        let mut log = Self::new();
        items.into_iter().for_each(|item| log.append(item));
        log
    }
}
