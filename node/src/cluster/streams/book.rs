//! To whom a stream is wanted: pure, and told the time.
//!
//! 1. A pair that had no way for [`WAIT`] wants a stream to the member, and to each of its relays
//!    that was known for as long; to relays at once where no datagram ever came from outside, which
//!    a network shows that lets none out.
//! 2. A peer with which no stream comes about is left alone for a time that doubles.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use gridbay_vnet::path::Ticket;

use super::pass::{OPENED, Pass, RELAYS, WAIT};

/// Rule 2: at first, and at the most.
const REST: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));

/// A pair as it is now.
pub(super) struct Pair {
    pub(super) lease: LeaseId,
    pub(super) node: PublicKey,
    pub(super) has_way: bool,
    pub(super) relays: Vec<(PublicKey, Ticket)>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Book {
    /// Since when pairs have no way.
    lacking: BTreeMap<(LeaseId, PublicKey), Instant>,
    /// Since when relays are known, by ticket.
    told: BTreeMap<Ticket, Instant>,
    /// Peers that are asked now.
    asked: BTreeSet<PublicKey>,
    /// Peers left alone: until when, and for how long the next time.
    rests: BTreeMap<PublicKey, (Instant, Duration)>,
}

impl Book {
    /// The streams to ask for now, of those that are not open, at most so many; they count as asked
    /// for until [`Book::answered`].
    pub(super) fn due(
        &mut self,
        pairs: &[Pair],
        is_open: impl Fn(&PublicKey) -> bool,
        dark: bool,
        room: usize,
        now: Instant,
    ) -> Vec<(PublicKey, Pass)> {
        let lacks = |key: &(LeaseId, PublicKey)| {
            let mut all = pairs.iter().filter(|p| !p.has_way);
            all.any(|p| (p.lease, p.node) == *key)
        };
        self.lacking.retain(|key, _| lacks(key));
        let relays = || pairs.iter().flat_map(|p| &p.relays);
        self.told
            .retain(|ticket, _| relays().any(|(_, t)| t == ticket));
        for (_, ticket) in relays() {
            self.told.entry(*ticket).or_insert(now);
        }
        let mut wanted = Vec::new();
        for pair in pairs.iter().filter(|p| !p.has_way) {
            let key = (pair.lease, pair.node);
            if now < *self.lacking.entry(key).or_insert(now) + WAIT {
                continue;
            }
            wanted.push((pair.node, Pass::Member(pair.lease)));
            let known = |ticket: &Ticket| dark || now >= self.told[ticket] + WAIT;
            let ready = pair.relays.iter().take(RELAYS).filter(|(_, t)| known(t));
            wanted.extend(ready.map(|(node, ticket)| (*node, Pass::Relay(*ticket))));
        }
        // Those that rest no longer and are not wanted are forgotten.
        let again = |node: &PublicKey| wanted.iter().any(|(w, _)| w == node);
        self.rests
            .retain(|node, (until, _)| now < *until || again(node));
        let mut due = Vec::new();
        for (node, pass) in wanted {
            let rests = self.rests.get(&node);
            let rests = rests.is_some_and(|(until, _)| now < *until);
            let known = is_open(&node) || self.asked.contains(&node);
            if !rests && !known && due.len() < room && self.asked.len() < OPENED {
                self.asked.insert(node);
                due.push((node, pass));
            }
        }
        due
    }

    /// A stream that was asked for stands, or does not.
    pub(super) fn answered(&mut self, node: &PublicKey, stands: bool, now: Instant) {
        self.asked.remove(node);
        if stands {
            self.rests.remove(node);
            return;
        }
        let (until, time) = self.rests.entry(*node).or_insert((now, REST.0));
        *until = now + *time;
        *time = (*time * 2).min(REST.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    fn node(n: u8) -> PublicKey {
        SecretKey::from_seed(&[n; 32]).public()
    }

    fn pair(has_way: bool, relays: &[(u8, u8)]) -> Pair {
        let relays = relays.iter().map(|(n, t)| (node(*n), [*t; 16]));
        Pair {
            lease: LeaseId([1; 32]),
            node: node(1),
            has_way,
            relays: relays.collect(),
        }
    }

    const SECOND: Duration = Duration::from_secs(1);

    /// Asks with nothing open and room for all.
    fn due(book: &mut Book, pair: &Pair, dark: bool, now: Instant) -> Vec<PublicKey> {
        let pairs = std::slice::from_ref(pair);
        let due = book.due(pairs, |_| false, dark, 9, now);
        due.into_iter().map(|(node, _)| node).collect()
    }

    #[test]
    fn datagrams_have_their_time_before_a_stream_is_asked_for() {
        let (mut book, start) = (Book::default(), Instant::now());
        assert!(due(&mut book, &pair(false, &[]), false, start).is_empty());
        assert!(due(&mut book, &pair(true, &[]), false, start + SECOND).is_empty());
        assert!(due(&mut book, &pair(false, &[]), false, start + SECOND * 2).is_empty());
        let late = start + SECOND * 5;
        let relayed = pair(false, &[(7, 7), (8, 8), (9, 9)]);
        assert_eq!(due(&mut book, &relayed, false, late), [node(1)]);
        assert!(due(&mut book, &relayed, false, late + SECOND).is_empty());
        let late = late + SECOND * 3;
        let relays = [node(7), node(8)];
        assert_eq!(due(&mut book, &relayed, false, late), relays, "two of them");
    }

    #[test]
    fn where_no_datagram_comes_relays_are_asked_at_once() {
        let (mut book, start) = (Book::default(), Instant::now());
        let lacking = pair(false, &[]);
        assert!(due(&mut book, &lacking, true, start).is_empty());
        assert_eq!(due(&mut book, &lacking, true, start + SECOND * 3).len(), 1);
        let relayed = pair(false, &[(7, 7)]);
        let now = start + SECOND * 4;
        assert_eq!(due(&mut book, &relayed, true, now), [node(7)]);
    }

    #[test]
    fn who_gives_none_is_asked_ever_more_seldom_and_room_is_kept() {
        let (mut book, mut now) = (Book::default(), Instant::now());
        let lacking = pair(false, &[(7, 7)]);
        due(&mut book, &lacking, false, now);
        now += WAIT;
        let pairs = std::slice::from_ref(&lacking);
        let open = book.due(pairs, |n| *n == node(1), false, 0, now);
        assert!(open.is_empty(), "no room");
        let open = book.due(pairs, |n| *n == node(1), false, 9, now);
        assert_eq!(open, [(node(7), Pass::Relay([7; 16]))], "one is open");
        let mut rest = REST.0;
        for _ in 0..8 {
            book.answered(&node(7), false, now);
            let early = book.due(pairs, |n| *n == node(1), false, 9, now + rest - SECOND / 2);
            assert!(early.is_empty());
            now += rest;
            assert_eq!(book.due(pairs, |n| *n == node(1), false, 9, now).len(), 1);
            rest = (rest * 2).min(REST.1);
        }
        book.answered(&node(7), true, now);
        assert_eq!(book.due(pairs, |n| *n == node(1), false, 9, now).len(), 1);
    }
}
