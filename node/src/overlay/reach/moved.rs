//! This node or a peer moves. Nobody is told, and connections fall silent.
//!
//! 1. A connection is *silent* when no ping on it has been answered for the time between two pings
//!    and that of an answer. (The ping protocol itself keeps its first failure in a row to itself.)
//!    It is closed. Where we have not looked for long, because this process was held up, answers
//!    may lie unread, and everybody counts as just heard.
//! 2. We have moved when an address of an interface is gone, or when a connection is silent and
//!    nobody else has answered a ping since it was last due to: then the gateway before us has
//!    another address. Every connection is closed and made anew, since many would take their time
//!    to notice, and relays may be asked again at once.
//! 3. Peers that we were connected with and have no address of are sought as soon as somebody is
//!    connected. They have lost us without knowing it yet, and looking for us they would find where
//!    we were.
//! 4. A peer has moved when it connects to us from another host than [`OVERLAP`] ago: its older
//!    connections of the same kind are closed. A relay would else lead others to the dead one.
//!    Private and public addresses stand beside each other, as in one LAN.
//! 5. A peer has moved too when it comes through a relay though we have had a direct connection for
//!    [`OVERLAP`]: nobody takes a circuit to a peer that it is connected with. The direct ones are
//!    closed.

use std::time::Instant;

use libp2p::swarm::ConnectionId;
use libp2p::{Multiaddr, PeerId};

use super::addresses::{ip, is_circuit, is_global, is_quic};
use super::moves::OVERLAP;
use super::{Order, Traversal};
use crate::overlay::peers::Peers;
use crate::overlay::stats::Count;

/// Former peers sought at a time, twice a second.
const AT_ONCE: usize = 8;

impl Traversal {
    /// A connection stands.
    pub(crate) fn on_connection(
        &mut self,
        peers: &Peers,
        peer: PeerId,
        connection: ConnectionId,
        dialled: bool,
    ) {
        let now = Instant::now();
        self.moves.heard(connection, now);
        if !self.local && !dialled {
            self.on_arrival(peers, peer, connection, now);
        }
    }

    /// A connection is closed.
    pub(crate) fn on_connection_closed(&mut self, connection: &ConnectionId) {
        self.moves.closed(connection);
    }

    /// A ping was answered on a connection.
    pub(crate) fn on_ping(&mut self, connection: ConnectionId) {
        self.moves.heard(connection, Instant::now());
    }

    /// Steps 1 and 2, as far as they follow from silence.
    pub(crate) fn end_silent(&mut self, peers: &Peers, now: Instant) {
        if self.local {
            return;
        }
        let ping = self.shared.tuning.ping;
        let silent = self.moves.silent(ping, now);
        let lost = silent.len();
        self.shared.counters.count_n(Count::PingsLost, lost);
        if lost > 0 && self.moves.all_silent(ping, now) {
            tracing::info!("nobody answers any more: all connections are made anew");
            return self.on_network_change(peers, now);
        }
        for connection in silent {
            self.moves.closed(&connection);
            self.orders.push(Order::Close(connection));
        }
    }

    /// Step 2.
    pub(super) fn on_network_change(&mut self, peers: &Peers, now: Instant) {
        self.shared.counters.count(Count::NetworkChanges);
        self.moves.forget_all();
        self.known.begin_anew(now);
        self.orders.push(Order::Hurry);
        self.relays.forgive();
        for peer in peers.ids() {
            if peers.is_peer(&peer) && peers.addresses(&peer).is_empty() {
                self.moves.lose(peer);
            }
            self.orders.push(Order::Disconnect(peer));
        }
    }

    /// Step 3.
    pub(super) fn seek_former(&mut self, peers: &Peers) {
        if peers.has_any() {
            let former = self.moves.take_former(AT_ONCE);
            self.orders.extend(former.into_iter().map(Order::Seek));
        }
    }

    /// Steps 4 and 5: a peer has connected to us.
    fn on_arrival(&mut self, peers: &Peers, id: PeerId, connection: ConnectionId, now: Instant) {
        let all = peers.connections(&id);
        let Some((_, new)) = all.iter().find(|(at, _)| *at == connection) else {
            return;
        };
        let others = all.iter().filter(|(at, _)| *at != connection);
        let dead: Vec<ConnectionId> = if is_circuit(new) {
            let since = peers.direct_since(&id);
            let stands = since.is_some_and(|since| now.duration_since(since) >= OVERLAP);
            let direct = others.filter(|(_, address)| stands && !is_circuit(address));
            direct.map(|(at, _)| *at).collect()
        } else {
            let old = others.filter(|(at, _)| self.moves.is_old(at, now));
            let left = old.filter(|(_, address)| is_left(address, new));
            left.map(|(at, _)| *at).collect()
        };
        if dead.is_empty() {
            return;
        }
        if is_circuit(new) {
            self.orders.push(Order::ForgetDirect(id));
        }
        for connection in dead {
            self.shared.counters.count(Count::ConnectionsLeft);
            self.orders.push(Order::Close(connection));
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
