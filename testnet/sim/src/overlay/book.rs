//! Peers that a node dials, and when: the rules of `node/src/overlay/peers/dialer.rs` on ids.
//!
//! 1. A *kept* peer (a founder that was drawn) is due whenever it is not connected; a *known* one
//!    while fewer are connected than are wanted, those with the fewest failures first and else in
//!    an order of the node's own, and it is forgotten after [`KNOWN_TRIES`] failures unless nobody
//!    is connected.
//! 2. Pauses double from [`REDIAL_FIRST`] to [`REDIAL_MAX`]; after a connection that stood for
//!    [`STAYED`] they start at the first again.

use super::{Id, Millis, ms};
use gridbay_core::overlay::{
    ACQUAINTANCES, KNOWN_PEERS, KNOWN_TRIES, REDIAL_FIRST, REDIAL_MAX, STAYED,
};

/// When to dial a peer that is connected, or being dialled.
const NEVER: Millis = Millis::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    peer: Id,
    due: Millis,
    pause: u32,
    failures: u8,
    kept: bool,
    good: bool,
    connected: bool,
}

/// The dial book of a node.
#[derive(Clone, Debug, Default)]
pub struct Book {
    by_peer: Vec<Entry>,
    kept: Vec<Id>,
    salt: u64,
}

impl Book {
    /// An empty book. The salt gives the order in which equals are dialled.
    pub fn new(salt: u64) -> Book {
        Book {
            salt,
            ..Book::default()
        }
    }

    fn place(&self, peer: Id) -> Result<usize, usize> {
        self.by_peer.binary_search_by_key(&peer, |e| e.peer)
    }

    fn entry(&mut self, peer: Id) -> Option<&mut Entry> {
        let at = self.place(peer).ok()?;
        self.by_peer.get_mut(at)
    }

    fn add(&mut self, peer: Id, now: Millis) -> &mut Entry {
        let at = self.place(peer).unwrap_or_else(|at| {
            let entry = Entry {
                peer,
                due: now,
                pause: ms(REDIAL_FIRST) as u32,
                failures: 0,
                kept: false,
                good: false,
                connected: false,
            };
            self.by_peer.insert(at, entry);
            at
        });
        &mut self.by_peer[at]
    }

    /// Keeps a peer connected from now on.
    pub fn keep(&mut self, peer: Id, now: Millis) {
        let entry = self.add(peer, now);
        if !entry.kept {
            entry.kept = true;
            self.kept.push(peer);
        }
    }

    /// Remembers a peer, if there is room.
    pub fn learn(&mut self, peer: Id, now: Millis) {
        if self.place(peer).is_ok() || self.by_peer.len() - self.kept.len() < KNOWN_PEERS {
            self.add(peer, now);
        }
    }

    /// Whether a peer is kept.
    pub fn is_kept(&self, peer: Id) -> bool {
        self.place(peer).is_ok_and(|at| self.by_peer[at].kept)
    }

    /// A connection stands.
    pub fn connected(&mut self, peer: Id) {
        if let Some(entry) = self.entry(peer) {
            (entry.connected, entry.due) = (true, NEVER);
        }
    }

    /// The peer has proved to be one of ours.
    pub fn admitted(&mut self, peer: Id) {
        if let Some(entry) = self.entry(peer) {
            (entry.failures, entry.good) = (0, true);
        }
    }

    /// The connection is gone, which stood for so long.
    pub fn lost(&mut self, peer: Id, lasted: Millis, now: Millis) {
        if let Some(entry) = self.entry(peer) {
            entry.connected = false;
            if lasted >= ms(STAYED) {
                entry.pause = ms(REDIAL_FIRST) as u32;
            }
            entry.postpone(now);
        }
    }

    /// A dial failed.
    pub fn failed(&mut self, peer: Id, now: Millis) {
        let Ok(at) = self.place(peer) else { return };
        let alone = !self.by_peer.iter().any(|e| e.connected);
        let entry = &mut self.by_peer[at];
        if entry.connected || entry.due != NEVER {
            return;
        }
        entry.failures = entry.failures.saturating_add(1);
        if !entry.kept && !alone && u32::from(entry.failures) >= KNOWN_TRIES {
            self.by_peer.remove(at);
        } else {
            entry.postpone(now);
        }
    }

