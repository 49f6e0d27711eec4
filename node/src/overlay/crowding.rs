//! Room among strangers, and variety among those that we choose.
//!
//! 1. While fewer than [`SPARE`] slots for strangers are free, the stranger that is worth least leaves: lower score, then whoever
//!    called us rather than was called, then who comes from the origin with most peers, then who came last. So nobody can fill all
//!    slots for good, and peers that we chose stay longest.
//! 2. A known peer is not dialled while its origin already has [`SHARE`] of the peers that we want. Of one lookup at most
//!    [`PER_LOOKUP`] peers of an origin are learnt. Both only where peers do not all share an address.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;

use libp2p::{Multiaddr, PeerId};

use super::command::Found;
use super::gate::origin;
use super::stats::Count;
use super::task::{Peer, Task};

/// Slots kept free for dials and newcomers.
const SPARE: usize = 8;
/// One part in so many of the peers that we want may be of one origin.
const SHARE: usize = 4;
/// Peers of one origin learnt from one lookup, which finds up to 20.
const PER_LOOKUP: usize = 5;

/// What a stranger is worth.
#[derive(Clone, Copy, Debug)]
struct Worth {
    score: f64,
    chosen: bool,
    crowd: usize,
    since: std::time::Instant,
}

/// Step 1: who leaves first.
fn least(strangers: impl Iterator<Item = (PeerId, Worth)>) -> Option<PeerId> {
    let order = |a: &Worth, b: &Worth| {
        let rest = |w: &Worth| (w.chosen, Reverse(w.crowd), Reverse(w.since));
        a.score.total_cmp(&b.score).then(rest(a).cmp(&rest(b)))
    };
    let first = strangers.min_by(|(_, a), (_, b)| order(a, b));
    first.map(|(peer, _)| peer)
}

impl Task {
    /// Step 1. Called each half second; one peer at a time, since connections end a little later.
    pub(crate) fn shed_a_stranger(&mut self) {
        let free = self.swarm.behaviour().gate.gate.free();
        let limits = &self.shared.limits;
        if free >= SPARE.min(limits.connections as usize / SHARE) {
            return;
        }
        let crowds = self.crowds();
        let strangers = self.peers.iter().filter(|(id, _)| !self.dialer.is_kept(id));
        let worth = |(id, peer): (&PeerId, &Peer)| {
            let of = first_origin(peer);
            let worth = Worth {
                score: peer.score,
                chosen: peer.connections.keys().any(|c| self.dialled.contains(c)),
                crowd: of.and_then(|of| crowds.get(&of).copied()).unwrap_or(0),
                since: peer.since,
            };
            (*id, worth)
        };
        if let Some(peer) = least(strangers.map(worth)) {
            self.shared.counters.count(Count::ConnectionsShed);
            // An error means that it has just left.
            let _gone = self.swarm.disconnect_peer_id(peer);
        }
    }

    /// Connected peers by origin.
    fn crowds(&self) -> BTreeMap<IpAddr, usize> {
        let mut crowds = BTreeMap::new();
        for of in self.peers.values().filter_map(first_origin) {
            *crowds.entry(of).or_default() += 1;
        }
        crowds
    }

    /// Step 2: whether enough peers of where these addresses are have been chosen already.
    pub(crate) fn is_crowded(&self, addresses: &[Multiaddr]) -> bool {
        if !self.tuning.ip_colocation {
            return false;
        }
        let most = (self.shared.limits.wanted_peers / SHARE).max(1);
        let crowds = self.crowds();
        let full = |of: IpAddr| crowds.get(&of).is_some_and(|n| *n >= most);
        let mut origins = addresses.iter().filter_map(origin).peekable();
        origins.peek().is_some() && origins.all(full)
    }

    /// Step 2: those found by a lookup that are learnt.
    pub(crate) fn varied<'a>(&self, found: &'a Found) -> Vec<&'a (PeerId, Vec<Multiaddr>)> {
        if !self.tuning.ip_colocation {
            return found.iter().collect();
        }
        let mut seen: BTreeMap<IpAddr, usize> = BTreeMap::new();
        let few = |(_, addresses): &&(PeerId, Vec<Multiaddr>)| {
            let first = addresses.iter().find_map(origin);
            first.is_none_or(|of| {
                let count = seen.entry(of).or_default();
                *count += 1;
                *count <= PER_LOOKUP
            })
        };
        found.iter().filter(few).collect()
    }
}

fn first_origin(peer: &Peer) -> Option<IpAddr> {
    peer.direct().find_map(origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn the_worst_leaves_first_then_the_uncalled_the_crowded_the_youngest() {
        let start = Instant::now();
        let worth = |score, chosen, crowd, age: u64| Worth {
            score,
            chosen,
            crowd,
            since: start - Duration::from_secs(age),
        };
        let order = [
            worth(-5.0, true, 1, 9),
            worth(0.0, false, 9, 1),
            worth(0.0, false, 9, 2),
            worth(0.0, false, 1, 1),
            worth(0.0, true, 9, 1),
            worth(0.0, true, 1, 9),
        ];
        let mut left: Vec<_> = order.iter().map(|w| (PeerId::random(), *w)).collect();
        let ids: Vec<PeerId> = left.iter().map(|(id, _)| *id).collect();
        left.reverse();
        for id in ids {
            assert_eq!(least(left.iter().copied()), Some(id));
            left.retain(|(other, _)| *other != id);
        }
        assert_eq!(least(left.into_iter()), None);
    }
}
