//! What the swarm reports: listeners, connections, and who is at their other end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libp2p::core::ConnectedPoint;
use libp2p::core::transport::ListenerId;
use libp2p::kad::QueryResult;
use libp2p::swarm::{ConnectionId, DialError, ListenError, SwarmEvent};
use libp2p::{Multiaddr, PeerId, StreamProtocol, identify, kad, mdns, ping, relay};

use super::error::SeekError;
use super::event::Event;
use super::peers::gate::Refusal;
use super::peers::peer::{Peer, Said};
use super::reach::addresses::{
    believable, dialable, ip, is_circuit, is_direct, is_loopback, is_quic, without_peer,
};
use super::stats::Count;
use super::task::Task;
use super::wire::behaviour::BehaviourEvent;

/// After so long a peer that says the same again is listened to: what followed from it may have been undone.
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

/// Where the other end of a connection is. Who comes over a circuit has no address of its own: it is at ours at the relay.
fn place_of(endpoint: &ConnectedPoint) -> Multiaddr {
    match endpoint {
        ConnectedPoint::Listener { local_addr, .. } if endpoint.is_relayed() => local_addr.clone(),
        _ => endpoint.get_remote_address().clone(),
    }
}

/// What an inbound connection that did not come about is counted as.
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

/// Whether a peer is of our network: its version, or a protocol that it speaks, names it. Not every
/// stack lets its user set the version.
fn is_of_network(ours: &str, version: &str, protocols: &[StreamProtocol]) -> bool {
    let network = ours.trim_end_matches('1');
    version == ours || protocols.iter().any(|p| p.as_ref().starts_with(network))
}

