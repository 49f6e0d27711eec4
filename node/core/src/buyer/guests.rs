//! Users whom an owner admits to the network of a lease: their nodes ask for a place among the
//! members, and have it for as long as they go on asking ([`crate::cluster`], step 5).
//!
//! 1. A node asks for itself, over a connection with its own key, with a signature of the key that
//!    was admitted: nobody brings a stranger along.
//! 2. A key has one node in a lease; the one that asked last, once the other has been silent.
//! 3. A place is kept for [`LAPSE_MS`]. It is given back at once when the key is dismissed, and the
//!    node that asks again is told so, unless this one was started anew meanwhile.

use crate::cluster::{GUESTS, Visit};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Milliseconds after which a guest that does not ask again is gone.
const LAPSE_MS: u64 = 30_000;
/// Dismissed keys of an order that are remembered.
const DISMISSED: usize = 256;

/// Whom an order's owner admits, and who came.
#[derive(Clone, Debug, Default)]
pub(super) struct Guests {
    admitted: BTreeSet<PublicKey>,
    /// Keys that were dismissed, the last ones: their nodes are told so.
    dismissed: VecDeque<PublicKey>,
    /// By lease and key.
    here: BTreeMap<(LeaseId, PublicKey), Guest>,
}

#[derive(Clone, Debug)]
struct Guest {
    node: PublicKey,
    rank: u32,
    heard_ms: u64,
}

impl Guests {
    /// Sets who may come. The others leave.
    pub(super) fn admit(&mut self, keys: BTreeSet<PublicKey>) {
        self.here.retain(|(_, key), _| keys.contains(key));
        self.dismissed.retain(|key| !keys.contains(key));
        self.dismissed.extend(self.admitted.difference(&keys));
        let many = self.dismissed.len().saturating_sub(DISMISSED);
        self.dismissed.drain(..many);
        self.admitted = keys;
    }

    /// Whether a key may come.
    pub(super) fn has_admitted(&self, key: &PublicKey) -> bool {
        self.admitted.contains(key)
    }

    /// Whether a key was admitted once, and is no longer.
    pub(super) fn has_dismissed(&self, key: &PublicKey) -> bool {
        self.dismissed.contains(key)
    }

    /// A node asks for a place; the signature was checked. False if there is none for it.
    pub(super) fn visit(&mut self, visit: &Visit, now_ms: u64) -> bool {
        let place = (visit.lease, visit.key);
        if !self.admitted.contains(&visit.key) {
            return false;
        }
        self.lapse(now_ms);
        if let Some(guest) = self.here.get_mut(&place) {
            guest.heard_ms = if guest.node == visit.node {
                now_ms
            } else {
                guest.heard_ms
            };
            return guest.node == visit.node;
        }
        let of_lease = self
            .here
            .iter()
            .filter(|((lease, _), _)| *lease == visit.lease);
        let taken: Vec<(PublicKey, u32)> = of_lease.map(|(_, g)| (g.node, g.rank)).collect();
        let free = GUESTS
            .rev()
            .find(|rank| taken.iter().all(|(_, t)| t != rank));
        let twice = taken.iter().any(|(node, _)| *node == visit.node);
        let Some(rank) = free.filter(|_| !twice) else {
            return false;
        };
        let guest = Guest {
            node: visit.node,
            rank,
            heard_ms: now_ms,
        };
        self.here.insert(place, guest);
        true
    }

    /// Guests that are silent are gone.
    pub(super) fn lapse(&mut self, now_ms: u64) {
        self.here
            .retain(|_, guest| now_ms < guest.heard_ms + LAPSE_MS);
    }

    /// The nodes in a lease's network, each with its rank.
    pub(super) fn of(&self, lease: LeaseId) -> impl Iterator<Item = (PublicKey, u32)> {
        let of_lease = move |((of, _), guest): (&(LeaseId, PublicKey), &Guest)| {
            (*of == lease).then_some((guest.node, guest.rank))
        };
        self.here.iter().filter_map(of_lease)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    fn key(n: u8) -> PublicKey {
        SecretKey::from_seed(&[n; 32]).public()
    }

    fn visit(lease: u8, of: u8, node: u8) -> Visit {
        Visit {
            lease: LeaseId([lease; 32]),
            node: key(node),
            owner: key(0),
            key: key(of),
        }
    }

    #[test]
    fn an_admitted_key_has_one_node_in_a_lease_until_that_is_silent() {
        let mut guests = Guests::default();
        assert!(!guests.visit(&visit(1, 5, 50), 0), "nobody is admitted");
        guests.admit(BTreeSet::from([key(5), key(6)]));
        assert!(guests.visit(&visit(1, 5, 50), 0));
        assert!(
            !guests.visit(&visit(1, 5, 51), 1),
            "another node of the key"
        );
        assert!(!guests.visit(&visit(1, 6, 50), 1), "one node for two keys");
        assert!(guests.visit(&visit(1, 6, 60), 1));
        assert!(guests.visit(&visit(2, 5, 50), 1), "another lease");
        let ranks: Vec<u32> = guests.of(LeaseId([1; 32])).map(|(_, rank)| rank).collect();
        assert_eq!(ranks.len(), 2);
        assert!(ranks[0] != ranks[1] && ranks.iter().all(|rank| GUESTS.contains(rank)));
        assert!(guests.visit(&visit(1, 5, 50), LAPSE_MS - 1));
        assert!(!guests.visit(&visit(1, 5, 51), LAPSE_MS + 1));
        assert!(guests.visit(&visit(1, 5, 51), 2 * LAPSE_MS));
        guests.admit(BTreeSet::from([key(6)]));
        assert_eq!(guests.of(LeaseId([2; 32])).count(), 0, "dismissed");
        assert!(guests.has_dismissed(&key(5)) && !guests.has_dismissed(&key(6)));
        assert!(!guests.has_dismissed(&key(7)), "it never was a guest");
        guests.admit(BTreeSet::from([key(5)]));
        assert!(!guests.has_dismissed(&key(5)) && guests.has_dismissed(&key(6)));
    }

    #[test]
    fn the_last_dismissed_keys_are_remembered() {
        let mut guests = Guests::default();
        for n in 0..=u8::MAX {
            guests.admit(BTreeSet::from([key(n)]));
        }
        guests.admit(BTreeSet::new());
        assert_eq!(guests.dismissed.len(), DISMISSED);
        let last = SecretKey::from_seed(&[[1; 16], [2; 16]].concat().try_into().unwrap()).public();
        guests.admit(BTreeSet::from([last]));
        guests.admit(BTreeSet::new());
        assert_eq!(guests.dismissed.len(), DISMISSED);
        assert!(guests.has_dismissed(&last) && !guests.has_dismissed(&key(0)));
    }

    #[test]
    fn no_more_come_than_there_are_ranks() {
        let mut guests = Guests::default();
        guests.admit((1..=100).map(key).collect());
        let came = (1..=100).filter(|n| guests.visit(&visit(1, *n, *n), 0));
        assert_eq!(came.count(), GUESTS.len());
    }
}
