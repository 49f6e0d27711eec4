//! The relays at which a node keeps places. Pure: the time comes in, reservations to ask for come
//! out.
//!
//! 1. Candidates are connected peers that offer to relay. While the node holds fewer than
//!    [`WANTED`] places, the best candidate without one is asked: first those in another network
//!    (prefix) than its relays, then by round trip.
//! 2. A place counts when the listener on it has an address. A place is given up if it has none
//!    after [`PATIENCE`], is refused, or loses its connection. Its relay then rests: for [`REST`]
//!    at first, twice as long each time up to [`REST_MAX`], until a place there has lasted that
//!    long.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use libp2p::core::transport::ListenerId;
use libp2p::{Multiaddr, PeerId};

use super::addresses::{ip, prefix};

/// Places to hold: one may die, and without any nobody can reach this node.
pub(crate) const WANTED: usize = 2;
/// How long a relay may take to give a place.
const PATIENCE: Duration = Duration::from_secs(10);
const REST: Duration = Duration::from_secs(1);
const REST_MAX: Duration = Duration::from_secs(60);
/// Relays whose rests are remembered.
const REMEMBERED: usize = 256;

/// A connected peer that relays.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// The peer.
    pub(crate) peer: PeerId,
    /// The direct address of the connection to it.
    pub(crate) address: Multiaddr,
    /// Its round trip, if measured.
    pub(crate) rtt: Option<Duration>,
}

#[derive(Debug)]
struct Place {
    relay: PeerId,
    network: Option<[u8; 6]>,
    since: Instant,
    stands: bool,
}

/// The places and the rests.
#[derive(Debug, Default)]
pub(crate) struct Relays {
    places: HashMap<ListenerId, Place>,
    rests: BTreeMap<PeerId, (Instant, Duration)>,
}

impl Relays {
    /// Step 1: the relay to ask now, if any.
    pub(crate) fn next(&self, candidates: &[Candidate], now: Instant) -> Option<Candidate> {
        if self.places.len() >= WANTED {
            return None;
        }
        let networks: Vec<_> = self.places.values().map(|p| p.network).collect();
        let free = |c: &&Candidate| {
            let resting = self
                .rests
                .get(&c.peer)
                .is_some_and(|(until, _)| *until > now);
            !resting && self.places.values().all(|p| p.relay != c.peer)
        };
        let order = |c: &&Candidate| {
            let near = networks.contains(&network(&c.address));
            (near, c.rtt.unwrap_or(Duration::MAX), c.peer)
        };
        candidates.iter().filter(free).min_by_key(order).cloned()
    }

    /// A place was asked for.
    pub(crate) fn asked(&mut self, listener: ListenerId, relay: &Candidate, now: Instant) {
        let place = Place {
            relay: relay.peer,
            network: network(&relay.address),
            since: now,
            stands: false,
        };
        self.places.insert(listener, place);
    }

    /// A listener has an address. Returns whether it is on a relay.
    pub(crate) fn stands(&mut self, listener: &ListenerId) -> bool {
        let place = self.places.get_mut(listener);
        place.map(|place| place.stands = true).is_some()
    }

    /// A listener is gone. Returns whether it was on a relay.
    pub(crate) fn lost(&mut self, listener: &ListenerId, now: Instant) -> bool {
        let Some(place) = self.places.remove(listener) else {
            return false;
        };
        let stood = place.stands && now.duration_since(place.since) >= REST_MAX;
        let before = self.rests.get(&place.relay).map(|(_, pause)| *pause);
        let pause = match before {
            Some(pause) if !stood => (pause * 2).min(REST_MAX),
            _ => REST,
        };
        if self.rests.len() >= REMEMBERED {
            self.rests.retain(|_, (until, _)| *until > now);
        }
        if self.rests.len() < REMEMBERED {
            self.rests.insert(place.relay, (now + pause, pause));
        }
        true
    }

    /// A relay could not be asked: it rests as if it had refused.
    pub(crate) fn refused(&mut self, relay: PeerId, now: Instant) {
        self.rests.insert(relay, (now + REST_MAX, REST_MAX));
    }

