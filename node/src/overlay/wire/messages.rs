//! Messages of others: gossip, one-way messages, requests and answers.

use std::time::Instant;

use libp2p::PeerId;
use libp2p::gossipsub::{self, MessageAcceptance};
use libp2p::request_response::{self as rr, OutboundFailure};

use super::codec::Frame;
use super::gossip;
use crate::overlay::error::RequestError;
use crate::overlay::event::{Event, MessageId, RequestId};
use crate::overlay::peers::standing::{MALFORMED, SLOW};
use crate::overlay::stats::{Count, add};
use crate::overlay::task::{Task, Unjudged, Waiting};

type Frames = rr::Event<Frame, Frame>;

impl Task {
    pub(crate) fn on_gossip(&mut self, event: gossipsub::Event) {
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
        if !self.may_gossip(from, via, topic) {
            add(&self.shared.counters.topic(topic).limited, 1);
            self.settle(id, &via, MessageAcceptance::Ignore);
            return;
        }
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
        let limits = &self.shared.limits;
        let room = self.unjudged.len() < limits.unjudged
            && self.unjudged_bytes.saturating_add(size) <= limits.unjudged_bytes;
        if room && self.outbox.offer(event) {
            self.unjudged_bytes += size;
            let again = self.unjudged.insert(
                id,
                Unjudged {
                    since: Instant::now(),
                    via,
                    topic,
                    bytes: size,
                },
            );
            self.unjudged_bytes -= again.map_or(0, |message| message.bytes);
        } else {
            self.drop_message(id, &via, topic);
        }
    }

    /// A message is no longer to be judged.
    pub(crate) fn take_unjudged(&mut self, id: &MessageId) -> Option<Unjudged> {
        let message = self.unjudged.remove(id)?;
        self.unjudged_bytes -= message.bytes;
        Some(message)
    }

    fn drop_message(&mut self, id: MessageId, via: &PeerId, topic: usize) {
        self.shared.counters.count(Count::GossipDropped);
        add(&self.shared.counters.topic(topic).dropped, 1);
        self.settle(id, via, MessageAcceptance::Ignore);
    }

    pub(crate) fn on_direct(&mut self, event: Frames) {
        match event {
            rr::Event::Message { peer, message, .. } => match message {
                rr::Message::Request {
                    request, channel, ..
                } => {
                    if let Some(bytes) = self.whole(peer, request) {
                        self.on_direct_message(peer, bytes, channel);
                    }
                }
                rr::Message::Response { request_id, .. } => {
                    self.direct.end(&request_id);
                }
            },
            rr::Event::OutboundFailure {
                peer,
                request_id,
                error,
                ..
            } => {
                tracing::debug!(%peer, %error, "one-way message not confirmed");
                self.direct.end(&request_id);
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
        if !self.may_send(peer, bytes.len()) {
            return;
        }
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

    pub(crate) fn on_request(&mut self, event: Frames) {
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
            rr::Event::ResponseSent { request_id, .. } => self.end_answer(&request_id),
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
            Frame::Slow => {
                self.shared.counters.count(Count::SlowFrames);
                self.penalise(peer, SLOW);
                None
            }
            Frame::NoRoom => {
                self.shared.counters.count(Count::FramesWithoutRoom);
                self.on_broken_frame(peer);
                None
            }
            Frame::TooLarge => {
                self.shared.counters.count(Count::MalformedFrames);
                self.penalise(peer, MALFORMED);
                None
            }
            // A sender that gives up in the middle looks the same, so nobody is blamed for a few.
            Frame::Truncated => {
                self.shared.counters.count(Count::TruncatedFrames);
                self.on_broken_frame(peer);
                None
            }
        }
    }

    /// A request of no bytes is answered at once with none ([`crate::overlay::OverlayHandle::ping`]). Any other goes to the node if its
    /// sender has not sent too many, and there is room in total, for this peer, and in the outbox; else its channel is dropped,
    /// which tells the asker.
    fn on_question(&mut self, waiting: Waiting, bytes: Vec<u8>) {
        let id = waiting.peer;
        self.shared.counters.count(Count::RequestsReceived);
        if !self.may_request(id) {
            return;
        }
        if bytes.is_empty() {
            let answer = Frame::Whole(Vec::new());
            // The asker may be gone; it learns of that by itself.
            let _unheard = self
                .swarm
                .behaviour_mut()
                .request
                .send_response(waiting.channel, answer);
            return;
        }
        let limits = &self.shared.limits;
        let kept = self.dialer.is_kept(&id);
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        // Strangers, of whom there may be many, cannot take the places of kept peers.
        let open = self.waiting.len() + self.answering.len();
        let room = (kept || open < limits.inbound_requests)
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
        self.end_answer(&wire);
        let found = self
            .waiting
            .iter()
            .find(|(_, w)| w.wire == wire)
            .map(|(id, _)| *id);
        let Some(waiting) = found.and_then(|id| self.waiting.remove(&id)) else {
            return;
        };
        self.shared.counters.count(Count::RequestsUnanswered);
        self.end_question(&waiting.peer);
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
