//! A peer's statements about itself, and its admission.

use std::time::{Duration, Instant};

use libp2p::swarm::ConnectionId;
use libp2p::{Multiaddr, PeerId, StreamProtocol, identify, relay};

use super::peer::Said;
use super::{Order, Peers};
use crate::overlay::error::SeekError;
use crate::overlay::reach::addresses::{
    believable, dialable, ip, is_circuit, is_direct, without_peer,
};
use crate::overlay::stats::Count;

/// After so long a peer that says the same again is listened to: the effects of its statement may
/// have been undone.
const SAID_AGAIN: Duration = Duration::from_secs(60);

/// Tells apart what a peer says of itself at two times.
fn digest(info: &identify::Info) -> [u8; 32] {
    let mut hash = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hash.update(&(part.len() as u64).to_be_bytes());
        hash.update(part);
    };
    add(info.agent_version.as_bytes());
    add(info.observed_addr.as_ref());
    add(&[]);
    for address in &info.listen_addrs {
        add(address.as_ref());
    }
    add(&[]);
    for protocol in &info.protocols {
        add(protocol.as_ref().as_bytes());
    }
    *hash.finalize().as_bytes()
}

/// Whether a peer is of our network: its version, or a protocol that it speaks, names it. Not every
/// stack lets its user set the version.
fn is_of_network(ours: &str, version: &str, protocols: &[StreamProtocol]) -> bool {
    let network = ours.trim_end_matches('1');
    version == ours || protocols.iter().any(|p| p.as_ref().starts_with(network))
}

impl Peers {
    /// Takes a peer's statement about itself.
    ///
    /// 1. Another network ([`is_of_network`]): disconnect. A statement that comes too often, or
    ///    repeats the last one, is not listened to.
    /// 2. Another run of a node that we thought we were connected to: the old connection is dead,
    ///    and gossip greets only on the first, so all are closed and one is made anew.
    /// 3. Else it is admitted and its own addresses are learnt.
    pub(crate) fn on_identified(
        &mut self,
        id: PeerId,
        connection: ConnectionId,
        info: identify::Info,
    ) {
        if !self.may_greet(id) || !self.is_connected(&id) {
            return;
        }
        if !is_of_network(&self.network, &info.protocol_version, &info.protocols) {
            tracing::debug!(peer = %id, "speaks for another network");
            self.shared.counters.count(Count::WrongNetwork);
            self.dialer.refused(&id);
            self.orders
                .push(Order::EndSeek(id, SeekError::OtherNetwork));
            self.orders.push(Order::Disconnect(id));
            return;
        }
        if !self.is_news(id, connection, &info) {
            return;
        }
        let Some(peer) = self.connected.get_mut(&id) else {
            return;
        };
        let restarted = peer
            .agent
            .as_ref()
            .is_some_and(|agent| *agent != info.agent_version);
        if restarted {
            self.shared.counters.count(Count::RestartsSeen);
            self.orders.push(Order::Disconnect(id));
            return;
        }
        peer.agent = Some(info.agent_version);
        peer.relays = info.protocols.contains(&relay::HOP_PROTOCOL_NAME);
        let met = peer.direct().cloned().collect();
        let seen = peer.connections.values();
        let addresses: Vec<Multiaddr> = seen
            .flat_map(|seen| believable(&info.listen_addrs, seen))
            .collect();
        self.orders.push(Order::Met(met));
        if info.protocols.contains(&self.kad) {
            self.orders.push(Order::EnterTable(id, addresses.clone()));
        }
        self.dialer.learn(id, addresses, Instant::now());
        self.dialer.connected(&id);
        self.on_seen(id, connection, &info.observed_addr);
        self.admit(id);
        self.try_direct(id, info.listen_addrs);
    }

    /// Whether a peer says something new; the statement is remembered.
    fn is_news(&mut self, id: PeerId, connection: ConnectionId, info: &identify::Info) -> bool {
        let Some(peer) = self.connected.get_mut(&id) else {
            return false;
        };
        let (now, said) = (Instant::now(), digest(info));
        let just_said = |before: &Said| {
            before.connection == connection
                && before.digest == said
                && now.duration_since(before.at) < SAID_AGAIN
        };
        if peer.said.as_ref().is_some_and(just_said) {
            return false;
        }
        peer.said = Some(Said {
            at: now,
            connection,
            digest: said,
        });
        true
    }

    /// A peer says where it sees us. That counts if we dialled it, since then we left from a port
    /// on which we listen.
    fn on_seen(&mut self, peer: PeerId, connection: ConnectionId, observed: &Multiaddr) {
        let known = self.connected.get(&peer);
        let remote = known.and_then(|known| known.connections.get(&connection));
        let Some(host) = remote.filter(|a| !is_circuit(a)).and_then(ip) else {
            return;
        };
        let at = without_peer(observed);
        if self.dialled.contains(&connection) && is_direct(&at, false) {
            self.orders.push(Order::Seen { peer, host, at });
        }
    }

    /// The peer has proved to be of our network.
    pub(crate) fn admit(&mut self, id: PeerId) {
        let Some(peer) = self.connected.get_mut(&id) else {
            return;
        };
        if !peer.admitted {
            peer.admitted = true;
            self.orders.push(Order::Admitted(id));
        }
        self.dialer.admitted(&id);
    }

    /// A peer that we reach over a circuit says where else it may be reached: punching aside, a
    /// plain dial may do, from whichever side can.
    fn try_direct(&mut self, id: PeerId, claimed: Vec<Multiaddr>) {
        let Some(peer) = self.connected.get_mut(&id) else {
            return;
        };
        if peer.direct_since.is_none() && !peer.tried_direct {
            peer.tried_direct = true;
            self.orders.push(Order::TryDirect { peer: id, claimed });
        }
    }

    /// Somebody told us where a peer may be reached.
    pub(crate) fn learn(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
        self.dialer.learn(peer, addresses, Instant::now());
        if self.connected.contains_key(&peer) {
            self.dialer.connected(&peer);
        }
    }

    /// A peer was found on the LAN.
    pub(crate) fn on_neighbour(&mut self, peer: PeerId, address: Multiaddr) {
        self.learn(peer, dialable(std::slice::from_ref(&address)));
        self.orders.push(Order::Met(vec![address]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::names::Names;

    #[test]
    fn a_peer_is_of_the_network_that_its_version_or_a_protocol_names() {
        let (ours, other) = (Names::new(&[0x11; 32]), Names::new(&[0x12; 32]));
        let is = |version: &str, protocols: &[StreamProtocol]| {
            is_of_network(&ours.identify(), version, protocols)
        };
        let ping = StreamProtocol::new("/ipfs/ping/1.0.0");
        assert!(is(&ours.identify(), &[]));
        assert!(is("ipfs/0.1.0", &[ping.clone(), ours.kad()]));
        assert!(!is("ipfs/0.1.0", &[ping]));
        assert!(!is("ipfs/0.1.0", &[other.kad(), other.request()]));
        assert!(!is(&other.identify(), &[]));
    }
}