    /// Places were lost because this node's own network failed, so all relays may be asked at once.
    pub(crate) fn forgive(&mut self) {
        self.rests.clear();
    }

    /// The places that were asked for too long ago, to be given up.
    pub(crate) fn overdue(&self, now: Instant) -> Vec<ListenerId> {
        let overdue = |p: &Place| !p.stands && now.duration_since(p.since) >= PATIENCE;
        self.places
            .iter()
            .filter(|(_, p)| overdue(p))
            .map(|(id, _)| *id)
            .collect()
    }

    /// The relay that has not given this place yet.
    pub(crate) fn asks(&self, listener: &ListenerId) -> Option<PeerId> {
        let place = self.places.get(listener).filter(|p| !p.stands);
        place.map(|place| place.relay)
    }

    /// All places, for a node that gives them up.
    pub(crate) fn all(&self) -> Vec<ListenerId> {
        self.places.keys().copied().collect()
    }

    /// Relays at which a place stands.
    pub(crate) fn standing(&self) -> Vec<PeerId> {
        self.places
            .values()
            .filter(|p| p.stands)
            .map(|p| p.relay)
            .collect()
    }

    /// Relays at which a place stands or was asked for.
    pub(crate) fn all_relays(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.places.values().map(|p| p.relay)
    }

    /// Whether the node needs more relays than it has or has asked.
    pub(crate) fn are_short(&self) -> bool {
        self.places.len() < WANTED
    }
}

fn network(address: &Multiaddr) -> Option<[u8; 6]> {
    ip(address).map(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(host: &str, millis: u64) -> Candidate {
        Candidate {
            peer: PeerId::random(),
            address: format!("/ip4/{host}/tcp/7411").parse().unwrap(),
            rtt: Some(Duration::from_millis(millis)),
        }
    }

    #[test]
    fn the_nearest_first_then_one_in_another_network() {
        let mut relays = Relays::default();
        let now = Instant::now();
        let all = [
            candidate("198.51.100.1", 5),
            candidate("198.51.100.2", 6),
            candidate("203.0.113.1", 90),
        ];
        let first = relays.next(&all, now).unwrap();
        assert_eq!(first.peer, all[0].peer);
        relays.asked(ListenerId::next(), &first, now);
        let second = relays.next(&all, now).unwrap();
        assert_eq!(second.peer, all[2].peer);
        relays.asked(ListenerId::next(), &second, now);
        assert!(relays.next(&all, now).is_none() && !relays.are_short());
    }

    #[test]
    fn a_relay_that_is_lost_rests_ever_longer_until_a_place_has_stood() {
        let mut relays = Relays::default();
        let all = [candidate("198.51.100.1", 5)];
        let mut now = Instant::now();
        let mut rests = Vec::new();
        for _ in 0..8 {
            let relay = relays.next(&all, now).unwrap();
            let listener = ListenerId::next();
            relays.asked(listener, &relay, now);
            assert!(relays.lost(&listener, now));
            let rest = (0..)
                .map(Duration::from_secs)
                .find(|s| relays.next(&all, now + *s).is_some());
            rests.push(rest.unwrap().as_secs());
            now += rest.unwrap();
        }
        assert_eq!(rests, [1, 2, 4, 8, 16, 32, 60, 60]);
        relays.forgive();
        assert!(relays.next(&all, now).is_some());
        let listener = ListenerId::next();
        relays.asked(listener, &all[0], now);
        assert!(relays.stands(&listener));
        now += REST_MAX;
        relays.lost(&listener, now);
        assert!(relays.next(&all, now + REST).is_some());
    }

    #[test]
    fn a_place_that_is_not_given_in_time_is_overdue() {
        let mut relays = Relays::default();
        let now = Instant::now();
        let listener = ListenerId::next();
        relays.asked(listener, &candidate("198.51.100.1", 5), now);
        assert!(relays.overdue(now).is_empty());
        assert_eq!(relays.overdue(now + PATIENCE), [listener]);
        let relay = relays.all_relays().next();
        assert!(relay.is_some() && relays.asks(&listener) == relay);
        relays.stands(&listener);
        assert_eq!(relays.asks(&listener), None);
        assert!(relays.overdue(now + PATIENCE).is_empty());
    }
}
