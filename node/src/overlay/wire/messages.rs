//! Messages of gossip: ours that go out, and those of others until they are judged.

use std::time::Instant;

use libp2p::PeerId;
use libp2p::gossipsub::{self, MessageAcceptance, PublishError};

use super::behaviour::Gossip;
use super::waiting::Message;
use super::{Order, Wire, gossip};
use crate::overlay::event::{Event, MessageId, Verdict};
use crate::overlay::peers::Peers;
use crate::overlay::stats::{Count, add};

impl Wire {
    pub(crate) fn publish(&self, gossip: &mut Gossip, topic: usize, bytes: Vec<u8>) {
        let size = bytes.len();
        let hash = self.shared.topics[topic].hash.clone();
        let counters = &self.shared.counters;
        match gossip.publish(hash, bytes) {
            Ok(_) => {
                counters.count_n(Count::BytesOut, size);
                add(&counters.topic(topic).published, 1);
                add(&counters.topic(topic).bytes_out, size);
            }
            Err(PublishError::NoPeersSubscribedToTopic) => counters.count(Count::PublishAlone),
            Err(PublishError::Duplicate) => counters.count(Count::PublishDuplicate),
            Err(error) => {
                tracing::debug!(%error, "could not publish");
                counters.count(Count::PublishFailed);
            }
        }
    }

    /// The node's verdict on a message.
    pub(crate) fn report(&mut self, gossip: &mut Gossip, id: MessageId, verdict: Verdict) {
        let Some(message) = self.unjudged.take(&id) else {
            self.shared.counters.count(Count::VerdictsLate);
            return;
        };
        let acceptance = match verdict {
            Verdict::Accept => MessageAcceptance::Accept,
            Verdict::Ignore => MessageAcceptance::Ignore,
            Verdict::Reject => MessageAcceptance::Reject,
        };
        self.settle(gossip, id, &message.via, acceptance);
        if verdict == Verdict::Reject {
            self.orders.push(Order::Judge(message.via));
        }
        let topic = self.shared.counters.topic(message.topic);
        let counter = match verdict {
            Verdict::Accept => &topic.accepted,
            Verdict::Ignore => &topic.ignored,
            Verdict::Reject => &topic.rejected,
        };
        add(counter, 1);
    }

    /// Hands a verdict to gossip.
    fn settle(
        &self,
        gossip: &mut Gossip,
        id: MessageId,
        via: &PeerId,
        acceptance: MessageAcceptance,
    ) {
        if !gossip.report_message_validation_result(&gossip::wire_id(id), via, acceptance) {
            self.shared.counters.count(Count::VerdictsLate);
        }
    }

    /// Gossip heard something. The sender of a message has been admitted.
    pub(crate) fn on_gossip(
        &mut self,
        gossip: &mut Gossip,
        peers: &mut Peers,
        event: gossipsub::Event,
    ) {
        match event {
            gossipsub::Event::Message {
                propagation_source,
                message_id,
                message,
            } => {
                let id = gossip::own_id(&message_id);
                self.on_message(gossip, peers, propagation_source, id, message);
            }
            gossipsub::Event::Subscribed { .. } => self.orders.push(Order::Show),
            gossipsub::Event::SlowPeer { .. } => self.shared.counters.count(Count::SlowPeers),
            _ => {}
        }
    }

    fn on_message(
        &mut self,
        gossip: &mut Gossip,
        peers: &mut Peers,
        via: PeerId,
        id: Option<MessageId>,
        message: gossipsub::Message,
    ) {
        let topics = &self.shared.topics;
        let topic = topics.iter().position(|t| t.hash == message.topic);
        let (Some(topic), Some(from), Some(id)) = (topic, message.source, id) else {
            return;
        };
        let size = message.data.len();
        self.shared.counters.count_n(Count::BytesIn, size);
        let counters = self.shared.counters.topic(topic);
        add(&counters.received, 1);
        add(&counters.bytes_in, size);
        if !peers.may_gossip(from, via, topic) {
            add(&counters.limited, 1);
            self.settle(gossip, id, &via, MessageAcceptance::Ignore);
            return;
        }
        if size > self.shared.topics[topic].max_bytes {
            self.shared.counters.count(Count::GossipOversized);
            self.settle(gossip, id, &via, MessageAcceptance::Reject);
            self.orders.push(Order::Judge(via));
            return;
        }
        let event = Event::Message {
            topic: self.shared.topics[topic].name.clone(),
            from,
            via,
            id,
            bytes: message.data,
        };
        let room = self.unjudged.has_room(size, &self.shared.limits);
        if room && self.outbox.offer(event) {
            let message = Message {
                since: Instant::now(),
                via,
                topic,
                bytes: size,
            };
            self.unjudged.insert(id, message);
        } else {
            self.shared.counters.count(Count::GossipDropped);
            add(&counters.dropped, 1);
            self.settle(gossip, id, &via, MessageAcceptance::Ignore);
        }
    }

    /// Messages that gossip itself has forgotten by now can no longer be judged.
    pub(crate) fn forget_unjudged(&mut self, gossip: &mut Gossip, now: Instant) {
        let window = self.shared.tuning.heartbeat * (gossip::HISTORY - 1);
        for (id, message) in self.unjudged.take_overdue(window, now) {
            self.shared.counters.count(Count::GossipUnjudged);
            self.settle(gossip, id, &message.via, MessageAcceptance::Ignore);
        }
    }
}
