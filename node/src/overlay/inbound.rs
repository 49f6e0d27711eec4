//! What the swarm reports: connections, and the messages of others.

use std::collections::BTreeMap;
use std::time::Instant;

use libp2p::core::transport::ListenerId;
use libp2p::gossipsub::{self, MessageAcceptance};
use libp2p::request_response::{self as rr, OutboundFailure};
use libp2p::swarm::{ConnectionId, SwarmEvent};
use libp2p::{Multiaddr, PeerId, identify, kad};

use super::addresses::believable;
use super::behaviour::BehaviourEvent;
use super::codec::Frame;
use super::error::RequestError;
use super::event::{Event, MessageId, RequestId};
use super::gossip;
use super::standing::MALFORMED;
use super::stats::{Count, add};
use super::task::{Peer, Task, Unjudged, Waiting};

type Frames = rr::Event<Frame, Frame>;

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

    /// 1. Another network: disconnect. 2. Another run of the same node than the one we thought we
    /// were connected to: the old connection is dead, and gossip greets only on the first, so all
    /// are closed and one is made anew. 3. Else it is admitted and its own addresses are learnt.
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
    fn admit(&mut self, id: PeerId) {
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

    fn on_gossip(&mut self, event: gossipsub::Event) {
        match event {
            gossipsub::Event::Message {
                propagation_source,
                message_id,
                message,
            } => {
                self.on_message(propagation_source, &message_id, message);
            }
            gossipsub::Event::Subscribed { .. } => self.publish_peers(),
            gossipsub::Event::SlowPeer { .. } => self.shared.counters.count(Count::SlowPeers),
            _ => {}
        }
    }

    fn on_message(&mut self, via: PeerId, id: &gossipsub::MessageId, message: gossipsub::Message) {
        let topic = self
            .shared
            .topics
            .iter()
            .position(|t| t.hash == message.topic);
        let (Some(topic), Some(from), Some(id)) = (topic, message.source, gossip::own_id(id))
        else {
            return;
        };
        self.admit(via);
        let size = message.data.len();
        self.shared.counters.count_n(Count::BytesIn, size);
        let counters = self.shared.counters.topic(topic);
        add(&counters.received, 1);
        add(&counters.bytes_in, size);
        if size > self.shared.topics[topic].max_bytes {
            self.shared.counters.count(Count::GossipOversized);
            self.settle(id, &via, MessageAcceptance::Reject);
            self.judge(via);
            return;
        }
        let event = Event::Message {
            topic: self.shared.topics[topic].name.clone(),
            from,
            via,
            id,
            bytes: message.data,
        };
        let room = self.unjudged.len() < self.shared.limits.unjudged;
        if room && self.outbox.offer(event) {
            self.unjudged.insert(
                id,
                Unjudged {
                    since: Instant::now(),
                    via,
                    topic,
                },
            );
        } else {
            self.drop_message(id, &via, topic);
        }
    }

    fn drop_message(&mut self, id: MessageId, via: &PeerId, topic: usize) {
        self.shared.counters.count(Count::GossipDropped);
        add(&self.shared.counters.topic(topic).dropped, 1);
        self.settle(id, via, MessageAcceptance::Ignore);
    }

    fn on_direct(&mut self, event: Frames) {
        match event {
            rr::Event::Message { peer, message, .. } => match message {
                rr::Message::Request {
                    request, channel, ..
                } => {
                    if let Some(bytes) = self.whole(peer, request) {
                        self.on_direct_message(peer, bytes, channel);
                    }
                }
                rr::Message::Response { .. } => {
                    self.direct_in_flight = self.direct_in_flight.saturating_sub(1);
                }
            },
            rr::Event::OutboundFailure { peer, error, .. } => {
                tracing::debug!(%peer, %error, "one-way message not confirmed");
                self.direct_in_flight = self.direct_in_flight.saturating_sub(1);
                self.shared.counters.count(Count::DirectFailed);
            }
            rr::Event::InboundFailure { .. } | rr::Event::ResponseSent { .. } => {}
        }
    }

    fn on_direct_message(
        &mut self,
        peer: PeerId,
        bytes: Vec<u8>,
        channel: rr::ResponseChannel<Frame>,
    ) {
        self.shared.counters.count(Count::DirectReceived);
        if self.outbox.offer(Event::Direct { peer, bytes }) {
            let receipt = Frame::Whole(Vec::new());
            // The sender may be gone; it learns of that by itself.
            let _unconfirmed = self
                .swarm
                .behaviour_mut()
                .direct
                .send_response(channel, receipt);
        } else {
            self.shared.counters.count(Count::DirectDropped);
        }
    }

    fn on_request(&mut self, event: Frames) {
        match event {
            rr::Event::Message { peer, message, .. } => match message {
                rr::Message::Request {
                    request_id,
                    request,
                    channel,
                } => {
                    if let Some(bytes) = self.whole(peer, request) {
                        let waiting = Waiting {
                            peer,
                            wire: request_id,
                            channel,
                        };
                        self.on_question(waiting, bytes);
                    }
                }
                rr::Message::Response {
                    request_id,
                    response,
                } => {
                    let answer = self.whole(peer, response).ok_or(RequestError::BadAnswer);
                    self.on_answer(request_id, answer);
                }
            },
            rr::Event::OutboundFailure {
                request_id, error, ..
            } => {
                self.on_answer(request_id, Err(reason(&error)));
            }
            rr::Event::InboundFailure { request_id, .. } => self.forget_question(request_id),
            rr::Event::ResponseSent { .. } => {}
        }
    }

    /// The body of a frame, which admits its sender; of a bad one, its sender is to blame.
    fn whole(&mut self, peer: PeerId, frame: Frame) -> Option<Vec<u8>> {
        match frame {
            Frame::Whole(bytes) => {
                self.admit(peer);
                self.shared.counters.count_n(Count::BytesIn, bytes.len());
                Some(bytes)
            }
            Frame::TooLarge => {
                self.shared.counters.count(Count::MalformedFrames);
                self.penalise(peer, MALFORMED);
                None
            }
            // A sender that gives up in the middle looks the same, so nobody is blamed.
            Frame::Truncated => {
                self.shared.counters.count(Count::TruncatedFrames);
                None
            }
        }
    }

    /// A request goes to the node if there is room in total, for this peer, and in the outbox; else
    /// its channel is dropped, which tells the asker.
    fn on_question(&mut self, waiting: Waiting, bytes: Vec<u8>) {
        let id = waiting.peer;
        self.shared.counters.count(Count::RequestsReceived);
        let limits = &self.shared.limits;
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        let room = self.waiting.len() < limits.inbound_requests
            && peer.waiting < limits.inbound_requests_per_peer;
        let request = RequestId(self.next_request);
        if room
            && self.outbox.offer(Event::Request {
                peer: id,
                id: request,
                bytes,
            })
        {
            peer.waiting += 1;
            self.next_request += 1;
            self.waiting.insert(request, waiting);
        } else {
            self.shared.counters.count(Count::RequestsDropped);
        }
    }

    fn on_answer(&mut self, id: rr::OutboundRequestId, answer: Result<Vec<u8>, RequestError>) {
        if answer.is_err() {
            self.shared.counters.count(Count::RequestsFailed);
        }
        if let Some(reply) = self.asked.remove(&id) {
            // The caller may have given up already.
            let _unheard = reply.send(answer);
        }
    }

    fn forget_question(&mut self, wire: rr::InboundRequestId) {
        let found = self
            .waiting
            .iter()
            .find(|(_, w)| w.wire == wire)
            .map(|(id, _)| *id);
        let Some(waiting) = found.and_then(|id| self.waiting.remove(&id)) else {
            return;
        };
        self.shared.counters.count(Count::RequestsUnanswered);
        if let Some(peer) = self.peers.get_mut(&waiting.peer) {
            peer.waiting = peer.waiting.saturating_sub(1);
        }
    }
}

fn reason(error: &OutboundFailure) -> RequestError {
    match error {
        OutboundFailure::DialFailure => RequestError::NotConnected,
        OutboundFailure::Timeout => RequestError::Timeout,
        OutboundFailure::ConnectionClosed => RequestError::ConnectionLost,
        OutboundFailure::UnsupportedProtocols | OutboundFailure::Io(_) => RequestError::NoAnswer,
    }
}
