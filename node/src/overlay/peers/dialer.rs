//! The peers to dial, and the times. Pure: the time comes in, addresses to dial come out.
//!
//! 1. A *kept* peer (bootstrap, validator) is due whenever it is not connected: at once, then after
//!    pauses that double from `first` to `max`. A lost connection that stood for [`STAYED`] starts
//!    again at `first`, so a restarted node on the same machine is back within a second; one that a
//!    full peer soon closed does not, or all of a large network would call at its founders every
//!    other second.
//!    A kept peer may *rest*: then it is dialled like a known one, but never forgotten.
//! 2. A *known* peer (from Kademlia or identify) is due while fewer peers are connected than are
//!    wanted. Those with the fewest failures come first, and equals in an order that each node
//!    draws for itself: were it the same for all, a few peers would be in everybody's neighbourhood
//!    and the others in nobody's. It is forgotten after [`KNOWN_TRIES`] failures in a row, but not
//!    while no peer at all is connected: then it may be we who are cut off, and those that we knew
//!    are the way back.
//! 3. While an attempt runs, or the peer is connected, nothing is due for it.
//! 4. A peer of another network is retried only at the longest pause.
//! 5. Each pause is up to a quarter longer than its rule says, by a draw of the node's own: a
//!    peer that many lost at the same moment is not called by all of them in step.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use gridbay_core::overlay::{KNOWN_TRIES, STAYED};
use libp2p::{Multiaddr, PeerId};

use crate::overlay::reach::addresses::PER_PEER;

#[derive(Debug)]
struct Entry {
    addresses: Vec<Multiaddr>,
    kept: bool,
    rests: bool,
    connected: bool,
    /// When to dial; `None` while connected or being dialled.
    due: Option<Instant>,
    pause: Duration,
    failures: u32,
    /// It has proved to be one of ours in this run.
    good: bool,
}

impl Entry {
    fn is_sought(&self) -> bool {
        self.kept && !self.rests
    }

    /// Waits for the next attempt; the pause after it is twice as long.
    fn postpone(&mut self, now: Instant, excess: u32, longest: Duration) {
        self.due = Some(now + self.pause + self.pause * excess / 1024);
        self.pause = (self.pause * 2).min(longest);
    }
}

/// The dial book.
#[derive(Debug)]
pub(crate) struct Dialer {
    first: Duration,
    max: Duration,
    max_kept: usize,
    max_known: usize,
    entries: BTreeMap<PeerId, Entry>,
    /// Of this node alone: the order of equals, and the excess of pauses.
    order: RandomState,
    /// Pauses drawn so far.
    pauses: u64,
}

impl Dialer {
    pub(crate) fn new(first: Duration, max: Duration, max_kept: usize, max_known: usize) -> Self {
        Self {
            first,
            max,
            max_kept,
            max_known,
            entries: BTreeMap::new(),
            order: RandomState::new(),
            pauses: 0,
        }
    }

    /// Keeps a peer connected from now on. Returns whether there was room.
    pub(crate) fn keep(&mut self, peer: PeerId, addresses: Vec<Multiaddr>, now: Instant) -> bool {
        let kept = self.entries.values().filter(|e| e.kept).count();
        if kept >= self.max_kept && !self.is_kept(&peer) {
            return false;
        }
        let entry = self.entry(peer, now);
        entry.kept = true;
        merge(&mut entry.addresses, addresses);
        true
    }

    /// Of the kept peers these rest from now on, and no others. One that rested is due at once.
    pub(crate) fn rest(&mut self, peers: &BTreeSet<PeerId>, now: Instant) {
        let first = self.first;
        for (peer, entry) in &mut self.entries {
            let rests = entry.kept && peers.contains(peer);
            let rested = std::mem::replace(&mut entry.rests, rests);
            if rested && !rests && entry.due.is_some() {
                entry.due = Some(now);
                entry.pause = first;
            }
        }
    }