impl Task {
    pub(crate) fn on_swarm_event(&mut self, event: SwarmEvent<BehaviourEvent>) {
        match event {
            SwarmEvent::Behaviour(event) => self.on_behaviour_event(event),
            SwarmEvent::ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                concurrent_dial_errors,
                ..
            } => {
                self.count_quic_failures(concurrent_dial_errors.as_deref().unwrap_or_default());
                if endpoint.is_dialer() {
                    self.dialled.insert(connection_id);
                }
                let address = place_of(&endpoint);
                self.on_connection(peer_id, connection_id, address);
            }
            SwarmEvent::ConnectionClosed {
                peer_id,
                connection_id,
                num_established,
                ..
            } => {
                self.dialled.remove(&connection_id);
                self.moves.closed(&connection_id);
                self.on_connection_closed(peer_id, connection_id, num_established);
            }
            SwarmEvent::OutgoingConnectionError { peer_id, error, .. } => {
                tracing::debug!(?peer_id, %error, "dial failed");
                self.shared.counters.count(Count::DialsFailed);
                if let DialError::Transport(attempts) = &error {
                    self.count_quic_failures(attempts);
                }
                if let Some(peer) = peer_id {
                    self.dialer.failed(&peer, Instant::now());
                    self.on_dial_failed(peer, &error);
                    self.leave_table(&peer, &error);
                }
            }
            SwarmEvent::IncomingConnectionError { error, .. } => {
                tracing::debug!(%error, "inbound connection failed");
                self.shared.counters.count(why_not_in(&error));
            }
            SwarmEvent::NewListenAddr {
                listener_id,
                address,
            } => {
                self.on_listening(listener_id, address);
            }
            SwarmEvent::ExpiredListenAddr { address, .. } => {
                self.publish_addresses();
                if !self.local && !is_circuit(&address) && !is_loopback(&address) {
                    tracing::info!(%address, "an address of ours is gone: all connections are made anew");
                    self.on_network_change(Instant::now());
                }
            }
            SwarmEvent::ListenerClosed {
                listener_id,
                addresses,
                reason,
            } => {
                tracing::info!(?addresses, ?reason, "a listener closed");
                self.on_listener_closed(listener_id);
            }
            SwarmEvent::ListenerError { error, .. } => tracing::warn!(%error, "listener"),
            _ => {}
        }
    }

    fn on_listener_closed(&mut self, listener: ListenerId) {
        self.listeners.remove(&listener);
        if !self.relays.lost(&listener, Instant::now()) {
            tracing::warn!("it was one of our own: others reach us there no longer");
        }
        self.publish_addresses();
    }

    fn on_behaviour_event(&mut self, event: BehaviourEvent) {
        match event {
            BehaviourEvent::Gossip(event) => self.on_gossip(event),
            BehaviourEvent::Direct(event) => self.on_direct(event),
            BehaviourEvent::Request(event) => self.on_request(event),
            BehaviourEvent::Identify(identify::Event::Received {
                peer_id,
                connection_id,
                info,
            }) => self.on_identified(peer_id, connection_id, info),
            BehaviourEvent::Ping(event) => self.on_ping(event),
            BehaviourEvent::Probe(event) => self.on_probe(&event),
            BehaviourEvent::Upnp(event) => self.on_router(event),
            BehaviourEvent::Relaying(event) => self.on_relaying(event),
            BehaviourEvent::Lan(mdns::Event::Discovered(found)) => {
                for (peer, address) in found {
                    self.guards.scope.met([&address]);
                    self.learn(peer, dialable(&[address]));
                }
            }
            BehaviourEvent::Punch(event) => {
                let kind = match event.result {
                    Ok(_) => Count::Punched,
                    Err(_) => Count::PunchesFailed,
                };
                self.shared.counters.count(kind);
            }
            BehaviourEvent::Kad(kad::Event::OutboundQueryProgressed {
                id,
                result,
                step,
                stats,
            }) => {
                if step.last && matches!(result, QueryResult::GetRecord(_)) {
                    let (counters, asked) = (&self.shared.counters, stats.num_requests());
                    counters.count(Count::RecordLookupsEnded);
                    counters.count_n(Count::RecordLookupRequests, asked as usize);
                }
                self.on_lookup(id, result, step.last);
            }
            BehaviourEvent::Kad(kad::Event::InboundRequest { request }) => {
                self.on_dht_request(request);
            }
            BehaviourEvent::Kad(kad::Event::RoutingUpdated { peer, .. }) => self.trim_entry(&peer),
            _ => {}
        }
    }

    /// Attempts that failed: where only those over QUIC do, somebody on the way drops UDP.
    fn count_quic_failures<E>(&self, attempts: &[(Multiaddr, E)]) {
        let quic = attempts.iter().filter(|(address, _)| is_quic(address));
        let failed = quic.count();
        self.shared.counters.count_n(Count::QuicDialsFailed, failed);
    }

    fn on_listening(&mut self, listener: ListenerId, address: Multiaddr) {
        self.unopened.remove(&listener);
        self.publish_addresses();
        if self.relays.stands(&listener) {
            tracing::info!(%address, "reachable through a relay");
            self.tell_whereabouts(Instant::now());
        }
        self.outbox.deliver(Event::Listening { address });
    }

    fn publish_addresses(&mut self) {
        let addresses: Vec<Multiaddr> = self.swarm.listeners().cloned().collect();
        self.listening.send_replace(addresses.into());
    }

    fn on_connection(&mut self, id: PeerId, connection: ConnectionId, address: Multiaddr) {
        self.shared.counters.count(Count::Connections);
        self.dialer.connected(&id);
        let peer = self.peers.entry(id).or_insert_with(|| Peer {
            connections: BTreeMap::new(),
            direct_since: None,
            tried_direct: false,
            relays: false,
            admitted: false,
            since: Instant::now(),
            agent: None,
            said: None,
            rtt: None,
            score: 0.0,
            waiting: 0,
        });
        if is_circuit(&address) {
            self.shared.counters.count(Count::ConnectionsRelayed);
        } else {
            if is_quic(&address) {
                self.shared.counters.count(Count::ConnectionsQuic);
            }
            peer.direct_since.get_or_insert_with(Instant::now);
        }
        peer.connections.insert(connection, address);
        let admitted = peer.admitted;
        self.moves.heard(connection, Instant::now());
        if !self.local && !self.dialled.contains(&connection) {
            self.on_arrival(id, connection);
        }
        if admitted {
            self.publish_peers();
        }
    }

    /// A ping was answered; what follows from those that are not, see `moved`.
    fn on_ping(&mut self, event: ping::Event) {
        let Ok(rtt) = event.result else { return };
        self.moves.heard(event.connection, Instant::now());
        if let Some(peer) = self.peers.get_mut(&event.peer) {
            peer.rtt = Some(rtt);
        }
    }

    fn on_connection_closed(&mut self, id: PeerId, connection: ConnectionId, left: u32) {
        if left > 0 {
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.connections.remove(&connection);
                if peer.connections.values().all(is_circuit) {
                    peer.direct_since = None;
                    peer.tried_direct = false;
                }
            }
            return;
        }
        self.reach.forget(&id);
        let (now, gone) = (Instant::now(), self.peers.remove(&id));
        let lasted = gone.as_ref().map(|peer| now.duration_since(peer.since));
        self.dialer.lost(&id, lasted.unwrap_or_default(), now);
        if gone.is_some_and(|peer| peer.admitted) {
            self.outbox.deliver(Event::PeerDisconnected { peer: id });
            self.publish_peers();
        } else {
            self.on_hung_up(id);
        }
    }

    /// What a peer says of itself.
    ///
    /// 1. Another network ([`is_of_network`]): disconnect. What it says too often, or what it has just said, is not
    ///    listened to.
    /// 2. Another run of a node that we thought we were connected to: the old connection is dead,
    ///    and gossip greets only on the first, so all are closed and one is made anew.
    /// 3. Else it is admitted and its own addresses are learnt.
    fn on_identified(&mut self, id: PeerId, connection: ConnectionId, info: identify::Info) {
        if !self.may_greet(id) {
            return;
        }
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if !is_of_network(&self.network, &info.protocol_version, &info.protocols) {
            tracing::debug!(peer = %id, "speaks for another network");
            self.shared.counters.count(Count::WrongNetwork);
            self.dialer.refused(&id);
            self.end_seek(&id, SeekError::OtherNetwork);
            let _gone = self.swarm.disconnect_peer_id(id);
            return;
        }
        let (now, said) = (Instant::now(), digest(&info));
        let just_said = |before: &Said| {
            before.connection == connection
                && before.digest == said
                && now.duration_since(before.at) < SAID_AGAIN
        };
        if peer.said.as_ref().is_some_and(just_said) {
            return;
        }
        peer.said = Some(Said {
            at: now,
            connection,
            digest: said,
        });
        let restarted = peer
            .agent
            .as_ref()
            .is_some_and(|agent| *agent != info.agent_version);
        if restarted {
            self.shared.counters.count(Count::RestartsSeen);
            let _gone = self.swarm.disconnect_peer_id(id);
            return;
        }
        peer.agent = Some(info.agent_version);
        peer.relays = info.protocols.contains(&relay::HOP_PROTOCOL_NAME);
        let serves = info.protocols.contains(&self.kad_protocol);
        let seen = peer.connections.values();
        self.guards.scope.met(peer.direct());
        let addresses: Vec<Multiaddr> = seen
            .flat_map(|seen| believable(&info.listen_addrs, seen))
            .collect();
        if serves {
            self.enter_table(&id, &addresses);
        }
        self.dialer.learn(id, addresses, Instant::now());
        self.dialer.connected(&id);
        self.on_seen(id, connection, info.observed_addr);
        self.admit(id);
        self.dial_past_the_relay(id, &info.listen_addrs);
    }

    /// A peer says where it sees us. That counts if we dialled it, since then we left from a port on which we listen.
    fn on_seen(&mut self, id: PeerId, connection: ConnectionId, observed: Multiaddr) {
        let peer = self.peers.get(&id);
        let remote = peer.and_then(|peer| peer.connections.get(&connection));
        let Some(host) = remote.filter(|a| !is_circuit(a)).and_then(ip) else {
            return;
        };
        let observed = without_peer(&observed);
        if !self.local && self.dialled.contains(&connection) && is_direct(&observed, false) {
            self.reach.see(id, host, observed.clone());
            self.swarm.behaviour_mut().observed.suggest(observed);
        }
    }

    /// The peer has proved to be of our network.
    pub(crate) fn admit(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if !peer.admitted {
            peer.admitted = true;
            self.outbox.deliver(Event::PeerConnected { peer: id });
            self.publish_peers();
            self.look_up_soon();
            self.records.telling.hurry(Instant::now());
            self.tell_newcomer(id);
        }
        self.dialer.admitted(&id);
        self.found(id);
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::Names;
    use super::*;

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