    /// The peers to dial now, `room` merely known ones at the most; marks them as being dialled.
    pub fn take_due(&mut self, now: Millis, room: usize) -> Vec<Id> {
        let salt = self.salt;
        let kept = self.kept.iter().filter_map(|p| self.place(*p).ok());
        let mut dials: Vec<usize> = kept.filter(|at| self.by_peer[*at].due <= now).collect();
        if room > 0 {
            let known = self.by_peer.iter().enumerate();
            let known = known.filter(|(_, e)| !e.kept && e.due <= now);
            let mut known: Vec<_> = known
                .map(|(at, e)| (e.failures, order(salt, e.peer), at))
                .collect();
            known.sort_unstable();
            dials.extend(known.into_iter().take(room).map(|(.., at)| at));
        }
        let dial = |at: usize| {
            self.by_peer[at].due = NEVER;
            self.by_peer[at].peer
        };
        dials.into_iter().map(dial).collect()
    }

    /// When a kept peer is due, at the earliest.
    pub fn kept_due(&self) -> Option<Millis> {
        let kept = self.kept.iter().filter_map(|p| self.place(*p).ok());
        let due = kept.map(|at| self.by_peer[at].due);
        due.filter(|due| *due != NEVER).min()
    }

    /// When a merely known one is.
    pub fn known_due(&self) -> Option<Millis> {
        let known = self.by_peer.iter().filter(|e| !e.kept);
        known.map(|e| e.due).filter(|due| *due != NEVER).min()
    }

    /// The addresses written down for the next run.
    pub fn good(&self) -> Vec<Id> {
        let good = self.by_peer.iter().filter(|e| e.good);
        good.take(ACQUAINTANCES).map(|e| e.peer).collect()
    }
}

impl Entry {
    fn postpone(&mut self, now: Millis) {
        let jitter = Millis::from(self.pause) * (order(0, self.peer) % 64) / 256;
        self.due = now + Millis::from(self.pause) + jitter;
        self.pause = (self.pause * 2).min(ms(REDIAL_MAX) as u32);
    }
}

/// A number that looks like chance.
fn order(salt: u64, peer: Id) -> u64 {
    let mixed = (salt ^ u64::from(peer)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_peers_are_dialled_while_wanted_in_no_common_order() {
        let mut firsts = Vec::new();
        for salt in 0..64 {
            let mut book = Book::new(salt * 977);
            (0..100).for_each(|peer| book.learn(peer, 0));
            assert!(book.take_due(0, 0).is_empty());
            let first = book.take_due(0, 10);
            assert_eq!(first.len(), 10);
            let second = book.take_due(0, 100);
            assert!(second.len() == 90 && !second.contains(&first[0]));
            firsts.extend(first);
        }
        let low = firsts.iter().filter(|p| **p < 50).count();
        assert!((256..384).contains(&low), "{low} of 640 below the middle");
    }

    #[test]
    fn a_kept_peer_is_dialled_for_ever_and_a_known_one_forgotten() {
        let mut book = Book::new(1);
        book.keep(7, 0);
        book.learn(8, 0);
        book.learn(9, 0);
        book.connected(9);
        let mut now = 0;
        let mut pauses = Vec::new();
        for _ in 0..12 {
            book.take_due(now, 1)
                .iter()
                .for_each(|p| book.failed(*p, now));
            let next = book.kept_due().unwrap();
            pauses.push(next - now);
            now = next + 1_000_000;
        }
        assert!(pauses[0] < 700 && pauses[11] >= 60_000 && pauses[11] < 75_000);
        assert_eq!(book.known_due(), None);
        book.take_due(now, 1);
        book.connected(7);
        book.admitted(7);
        assert_eq!(book.good(), [7]);
        book.lost(7, ms(STAYED) - 1, now);
        assert!(book.kept_due().unwrap() - now >= 60_000);
        book.lost(7, ms(STAYED), now);
        assert!(book.kept_due().unwrap() - now < 700);
    }
}