    /// Remembers where a peer can be reached. Ignored when the book is full.
    pub(crate) fn learn(&mut self, peer: PeerId, addresses: Vec<Multiaddr>, now: Instant) {
        if addresses.is_empty() {
            return;
        }
        let known = self.entries.values().filter(|e| !e.kept).count();
        if !self.entries.contains_key(&peer) && known >= self.max_known {
            return;
        }
        merge(&mut self.entry(peer, now).addresses, addresses);
    }

    /// No longer keeps a peer; it stays known.
    pub(crate) fn release(&mut self, peer: &PeerId) {
        if let Some(entry) = self.entries.get_mut(peer) {
            entry.kept = false;
        }
    }

    /// A kept peer is due again at once.
    pub(crate) fn retry(&mut self, peer: &PeerId, now: Instant) {
        let first = self.first;
        if let Some(entry) = self.entries.get_mut(peer).filter(|e| e.due.is_some()) {
            entry.due = Some(now);
            entry.pause = first;
        }
    }

    pub(crate) fn is_kept(&self, peer: &PeerId) -> bool {
        self.entries.get(peer).is_some_and(|e| e.kept)
    }

    /// Whether a peer is kept and does not rest.
    pub(crate) fn is_sought(&self, peer: &PeerId) -> bool {
        self.entries.get(peer).is_some_and(Entry::is_sought)
    }

    /// A connection stands.
    pub(crate) fn connected(&mut self, peer: &PeerId) {
        if let Some(entry) = self.entries.get_mut(peer) {
            entry.connected = true;
            entry.due = None;
        }
    }

    /// The peer has proved to be one of ours: failures are forgotten.
    pub(crate) fn admitted(&mut self, peer: &PeerId) {
        if let Some(entry) = self.entries.get_mut(peer) {
            entry.failures = 0;
            entry.good = true;
        }
    }

    /// The last connection is gone; the peer had been connected for so long.
    pub(crate) fn lost(&mut self, peer: &PeerId, lasted: Duration, now: Instant) {
        let (first, excess) = (self.first, self.excess());
        if let Some(entry) = self.entries.get_mut(peer) {
            entry.connected = false;
            if lasted >= STAYED {
                entry.pause = first;
            }
            entry.postpone(now, excess, self.max);
        }
    }

    /// An attempt failed, or could not begin.
    pub(crate) fn failed(&mut self, peer: &PeerId, now: Instant) {
        let alone = !self.entries.values().any(|e| e.connected);
        let excess = self.excess();
        let Some(entry) = self.entries.get_mut(peer) else {
            return;
        };
        if entry.connected || entry.due.is_some() {
            return;
        }
        entry.failures += 1;
        if !entry.kept && !alone && entry.failures >= KNOWN_TRIES {
            self.entries.remove(peer);
            return;
        }
        entry.postpone(now, excess, self.max);
    }

    /// By how many 1024ths the next pause is longer than its rule says: up to a quarter.
    fn excess(&mut self) -> u32 {
        self.pauses = self.pauses.wrapping_add(1);
        self.order.hash_one(self.pauses).to_le_bytes()[0].into()
    }

    /// The peer is of no use now (another network, banned): longest pause, forgotten unless kept.
    pub(crate) fn refused(&mut self, peer: &PeerId) {
        let Some(entry) = self.entries.get_mut(peer) else {
            return;
        };
        if entry.kept {
            entry.pause = self.max;
        } else {
            self.entries.remove(peer);
        }
    }

    /// The peers to dial now, at most `room` merely known ones; marks them as being dialled.
    pub(crate) fn take_due(&mut self, now: Instant, room: usize) -> Vec<(PeerId, Vec<Multiaddr>)> {
        let due = |(_, e): &(&PeerId, &Entry)| {
            e.due.is_some_and(|at| at <= now) && !e.addresses.is_empty()
        };
        let due = self.entries.iter().filter(due);
        let (kept, known): (Vec<_>, Vec<_>) = due.partition(|(_, e)| e.is_sought());
        let mut known: Vec<_> = known
            .into_iter()
            .map(|(peer, e)| (e.failures, self.order.hash_one(peer), *peer))
            .collect();
        known.sort_unstable();
        let known = known.into_iter().take(room).map(|(.., peer)| peer);
        let peers: Vec<PeerId> = kept
            .into_iter()
            .map(|(peer, _)| *peer)
            .chain(known)
            .collect();
        let mut dials = Vec::new();
        for peer in peers {
            if let Some(entry) = self.entries.get_mut(&peer) {
                entry.due = None;
                dials.push((peer, entry.addresses.clone()));
            }
        }
        dials
    }

