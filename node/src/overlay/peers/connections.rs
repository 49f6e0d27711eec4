//! Connections with peers: made, failed, answered, closed.

use std::time::{Duration, Instant};

use libp2p::core::ConnectedPoint;
use libp2p::swarm::{ConnectionId, DialError, ListenError};
use libp2p::{Multiaddr, PeerId, ping};

use super::gate::Refusal;
use super::peer::Peer;
use super::{Order, Peers};
use crate::overlay::reach::addresses::{is_circuit, is_quic, without_peer};
use crate::overlay::reach::relays::Candidate;
use crate::overlay::stats::Count;

/// Where the other end of a connection is. A peer that comes over a circuit has no address of its
/// own: it is at ours at the relay.
fn place_of(endpoint: &ConnectedPoint) -> Multiaddr {
    match endpoint {
        ConnectedPoint::Listener { local_addr, .. } if endpoint.is_relayed() => local_addr.clone(),
        _ => endpoint.get_remote_address().clone(),
    }
}

/// The counter of an inbound connection that failed.
fn why_not_in(error: &ListenError) -> Count {
    let refusal = match error {
        ListenError::Denied { cause } => cause.downcast_ref::<Refusal>(),
        _ => None,
    };
    match refusal {
        Some(Refusal::Pending) => Count::InboundPending,
        Some(Refusal::Origin) => Count::InboundCrowded,
        Some(Refusal::Full) => Count::InboundFull,
        None => Count::InboundFailed,
    }
}

impl Peers {
    /// A connection stands. Returns whether we dialled it.
    pub(crate) fn on_connection(
        &mut self,
        id: PeerId,
        connection: ConnectionId,
        endpoint: &ConnectedPoint,
    ) -> bool {
        let (now, address) = (Instant::now(), place_of(endpoint));
        if endpoint.is_dialer() {
            self.dialled.insert(connection);
        }
        self.shared.counters.count(Count::Connections);
        self.dialer.connected(&id);
        let peer = self.connected.entry(id).or_insert_with(|| Peer::new(now));
        if is_circuit(&address) {
            self.shared.counters.count(Count::ConnectionsRelayed);
        } else {
            if is_quic(&address) {
                self.shared.counters.count(Count::ConnectionsQuic);
            }
            peer.direct_since.get_or_insert(now);
        }
        peer.connections.insert(connection, address);
        if peer.admitted {
            self.orders.push(Order::Show);
        }
        endpoint.is_dialer()
    }

    /// A connection is closed, and so many with this peer are left.
    pub(crate) fn on_connection_closed(&mut self, id: PeerId, connection: ConnectionId, left: u32) {
        self.dialled.remove(&connection);
        if left > 0 {
            if let Some(peer) = self.connected.get_mut(&id) {
                peer.connections.remove(&connection);
                if peer.connections.values().all(is_circuit) {
                    peer.forget_direct();
                }
                if peer.admitted {
                    self.orders.push(Order::Show);
                }
            }
            return;
        }
        let (now, gone) = (Instant::now(), self.connected.remove(&id));
        let lasted = gone.as_ref().map(|peer| now.duration_since(peer.since));
        self.dialer.lost(&id, lasted.unwrap_or_default(), now);
        let admitted = gone.is_some_and(|peer| peer.admitted);
        self.orders.push(Order::Gone { peer: id, admitted });
    }

    /// A dial failed.
    pub(crate) fn on_dial_failed(&mut self, peer: Option<PeerId>, error: &DialError) {
        tracing::debug!(?peer, %error, "dial failed");
        self.shared.counters.count(Count::DialsFailed);
        if let DialError::Transport(attempts) = error {
            self.count_quic_failures(attempts);
        }
        if let Some(peer) = peer {
            self.dial_failed(&peer);
        }
    }

    /// An inbound connection failed.
    pub(crate) fn on_inbound_failed(&self, error: &ListenError) {
        tracing::debug!(%error, "inbound connection failed");
        self.shared.counters.count(why_not_in(error));
    }

    /// Attempts that failed: where only those over QUIC do, somebody on the way drops UDP.
    pub(crate) fn count_quic_failures<E>(&self, attempts: &[(Multiaddr, E)]) {
        let quic = attempts.iter().filter(|(address, _)| is_quic(address));
        let failed = quic.count();
        self.shared.counters.count_n(Count::QuicDialsFailed, failed);
    }

    /// A ping was answered, or was not. Returns whether it was.
    pub(crate) fn on_ping(&mut self, event: &ping::Event) -> bool {
        let Ok(rtt) = event.result else { return false };
        if let Some(peer) = self.connected.get_mut(&event.peer) {
            peer.rtt = Some(rtt);
        }
        true
    }

    /// A peer is no longer where its direct connections lead.
    pub(crate) fn forget_direct(&mut self, peer: &PeerId) {
        if let Some(peer) = self.connected.get_mut(peer) {
            peer.forget_direct();
        }
    }

    /// The circuits to peers that have a direct connection for so long; to all without a time.
    pub(crate) fn circuits(&self, beside: Option<Duration>, now: Instant) -> Vec<ConnectionId> {
        let whose = |peer: &&Peer| {
            beside.is_none_or(|time| {
                let since = peer.direct_since.filter(|_| peer.connections.len() > 1);
                since.is_some_and(|since| now.duration_since(since) >= time)
            })
        };
        let peers = self.connected.values().filter(whose);
        let connections = peers.flat_map(|peer| &peer.connections);
        let circuits = connections.filter(|(_, address)| is_circuit(address));
        circuits.map(|(id, _)| *id).collect()
    }

    /// Peers that relay and that we are connected to directly. QUIC first: it punches best.
    pub(crate) fn relays(&self) -> Vec<Candidate> {
        let candidate = |(id, peer): (&PeerId, &Peer)| {
            let address = peer.direct().min_by_key(|a| !is_quic(a))?;
            (peer.relays && peer.admitted).then(|| Candidate {
                peer: *id,
                address: without_peer(address),
                rtt: peer.rtt,
            })
        };
        self.connected.iter().filter_map(candidate).collect()
    }
}
