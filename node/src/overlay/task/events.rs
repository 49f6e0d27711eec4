//! Hands the swarm's reports to the rooms that they concern.

use libp2p::PeerId;
use libp2p::swarm::{DialError, SwarmEvent};
use libp2p::{gossipsub, identify, kad, mdns};

use super::Task;
use crate::overlay::stats::Count;
use crate::overlay::wire::behaviour::BehaviourEvent;
use crate::overlay::wire::{direct, speaker};

impl Task {
    pub(super) fn on_swarm_event(&mut self, event: SwarmEvent<BehaviourEvent>) {
        match event {
            SwarmEvent::Behaviour(event) => self.on_behaviour_event(event),
            SwarmEvent::ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                concurrent_dial_errors,
                ..
            } => {
                let failed = concurrent_dial_errors.as_deref().unwrap_or_default();
                self.peers.count_quic_failures(failed);
                let dialled = self.peers.on_connection(peer_id, connection_id, &endpoint);
                self.reach
                    .on_connection(&self.peers, peer_id, connection_id, dialled);
            }
            SwarmEvent::ConnectionClosed {
                peer_id,
                connection_id,
                num_established,
                ..
            } => {
                self.reach.on_connection_closed(&connection_id);
                self.peers
                    .on_connection_closed(peer_id, connection_id, num_established);
            }
            SwarmEvent::OutgoingConnectionError { peer_id, error, .. } => {
                self.on_dial_failed(peer_id, &error);
            }
            SwarmEvent::IncomingConnectionError { error, .. } => {
                self.peers.on_inbound_failed(&error);
            }
            SwarmEvent::NewListenAddr {
                listener_id,
                address,
            } => {
                self.note_listeners();
                self.reach.on_listening(listener_id, address);
            }
            SwarmEvent::ExpiredListenAddr { address, .. } => {
                self.note_listeners();
                self.reach.on_unlistening(&self.peers, &address);
            }
            SwarmEvent::ListenerClosed {
                listener_id,
                addresses,
                reason,
            } => {
                tracing::info!(?addresses, ?reason, "a listener closed");
                self.reach.on_listener_closed(listener_id);
                self.note_listeners();
            }
            SwarmEvent::ListenerError { error, .. } => tracing::warn!(%error, "listener"),
            _ => {}
        }
        self.route();
    }

    fn note_listeners(&self) {
        let addresses = self.swarm.listeners().cloned().collect();
        self.reach.set_listening(addresses);
    }

    fn on_dial_failed(&mut self, peer: Option<PeerId>, error: &DialError) {
        self.peers.on_dial_failed(peer, error);
        if let Some(peer) = peer {
            let kad = &mut self.swarm.behaviour_mut().kad;
            self.dht.on_dial_failed(kad, &self.peers, peer, error);
            self.dht.leave_table(kad, &self.peers, &peer, error);
        }
    }

    fn on_behaviour_event(&mut self, event: BehaviourEvent) {
        match event {
            BehaviourEvent::Gossip(event) => self.on_gossip(event),
            BehaviourEvent::Lines(event) => {
                self.admit(direct::speaker(&event));
                self.wire.on_line(&mut self.peers, event);
            }
            BehaviourEvent::Request(event) => {
                self.admit(speaker(&event));
                let request = &mut self.swarm.behaviour_mut().request;
                self.wire.on_request(request, &mut self.peers, event);
            }
            BehaviourEvent::Identify(identify::Event::Received {
                peer_id,
                connection_id,
                info,
            }) => self.peers.on_identified(peer_id, connection_id, info),
            BehaviourEvent::Ping(event) if self.peers.on_ping(&event) => {
                self.reach.on_ping(event.connection);
            }
            BehaviourEvent::Probe(event) => self.reach.on_probe(&self.peers, &event),
            BehaviourEvent::Upnp(event) => self.reach.on_router(event),
            BehaviourEvent::Relaying(event) => self.reach.on_relaying(&event),
            BehaviourEvent::Lan(mdns::Event::Discovered(found)) => {
                for (peer, address) in found {
                    self.peers.on_neighbour(peer, address);
                }
            }
            BehaviourEvent::Punch(event) => {
                let kind = match event.result {
                    Ok(_) => Count::Punched,
                    Err(_) => Count::PunchesFailed,
                };
                self.shared.counters.count(kind);
            }
            BehaviourEvent::Kad(event) => self.on_kad(event),
            _ => {}
        }
    }

    fn on_gossip(&mut self, event: gossipsub::Event) {
        if let gossipsub::Event::Message {
            propagation_source, ..
        } = &event
        {
            self.admit(Some(*propagation_source));
        }
        let gossip = &mut self.swarm.behaviour_mut().gossip;
        self.wire.on_gossip(gossip, &mut self.peers, event);
    }

    fn on_kad(&mut self, event: kad::Event) {
        let kad = &mut self.swarm.behaviour_mut().kad;
        match event {
            kad::Event::OutboundQueryProgressed {
                id,
                result,
                step,
                stats,
            } => {
                let at = (id, &step);
                self.dht.on_progress(kad, &self.peers, at, result, &stats);
            }
            kad::Event::InboundRequest { request } => self.dht.on_request(kad, request),
            kad::Event::RoutingUpdated { peer, .. } => self.dht.trim_entry(kad, &peer),
            _ => {}
        }
    }

    /// A peer spoke one of our protocols: it is of our network. The node hears that before it hears
    /// what the peer said.
    fn admit(&mut self, peer: Option<PeerId>) {
        if let Some(peer) = peer {
            self.peers.admit(peer);
            self.route();
        }
    }
}