    /// Where a peer was reached or may be.
    pub(crate) fn addresses(&self, peer: &PeerId) -> Vec<Multiaddr> {
        self.entries
            .get(peer)
            .map(|e| e.addresses.clone())
            .unwrap_or_default()
    }

    /// Peers that were admitted in this run, with addresses.
    pub(crate) fn good(&self) -> Vec<(PeerId, Vec<Multiaddr>)> {
        let good = self
            .entries
            .iter()
            .filter(|(_, e)| e.good && !e.addresses.is_empty());
        good.map(|(peer, e)| (*peer, e.addresses.clone())).collect()
    }

    /// All pauses begin at the first again: dials may have failed because this node's own network
    /// did.
    pub(crate) fn hurry(&mut self) {
        for entry in self.entries.values_mut() {
            entry.pause = self.first;
            entry.failures = 0;
        }
    }

    /// When [`Dialer::take_due`] has something for a kept peer, at the earliest.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let dialable = |e: &&Entry| e.is_sought() && !e.addresses.is_empty();
        self.entries
            .values()
            .filter(dialable)
            .filter_map(|e| e.due)
            .min()
    }

    fn entry(&mut self, peer: PeerId, now: Instant) -> &mut Entry {
        let pause = self.first;
        self.entries.entry(peer).or_insert_with(|| Entry {
            addresses: Vec::new(),
            kept: false,
            rests: false,
            connected: false,
            due: Some(now),
            pause,
            failures: 0,
            good: false,
        })
    }
}

