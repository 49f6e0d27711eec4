//! The right edge of a log: enough to append and to know the root, in at most 62 hashes.
//!
//! The binary digits of the size, from the highest, name the complete subtrees that the log
//! consists of, from the left; the frontier holds their hashes, the peaks. Appending a leaf merges
//! as many peaks as adding one to the size carries over digits. The tree hash folds the peaks from
//! the right.

use super::{Hash, hash, packed};
use serde::{Deserialize, Serialize};

/// Most items of a frontier that is read from outside: it can take as many again before a size
/// overflows.
pub const MAX_SIZE: u64 = 1 << 62;

/// Peaks, size and root of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct Frontier {
    size: u64,
    /// Hashes of the complete subtrees, from the left, so from the largest: one per binary 1 of
    /// `size`.
    peaks: Vec<Hash>,
}

/// A frontier as written: not checked yet.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    size: u64,
    #[serde(with = "packed::list")]
    peaks: Vec<Hash>,
}

/// A decoded frontier contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum BadFrontier {
    /// The size is above [`MAX_SIZE`].
    #[error("log of {size} items is too long")]
    TooLong { size: u64 },
    /// A log of this size has another number of peaks.
    #[error("log of {size} items cannot have {peaks} peaks")]
    Peaks { size: u64, peaks: usize },
}

impl Frontier {
    /// The frontier of the log without items.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of items appended so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends one item: one leaf hash and, on average, one node hash.
    pub fn append(&mut self, item: Hash) {
        let mut merged = hash::leaf(&item);
        for _ in 0..self.size.trailing_ones() {
            let left = self
                .peaks
                .pop()
                .expect("a frontier has a peak for each binary 1 of its size");
            merged = hash::node(&left, &merged);
        }
        self.peaks.push(merged);
        self.size = self
            .size
            .checked_add(1)
            .expect("2^62 appends exceed the life of any log");
    }

    /// The root of the log: a commitment to all items, their order and their number.
    pub fn root(&self) -> Hash {
        let tree = self
            .peaks
            .iter()
            .copied()
            .rev()
            .reduce(|right, left| hash::node(&left, &right));
        hash::root(self.size, &tree.unwrap_or_else(hash::void))
    }
}

impl FromIterator<Hash> for Frontier {
    fn from_iter<I: IntoIterator<Item = Hash>>(items: I) -> Self {
        let mut frontier = Self::new();
        items.into_iter().for_each(|item| frontier.append(item));
        frontier
    }
}

impl From<Frontier> for Wire {
    fn from(Frontier { size, peaks }: Frontier) -> Self {
        Self { size, peaks }
    }
}

impl TryFrom<Wire> for Frontier {
    type Error = BadFrontier;

    fn try_from(Wire { size, peaks }: Wire) -> Result<Self, BadFrontier> {
        if size > MAX_SIZE {
            return Err(BadFrontier::TooLong { size });
        }
        if usize::try_from(size.count_ones()) != Ok(peaks.len()) {
            return Err(BadFrontier::Peaks {
                size,
                peaks: peaks.len(),
            });
        }
        Ok(Self { size, peaks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_follow_the_binary_digits_of_the_size() {
        let mut frontier = Frontier::new();
        for size in 0..=130u64 {
            assert_eq!(frontier.size(), size);
            assert_eq!(frontier.peaks.len(), size.count_ones() as usize);
            let again = Frontier::try_from(Wire::from(frontier.clone()));
            assert_eq!(again.as_ref(), Ok(&frontier));
            frontier.append([size as u8; 32]);
        }
    }

    #[test]
    fn a_frontier_that_contradicts_itself_is_refused() {
        let read = |size, peaks: usize| {
            Frontier::try_from(Wire {
                size,
                peaks: vec![[0; 32]; peaks],
            })
        };
        assert_eq!(read(5, 1), Err(BadFrontier::Peaks { size: 5, peaks: 1 }));
        assert_eq!(read(5, 3), Err(BadFrontier::Peaks { size: 5, peaks: 3 }));
        assert_eq!(read(0, 1), Err(BadFrontier::Peaks { size: 0, peaks: 1 }));
        assert_eq!(
            read(u64::MAX, 64),
            Err(BadFrontier::TooLong { size: u64::MAX })
        );
        assert!(read(MAX_SIZE, 1).is_ok());
    }
}
