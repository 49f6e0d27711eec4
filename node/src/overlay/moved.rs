//! Somebody moves: we ourselves, or a peer. Nobody is told, and what was connected falls silent.
//!
//! 1. We have moved when an address of an interface is gone, or when a ping is not answered in time and none was meanwhile on any
//!    other connection: then the gateway before us has another address. Every connection is closed and made anew, since many would
//!    take their time to notice, and relays may be asked again at once.
//! 2. Whom we were connected with and have no address of, we seek as soon as somebody is connected. They have lost us without knowing
//!    it yet, and looking for us they would find where we were.
//! 3. A peer has moved when it connects to us from another host than before: its older connections of the same kind are closed. A
//!    relay would else lead others to the dead one. Private and public addresses stand beside each other, as in one LAN.
//! 4. A peer has moved too when it comes through a relay though we have had a direct connection for [`OVERLAP`]: nobody takes a circuit
//!    to whom he is connected with. The direct ones are closed.

use std::collections::BTreeSet;
use std::time::Instant;

use libp2p::swarm::ConnectionId;
use libp2p::{Multiaddr, PeerId};

use super::addresses::{ip, is_circuit, is_global, is_quic};
use super::stats::Count;
use super::task::Task;
use super::traverse::OVERLAP;

/// Former peers sought at a time, twice a second.
const AT_ONCE: usize = 8;

/// What is remembered of moves.
#[derive(Debug)]
pub(crate) struct Moves {
    /// When the last ping was answered, whoever by.
    pub(crate) heard: Instant,
    /// Step 2: those still to be sought.
    former: BTreeSet<PeerId>,
}

impl Moves {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            heard: now,
            former: BTreeSet::new(),
        }
    }
}

impl Task {
    /// A ping was not answered in time.
    pub(crate) fn on_silence(&mut self, connection: ConnectionId, now: Instant) {
        self.shared.counters.count(Count::PingsLost);
        // Others are pinged as often: one that lives was heard since, give or take its own round trip.
        if now.duration_since(self.moves.heard) >= self.tuning.ping * 5 / 4 {
            tracing::info!("nobody answers any more: all connections are made anew");
            self.on_network_change(now);
        } else {
            self.swarm.close_connection(connection);
        }
    }

    /// Step 1.
    pub(crate) fn on_network_change(&mut self, now: Instant) {
        self.shared.counters.count(Count::NetworkChanges);
        // One that ends now must not take the next silence for another change.
        self.moves.heard = now;
        self.reach.begin_anew(now);
        self.dialer.hurry();
        self.relays.forgive();
        for id in self.peers.keys().copied().collect::<Vec<_>>() {
            if self.is_peer(&id) && self.dialer.addresses(&id).is_empty() {
                self.moves.former.insert(id);
            }
            // An error means that it has just left.
            let _gone = self.swarm.disconnect_peer_id(id);
        }
    }

    /// Step 2.
    pub(crate) fn seek_former(&mut self) {
        if !self.peers.values().any(|peer| peer.admitted) {
            return;
        }
        for _ in 0..AT_ONCE {
            let Some(peer) = self.moves.former.pop_first() else {
                return;
            };
            self.seek(peer);
        }
    }

    /// Steps 3 and 4: a peer has connected to us.
    pub(crate) fn on_arrival(&mut self, id: PeerId, connection: ConnectionId) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        let Some(new) = peer.connections.get(&connection) else {
            return;
        };
        let others = peer.connections.iter().filter(|(at, _)| **at != connection);
        let dead: Vec<ConnectionId> = if is_circuit(new) {
            let since = peer.direct_since.map(|since| since.elapsed());
            let stands = since.is_some_and(|since| since >= OVERLAP);
            let direct = others.filter(|(_, address)| stands && !is_circuit(address));
            direct.map(|(at, _)| *at).collect()
        } else {
            let old = others.filter(|(_, address)| is_left(address, new));
            old.map(|(at, _)| *at).collect()
        };
        if dead.is_empty() {
            return;
        }
        if is_circuit(new) {
            peer.direct_since = None;
            peer.tried_direct = false;
        }
        for connection in dead {
            self.shared.counters.count(Count::ConnectionsLeft);
            self.swarm.close_connection(connection);
        }
    }
}

/// Whether a peer that comes from `new` is no longer at `old`.
fn is_left(old: &Multiaddr, new: &Multiaddr) -> bool {
    let (Some(from), Some(to)) = (ip(old), ip(new)) else {
        return false;
    };
    !is_circuit(old)
        && is_quic(old) == is_quic(new)
        && from.is_ipv4() == to.is_ipv4()
        && is_global(from) == is_global(to)
        && from != to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_left_for_another_one_of_the_same_sort() {
        let left = |old: &str, new: &str| is_left(&old.parse().unwrap(), &new.parse().unwrap());
        let old = "/ip4/198.51.100.7/udp/7411/quic-v1";
        assert!(left(old, "/ip4/203.0.113.9/udp/4/quic-v1"));
        for new in [
            "/ip4/198.51.100.7/udp/4/quic-v1",
            "/ip4/203.0.113.9/tcp/7411",
            "/ip4/192.168.1.7/udp/7411/quic-v1",
            "/ip6/2001:db8::1/udp/7411/quic-v1",
        ] {
            assert!(!left(old, new), "{new}");
        }
        let relay = PeerId::random();
        let circuit = format!("{old}/p2p/{relay}/p2p-circuit");
        assert!(!left(&circuit, "/ip4/203.0.113.9/udp/4/quic-v1"));
    }
}
