//! The calendar of nodes taken by slot, and of slots taken by channel, both as bits.
//!
//! Node `i` of the sorted list is bit `i % 64` of word `i / 64`; all sets of nodes have the same
//! number of words, the calendar's width.

use crate::mechanism::meter;
use std::collections::BTreeMap;

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

/// Whether a set has a member from `start` on and before `end`, which is greater.
fn any(set: &[u64], start: usize, end: usize) -> bool {
    let (first, last) = (start / 64, (end - 1) / 64);
    (first..=last).any(|index| {
        meter::steps(1);
        let low = if index == first { start % 64 } else { 0 };
        let high = if index == last { (end - 1) % 64 } else { 63 };
        set[index] & (u64::MAX << low) & (u64::MAX >> (63 - high)) != 0
    })
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

/// The nodes and channels that are taken.
#[derive(Debug, Clone)]
pub(super) struct Calendar {
    width: usize,
    /// Sets of busy nodes, slot after slot.
    busy: Vec<u64>,
    slots: u32,
    /// Sets of the slots in which a channel is taken; a channel that never is has none.
    channels: BTreeMap<u32, Vec<u64>>,
}

impl Calendar {
    /// Nothing is taken.
    pub(super) fn new(nodes: usize, slots: u32) -> Self {
        let width = width(nodes);
        Calendar {
            width,
            busy: vec![0; width * slots as usize],
            slots,
            channels: BTreeMap::new(),
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
        meter::steps(self.width + taken.len());
        for slot in taken.chunks_exact_mut(self.width.max(1)) {
            join(slot, &set);
        }
    }

    /// Another one to take from.
    pub(super) fn copy(&self) -> Self {
        let channels = self.channels.len() * width(self.slots as usize);
        meter::steps(self.busy.len() + channels);
        self.clone()
    }

    /// Takes a channel for `length` slots.
    pub(super) fn take_channel(&mut self, channel: u32, start: u32, length: u32) {
        meter::steps(length as usize);
        let none = || vec![0; width(self.slots as usize)];
        let taken = self.channels.entry(channel).or_insert_with(none);
        (start..start + length).for_each(|slot| insert(taken, slot as usize));
    }

    /// The lowest channel of a range that is free for `length` slots, at least one.
    pub(super) fn free_channel(&self, low: u32, high: u32, start: u32, length: u32) -> Option<u32> {
        if low > high {
            return None;
        }
        let mut lowest = low;
        for (&channel, taken) in self.channels.range(low..=high) {
            if lowest < channel || !any(taken, start as usize, (start + length) as usize) {
                break;
            }
            lowest = channel.checked_add(1)?;
        }
        (lowest <= high).then_some(lowest)
    }

    /// The nodes busy at some time of each run of `length` slots whose start is in `starts`. There
    /// is at least one start, and the last run ends within the calendar.
    pub(super) fn runs(&self, starts: std::ops::RangeInclusive<u32>, length: u32) -> Runs {
        let (width, length) = (self.width, length as usize);
        let (first, last) = (*starts.start() as usize, *starts.end() as usize);
        let mut before = self.busy[width * first..width * (last + length)].to_vec();
        let mut after = before.clone();
        let slots = last + length - first;
        meter::steps(2 * width * slots);
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
        meter::steps(self.width);
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
    fn parts_of_a_set_are_found() {
        for member in [0, 1, 63, 64, 127, 128, 200] {
            let mut set = vec![0; width(201)];
            insert(&mut set, member);
            for start in 0..201 {
                for end in start + 1..=201 {
                    assert_eq!(any(&set, start, end), (start..end).contains(&member));
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
        assert_eq!(calendar.free_channel(1, 3, 3, 1), Some(1));
        assert_eq!(calendar.free_channel(u32::MAX, u32::MAX, 0, 1), None);
    }
}
