//! What is taken when: nodes by slot as bits, channels by slot as a set.
//!
//! Node `i` of the sorted list is bit `i % 64` of word `i / 64`; all sets of nodes have the same
//! number of words, the calendar's width.

use std::collections::BTreeSet;

/// Words of a set of that many nodes.
pub(super) fn width(nodes: usize) -> usize {
    nodes.div_ceil(64)
}

/// Adds a node to a set.
pub(super) fn insert(set: &mut [u64], node: usize) {
    set[node / 64] |= 1 << (node % 64);
}

/// Whether a node is in a set.
pub(super) fn contains(set: &[u64], node: usize) -> bool {
    set[node / 64] & (1 << (node % 64)) != 0
}

/// Adds the nodes of `other` to a set.
pub(super) fn join(set: &mut [u64], other: &[u64]) {
    for (word, more) in set.iter_mut().zip(other) {
        *word |= more;
    }
}

/// The nodes of a set, rising.
pub(super) fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(index, &word)| {
        // Each step clears the lowest bit.
        std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)))
            .take_while(|rest| *rest != 0)
            .map(move |rest| 64 * index + rest.trailing_zeros() as usize)
    })
}

/// What is taken.
#[derive(Debug, Clone)]
pub(super) struct Calendar {
    width: usize,
    /// Sets of busy nodes, slot after slot.
    busy: Vec<u64>,
    /// Taken (channel, slot).
    channels: BTreeSet<(u32, u32)>,
}

impl Calendar {
    /// Nothing is taken.
    pub(super) fn new(nodes: usize, slots: u32) -> Self {
        let width = width(nodes);
        Calendar {
            width,
            busy: vec![0; width * slots as usize],
            channels: BTreeSet::new(),
        }
    }

    /// Words of a set of nodes.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Takes nodes for `length` slots.
    pub(super) fn take(&mut self, nodes: impl Iterator<Item = usize>, start: u32, length: u32) {
        let mut set = vec![0; self.width];
        nodes.for_each(|node| insert(&mut set, node));
        let (from, to) = (start as usize, start as usize + length as usize);
        let taken = &mut self.busy[self.width * from..self.width * to];
        for slot in taken.chunks_exact_mut(self.width.max(1)) {
            join(slot, &set);
        }
    }

    /// Takes a channel for `length` slots.
    pub(super) fn take_channel(&mut self, channel: u32, start: u32, length: u32) {
        self.channels
            .extend((start..start + length).map(|slot| (channel, slot)));
    }

    /// The lowest channel of a range that is free for `length` slots. Every step passes a taken one.
    pub(super) fn free_channel(&self, low: u32, high: u32, start: u32, length: u32) -> Option<u32> {
        let slots = |channel| (channel, start)..(channel, start + length);
        (low..=high).find(|&channel| self.channels.range(slots(channel)).next().is_none())
    }

    /// What is busy at some time of each run of `length` slots whose start is in `starts`. There
    /// is at least one start, and the last run ends within the calendar.
    pub(super) fn runs(&self, starts: std::ops::RangeInclusive<u32>, length: u32) -> Runs {
        let (width, length) = (self.width, length as usize);
        let (first, last) = (*starts.start() as usize, *starts.end() as usize);
        let mut before = self.busy[width * first..width * (last + length)].to_vec();
        let mut after = before.clone();
        let slots = last + length - first;
        for slot in (1..slots).filter(|slot| slot % length != 0) {
            for word in width * slot..width * (slot + 1) {
                before[word] |= before[word - width];
            }
        }
        for slot in (1..slots).rev().filter(|slot| slot % length != 0) {
            for word in width * (slot - 1)..width * slot {
                after[word] |= after[word + width];
            }
        }
        Runs {
            width,
            first,
            length,
            before,
            after,
        }
    }
}

/// Busy nodes of all runs of one length. The slots are cut into pieces of that length; a run
/// reaches over two pieces at most, so two unions per slot make up every run.
pub(super) struct Runs {
    width: usize,
    first: usize,
    length: usize,
    /// For each slot, the union from the beginning of its piece.
    before: Vec<u64>,
    /// For each slot, the union to the end of its piece.
    after: Vec<u64>,
}

impl Runs {
    /// Writes the nodes that are free in the whole run from `start`; bits behind the last node too.
    pub(super) fn free(&self, start: u32, free: &mut [u64]) {
        let slot = start as usize - self.first;
        let head = &self.after[self.width * slot..];
        let tail = &self.before[self.width * (slot + self.length - 1)..];
        for ((free, head), tail) in free.iter_mut().zip(head).zip(tail) {
            *free = !(head | tail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_rise_over_words() {
        let mut set = vec![0; width(130)];
        for node in [129, 0, 63, 64] {
            insert(&mut set, node);
        }
        assert_eq!(members(&set).collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert!(contains(&set, 129) && !contains(&set, 128));
    }

    #[test]
    fn runs_are_the_union_of_their_slots() {
        let mut calendar = Calendar::new(12, 12);
        for slot in 0..12 {
            calendar.take([slot as usize].into_iter(), slot, 1);
        }
        for length in 1..=12 {
            for first in 0..=12 - length {
                let runs = calendar.runs(first..=12 - length, length);
                for start in first..=12 - length {
                    let mut free = [0];
                    runs.free(start, &mut free);
                    let busy: Vec<usize> = members(&[!free[0]]).collect();
                    let slots: Vec<usize> = (start..start + length).map(|s| s as usize).collect();
                    assert_eq!(busy, slots, "{length} from {start}, of {first}");
                }
            }
        }
    }

    #[test]
    fn channels_are_taken_for_their_slots_only() {
        let mut calendar = Calendar::new(0, 8);
        calendar.take_channel(3, 2, 2);
        calendar.take_channel(u32::MAX, 0, 8);
        assert_eq!(calendar.free_channel(3, 4, 0, 2), Some(3));
        assert_eq!(calendar.free_channel(3, 4, 1, 2), Some(4));
        assert_eq!(calendar.free_channel(3, 3, 3, 1), None);
        assert_eq!(calendar.free_channel(4, 3, 0, 1), None);
        assert_eq!(calendar.free_channel(u32::MAX, u32::MAX, 0, 1), None);
    }
}
