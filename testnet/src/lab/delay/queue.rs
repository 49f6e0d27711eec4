//! Packets that wait. Pure: the time is an argument, in nanoseconds since some beginning.
//!
//! 1. A packet's source and destination name the public links that it crosses, by the number in its
//!    address ([`crate::lab::address`]); it waits the sum of their delays, more or less their
//!    jitters.
//! 2. Packets between the same two links leave in the order in which they came.
//! 3. At most [`BYTES_MAX`] wait; further packets are dropped and counted, as a full line would
//!    drop them.

use super::super::address::{PUBLIC_V4, PUBLIC_V6};
use super::tun::NOTE;
use crate::kill::rng::Rng;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Bytes that wait at the most: a second at 1 Gbit/s.
const BYTES_MAX: usize = 128 << 20;

/// Delay and jitter of links by their numbers, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Table(pub(in super::super) BTreeMap<u8, (u64, u64)>);

/// Waiting packets.
#[derive(Debug)]
pub(super) struct Queue {
    links: [(u64, u64); 256],
    heap: BinaryHeap<Reverse<Waiting>>,
    last: BTreeMap<(u8, u8), u64>,
    bytes: usize,
    count: u64,
    rng: Rng,
    /// Packets dropped because too many were waiting.
    pub(super) dropped: u64,
}

/// Ordered by when it is due, then by when it came.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    due: u64,
    count: u64,
    packet: Box<[u8]>,
}

impl Queue {
    pub(super) fn new(seed: u64) -> Queue {
        Queue {
            links: [(0, 0); 256],
            heap: BinaryHeap::new(),
            last: BTreeMap::new(),
            bytes: 0,
            count: 0,
            rng: Rng::new(seed),
            dropped: 0,
        }
    }
    /// Sets other delays from now on; packets that wait already keep their times.
    pub(super) fn set(&mut self, table: &Table) {
        self.links = [(0, 0); 256];
        for (link, (delay, jitter)) in &table.0 {
            self.links[usize::from(*link)] = (delay * 1_000, jitter * 1_000);
        }
    }
    /// Adds a packet with its note.
    pub(super) fn push(&mut self, now: u64, packet: &[u8]) {
        if self.bytes + packet.len() > BYTES_MAX {
            self.dropped += 1;
            return;
        }
        let (from, to) = links(packet.get(NOTE..).unwrap_or_default());
        let (a, b) = (self.links[usize::from(from)], self.links[usize::from(to)]);
        let (delay, jitter) = (a.0 + b.0, a.1 + b.1);
        let wait = match jitter {
            0 => delay,
            // A jitter is at most its delay, so this stays above zero.
            _ => (delay + self.rng.below(2 * jitter + 1)).saturating_sub(jitter),
        };
        let last = self.last.entry((from, to)).or_default();
        *last = (now + wait).max(*last);
        self.count += 1;
        self.bytes += packet.len();
        self.heap.push(Reverse(Waiting {
            due: *last,
            count: self.count,
            packet: packet.into(),
        }));
    }
    /// When the next packet is due; `None` if none waits.
    pub(super) fn next_due(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(waiting)| waiting.due)
    }
    /// The next packet that is due.
    pub(super) fn pop(&mut self, now: u64) -> Option<Box<[u8]>> {
        if self.next_due()? > now {
            return None;
        }
        let Reverse(waiting) = self.heap.pop()?;
        self.bytes -= waiting.packet.len();
        Some(waiting.packet)
    }
}

/// Numbers of the links that a packet comes from and goes to; 0 for an address that is not a lab's.
fn links(packet: &[u8]) -> (u8, u8) {
    let v4 = |at: usize| match packet.get(at..at + 2) {
        Some([PUBLIC_V4, number]) => *number,
        _ => 0,
    };
    let group = PUBLIC_V6.to_be_bytes();
    let v6 = |at: usize| match packet.get(at..at + 4) {
        Some([a, b, 0, number]) if [*a, *b] == group => *number,
        _ => 0,
    };
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => (v4(12), v4(16)),
        Some(6) => (v6(8), v6(24)),
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A packet from link `from` to link `to` that carries `mark`.
    fn packet(from: u8, to: u8, mark: u8) -> Vec<u8> {
        let mut bytes = vec![0; NOTE];
        bytes.extend([0x45; 12]);
        bytes.extend([45, from, 1, 2, 45, to, 1, 2, mark]);
        bytes
    }

    fn queue(links: &[(u8, u64, u64)]) -> Queue {
        let table = links
            .iter()
            .map(|(n, delay, jitter)| (*n, (*delay, *jitter)));
        let mut queue = Queue::new(1);
        queue.set(&Table(table.collect()));
        queue
    }

    #[test]
    fn a_packet_waits_for_both_of_its_links() {
        let mut queue = queue(&[(3, 15_000, 0), (4, 5_000, 0)]);
        for (from, to, wait) in [(3, 4, 20), (4, 3, 20), (3, 9, 15), (9, 4, 5), (8, 9, 0)] {
            queue.push(100 * MS, &packet(from, to, 0));
            assert_eq!(queue.next_due(), Some((100 + wait) * MS), "{from} {to}");
            assert_eq!(queue.pop((100 + wait) * MS - 1), None);
            assert!(queue.pop((100 + wait) * MS).is_some());
        }
        assert_eq!(queue.next_due(), None);
    }

    #[test]
    fn a_jitter_never_lets_a_packet_overtake() {
        let mut queue = queue(&[(3, 10_000, 10_000)]);
        for mark in 0..100 {
            queue.push(u64::from(mark) * MS / 10, &packet(3, 4, mark));
        }
        let mut dues = Vec::new();
        for mark in 0..100 {
            let due = queue.next_due().unwrap();
            assert!(due <= u64::from(mark) * MS / 10 + 20 * MS);
            dues.push(due);
            assert_eq!(queue.pop(due).unwrap().last(), Some(&mark));
        }
        assert!(dues.windows(2).all(|w| w[0] <= w[1]));
        dues.dedup();
        assert!(dues.len() > 5, "it does vary");
    }

    #[test]
    fn ipv6_is_known_by_its_second_group() {
        let mut bytes = vec![0x60; 40];
        bytes[8..12].copy_from_slice(&[0x2a, 0x45, 0, 7]);
        bytes[24..28].copy_from_slice(&[0x2a, 0x45, 0, 9]);
        assert_eq!(links(&bytes), (7, 9));
        bytes[8] = 0xfd;
        assert_eq!(links(&bytes), (0, 9));
        assert_eq!(links(&[]), (0, 0), "not even a first byte");
        assert_eq!(links(&[0x45; 13]), (0, 0), "cut short");
    }

    #[test]
    fn what_waits_is_bounded_and_a_change_of_delay_reorders_nothing() {
        let mut queue = queue(&[(3, 50_000, 0)]);
        queue.push(0, &packet(3, 4, 1));
        queue.set(&Table::default());
        queue.push(1, &packet(3, 4, 2));
        assert_eq!(queue.next_due(), Some(50 * MS));
        assert_eq!(queue.pop(50 * MS).unwrap().last(), Some(&1));
        assert_eq!(queue.pop(50 * MS).unwrap().last(), Some(&2));
        let large = vec![0; 64 << 10];
        for _ in 0..(BYTES_MAX / large.len()) + 3 {
            queue.push(0, &large);
        }
        assert_eq!(queue.dropped, 3);
    }
}
