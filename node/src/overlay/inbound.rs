//! What the swarm reports: listeners, connections, and who is at their other end.

use std::collections::BTreeMap;
use std::time::Instant;

use libp2p::core::transport::ListenerId;
use libp2p::swarm::{ConnectionId, SwarmEvent};
use libp2p::{Multiaddr, PeerId, identify, kad};

use super::addresses::believable;
use super::behaviour::BehaviourEvent;
use super::event::Event;
use super::stats::Count;
use super::task::{Peer, Task};

impl Task {
    pub(crate) fn on_swarm_event(&mut self, event: SwarmEvent<BehaviourEvent>) {
        match event {
            SwarmEvent::Behaviour(event) => self.on_behaviour_event(event),
            SwarmEvent::ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                ..
            } => {
                let address = endpoint.get_remote_address().clone();
                self.on_connection(peer_id, connection_id, address);
            }
            SwarmEvent::ConnectionClosed {
                peer_id,
                connection_id,
                num_established,
                ..
            } => {
                self.on_connection_closed(peer_id, connection_id, num_established);
            }
            SwarmEvent::OutgoingConnectionError { peer_id, error, .. } => {
                tracing::debug!(?peer_id, %error, "dial failed");
                self.shared.counters.count(Count::DialsFailed);
                if let Some(peer) = peer_id {
                    self.dialer.failed(&peer, Instant::now());
                }
            }
            SwarmEvent::IncomingConnectionError { error, .. } => {
                tracing::debug!(%error, "inbound connection failed");
                self.shared.counters.count(Count::InboundFailed);
            }
            SwarmEvent::NewListenAddr {
                listener_id,
                address,
            } => {
                self.on_listening(listener_id, address);
            }
            SwarmEvent::ExpiredListenAddr { .. } => self.publish_addresses(),
            SwarmEvent::ListenerClosed {
                listener_id,
                addresses,
                reason,
            } => {
                self.listeners.remove(&listener_id);
                tracing::warn!(?addresses, ?reason, "a listener closed");
                self.publish_addresses();
            }
            SwarmEvent::ListenerError { error, .. } => tracing::warn!(%error, "listener"),
            _ => {}
        }
    }

    fn on_behaviour_event(&mut self, event: BehaviourEvent) {
        match event {
            BehaviourEvent::Gossip(event) => self.on_gossip(event),
            BehaviourEvent::Direct(event) => self.on_direct(event),
            BehaviourEvent::Request(event) => self.on_request(event),
            BehaviourEvent::Identify(identify::Event::Received { peer_id, info, .. }) => {
                self.on_identified(peer_id, info);
            }
            BehaviourEvent::Ping(event) => {
                if let (Some(peer), Ok(rtt)) = (self.peers.get_mut(&event.peer), event.result) {
                    peer.rtt = Some(rtt);
                }
            }
            BehaviourEvent::Kad(kad::Event::OutboundQueryProgressed {
                id, result, step, ..
            }) => {
                self.on_lookup(id, result, step.last);
            }
            BehaviourEvent::Kad(kad::Event::InboundRequest {
                request:
                    kad::InboundRequest::PutRecord { .. } | kad::InboundRequest::AddProvider { .. },
            }) => self.shared.counters.count(Count::DhtRecordsRefused),
            _ => {}
        }
    }

    fn on_listening(&mut self, listener: ListenerId, address: Multiaddr) {
        self.unopened.remove(&listener);
        self.publish_addresses();
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
            admitted: false,
            since: Instant::now(),
            agent: None,
            rtt: None,
            score: 0.0,
            waiting: 0,
        });
        peer.connections.insert(connection, address);
    }

    fn on_connection_closed(&mut self, id: PeerId, connection: ConnectionId, left: u32) {
        if left > 0 {
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.connections.remove(&connection);
            }
            return;
        }
        self.dialer.lost(&id, Instant::now());
        if self.peers.remove(&id).is_some_and(|peer| peer.admitted) {
            self.outbox.deliver(Event::PeerDisconnected { peer: id });
            self.publish_peers();
        }
    }

    /// What a peer says of itself.
    ///
    /// 1. Another network: disconnect.
    /// 2. Another run of a node that we thought we were connected to: the old connection is dead,
    ///    and gossip greets only on the first, so all are closed and one is made anew.
    /// 3. Else it is admitted and its own addresses are learnt.
    fn on_identified(&mut self, id: PeerId, info: identify::Info) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if info.protocol_version != self.network {
            tracing::debug!(peer = %id, "speaks for another network");
            self.shared.counters.count(Count::WrongNetwork);
            self.dialer.refused(&id);
            let _gone = self.swarm.disconnect_peer_id(id);
            return;
        }
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
        let seen = peer.connections.values();
        let addresses: Vec<Multiaddr> = seen
            .flat_map(|seen| believable(&info.listen_addrs, seen))
            .collect();
        for address in &addresses {
            self.swarm
                .behaviour_mut()
                .kad
                .add_address(&id, address.clone());
        }
        self.dialer.learn(id, addresses, Instant::now());
        self.dialer.connected(&id);
        self.admit(id);
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
        }
        self.dialer.admitted(&id);
    }
}