/// Newest addresses first, no doubles, bounded.
fn merge(known: &mut Vec<Multiaddr>, new: Vec<Multiaddr>) {
    known.retain(|a| !new.contains(a));
    known.splice(0..0, new);
    known.truncate(PER_PEER);
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_millis(100);
    const MAX: Duration = Duration::from_secs(5);

    fn setup() -> (Dialer, PeerId, Vec<Multiaddr>, Instant) {
        let address = vec!["/ip4/127.0.0.1/tcp/4000".parse().unwrap()];
        (
            Dialer::new(FIRST, MAX, 2, 2),
            PeerId::random(),
            address,
            Instant::now(),
        )
    }

    #[test]
    fn a_kept_peer_that_rests_is_dialled_like_a_known_one_and_never_forgotten() {
        let (mut dialer, peer, address, start) = setup();
        assert!(dialer.keep(peer, address.clone(), start));
        dialer.rest(&[peer, PeerId::random()].into(), start);
        assert!(dialer.is_kept(&peer) && !dialer.is_sought(&peer));
        assert_eq!(dialer.next_due(), None);
        assert_eq!(dialer.take_due(start, 0), []);
        let other = PeerId::random();
        dialer.learn(other, address.clone(), start);
        dialer.connected(&other);
        for _ in 0..2 * KNOWN_TRIES {
            let later = start + 3600 * MAX;
            assert_eq!(dialer.take_due(later, 1), [(peer, address.clone())]);
            dialer.failed(&peer, start);
        }
        assert!(dialer.next_due().is_none() && dialer.is_kept(&peer));
        dialer.rest(&BTreeSet::new(), start);
        assert!(dialer.is_sought(&peer));
        assert_eq!(dialer.take_due(start, 0), [(peer, address)], "at once");
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_start_again_after_a_connection_that_stayed() {
        let (mut dialer, peer, address, start) = setup();
        assert!(dialer.keep(peer, address, start));
        let mut now = start;
        let mut pauses = Vec::new();
        for _ in 0..9 {
            assert_eq!(dialer.take_due(now, 0).len(), 1);
            assert!(
                dialer.take_due(now + MAX * 2, 0).is_empty(),
                "an attempt is running"
            );
            dialer.failed(&peer, now);
            let next = dialer.next_due().unwrap();
            pauses.push(next - now);
            now = next;
        }
        let grows = |w: &[Duration]| w[0] <= w[1] || w[1] >= MAX;
        assert!(pauses.windows(2).all(grows));
        assert!(pauses[0] >= FIRST && pauses[0] < FIRST * 2);
        assert!(pauses[8] >= MAX && pauses[8] < MAX * 2);
        dialer.connected(&peer);
        dialer.admitted(&peer);
        assert_eq!(dialer.next_due(), None);
        dialer.lost(&peer, STAYED / 2, now);
        assert!(dialer.next_due().unwrap() - now >= MAX);
        dialer.lost(&peer, STAYED, now);
        assert!(dialer.next_due().unwrap() - now < FIRST * 2);
    }

    #[test]
    fn nodes_that_lost_a_peer_at_once_do_not_call_it_in_step() {
        let (_, peer, address, now) = setup();
        let pauses = (0..64).map(|_| {
            let mut dialer = Dialer::new(MAX, MAX, 2, 2);
            assert!(dialer.keep(peer, address.clone(), now));
            dialer.connected(&peer);
            dialer.lost(&peer, STAYED, now);
            dialer.next_due().unwrap() - now
        });
        let pauses: Vec<_> = pauses.collect();
        let (least, most) = (pauses.iter().min().unwrap(), pauses.iter().max().unwrap());
        assert!(*least >= MAX && *most <= MAX * 5 / 4);
        assert!(*most - *least > MAX / 8, "{pauses:?}");
    }

    #[test]
    fn known_peers_are_dialled_only_while_wanted_and_then_forgotten_unless_nobody_is_there() {
        let (mut dialer, peer, address, now) = setup();
        dialer.learn(peer, address.clone(), now);
        assert!(dialer.take_due(now, 0).is_empty());
        for _ in 0..KNOWN_TRIES * 2 {
            assert_eq!(dialer.take_due(now + MAX * 100, 1).len(), 1);
            dialer.failed(&peer, now);
        }
        let other = PeerId::random();
        dialer.learn(other, address, now);
        dialer.connected(&other);
        assert_eq!(dialer.take_due(now + MAX * 100, 1).len(), 1);
        dialer.failed(&peer, now);
        assert!(dialer.take_due(now + MAX * 100, 1).is_empty());
    }

    #[test]
    fn who_failed_comes_last_and_equals_in_no_common_order() {
        let (_, _, address, now) = setup();
        let mut peers: Vec<PeerId> = (0..40).map(|_| PeerId::random()).collect();
        peers.sort_unstable();
        let low = &peers[..20];
        let mut taken_low = 0;
        for _ in 0..32 {
            let mut dialer = Dialer::new(FIRST, MAX, 2, 64);
            for peer in &peers {
                dialer.learn(*peer, address.clone(), now);
            }
            let first = dialer.take_due(now, 10);
            taken_low += first.iter().filter(|(p, _)| low.contains(p)).count();
            first.iter().for_each(|(p, _)| dialer.failed(p, now));
            let later = now + MAX * 2;
            let second = dialer.take_due(later, 30);
            assert!(
                second
                    .iter()
                    .all(|(p, _)| first.iter().all(|(f, _)| f != p))
            );
            assert_eq!((second.len(), dialer.take_due(later, 30).len()), (30, 10));
        }
        // Half of 320, within six standard deviations.
        assert!((110..=210).contains(&taken_low), "{taken_low} of 320");
    }

    #[test]
    fn the_book_is_bounded_per_kind() {
        let (mut dialer, _, address, now) = setup();
        let kept = (0..5)
            .filter(|_| dialer.keep(PeerId::random(), address.clone(), now))
            .count();
        for _ in 0..5 {
            dialer.learn(PeerId::random(), address.clone(), now);
        }
        assert_eq!((kept, dialer.take_due(now, 100).len()), (2, 4));
    }
}
