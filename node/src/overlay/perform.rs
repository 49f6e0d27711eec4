//! Commands of the node, performed at once.

use std::time::{Duration, Instant};

use libp2p::gossipsub::{MessageAcceptance, PublishError};
use libp2p::request_response::InboundRequestId;
use libp2p::swarm::DialError;
use libp2p::swarm::dial_opts::{DialOpts, PeerCondition};
use libp2p::{Multiaddr, PeerId};

use super::command::{Command, Reply};
use super::error::RequestError;
use super::event::{MessageId, RequestId, Verdict};
use super::reach::addresses::{configured, dialable};
use super::stats::{Count, add};
use super::task::Task;
use super::wire::codec::Frame;
use super::wire::gossip;

impl Task {
    pub(crate) fn on_command(&mut self, command: Command) {
        match command {
            Command::Publish { topic, bytes } => self.publish(topic, bytes),
            Command::Report { id, verdict } => self.report(id, verdict),
            Command::Send { peers, bytes } => self.send(peers, bytes),
            Command::Request { peer, bytes, reply } => self.request(peer, bytes, reply),
            Command::Respond { id, bytes } => self.respond(id, bytes),
            Command::Keep { peer, addresses } => {
                self.kept_for_trust.remove(&peer);
                self.keep(peer, addresses);
            }
            Command::Release { peer } => self.release(peer),
            Command::Dial { peer, addresses } => {
                self.guards.scope.named(&addresses);
                self.dial(peer, dialable(&addresses));
            }
            Command::Find { key, reply } => self.look_up(key.to_vec(), Some(reply)),
            Command::Connect {
                peer,
                addresses,
                reply,
            } => {
                self.guards.scope.named(&addresses);
                self.seek_for_caller(peer, configured(&addresses), reply);
            }
            Command::Record { peer, reply } => self.look_up_for_caller(peer, reply),
            Command::Mark { peer, mark } => self.mark(peer, mark),
            Command::Provide { key } => self.records.providing.begin(key, Instant::now()),
            Command::Providers { key, reply } => self.look_up_providers(key, reply),
            Command::Known { reply } => {
                // The caller may have given up already.
                let _unheard = reply.send(self.dialer.good());
            }
            Command::Penalise { peer, points } => self.penalise(peer, points),
            Command::Ban { peer, time } => self.ban(peer, time),
        }
    }

    fn publish(&mut self, topic: usize, bytes: Vec<u8>) {
        let size = bytes.len();
        let hash = self.shared.topics[topic].hash.clone();
        let counters = &self.shared.counters;
        match self.swarm.behaviour_mut().gossip.publish(hash, bytes) {
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

    fn report(&mut self, id: MessageId, verdict: Verdict) {
        let Some(message) = self.take_unjudged(&id) else {
            self.shared.counters.count(Count::VerdictsLate);
            return;
        };
        let acceptance = match verdict {
            Verdict::Accept => MessageAcceptance::Accept,
            Verdict::Ignore => MessageAcceptance::Ignore,
            Verdict::Reject => MessageAcceptance::Reject,
        };
        self.settle(id, &message.via, acceptance);
        if verdict == Verdict::Reject {
            self.judge(message.via);
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
    pub(crate) fn settle(&mut self, id: MessageId, via: &PeerId, acceptance: MessageAcceptance) {
        let gossip = &mut self.swarm.behaviour_mut().gossip;
        if !gossip.report_message_validation_result(&gossip::wire_id(id), via, acceptance) {
            self.shared.counters.count(Count::VerdictsLate);
        }
    }

    fn send(&mut self, peers: Vec<PeerId>, bytes: Vec<u8>) {
        let size = bytes.len();
        for peer in peers {
            let kept = self.dialer.is_kept(&peer);
            // Ourselves included: there is no connection to oneself.
            if !self.is_peer(&peer) {
                self.shared.counters.count(Count::DirectUnreachable);
            } else if !self.direct.has_room(&peer, size, kept, &self.shared.limits) {
                self.shared.counters.count(Count::DirectTooMany);
            } else {
                self.shared.counters.count(Count::DirectSent);
                self.shared.counters.count_n(Count::BytesOut, size);
                let id = self
                    .swarm
                    .behaviour_mut()
                    .direct
                    .send_request(&peer, Frame::Whole(bytes.clone()));
                self.direct.begin(id, peer, size, kept);
            }
        }
    }

    /// Asks a peer; one that is not connected is sought first.
    pub(crate) fn request(&mut self, peer: PeerId, bytes: Vec<u8>, reply: Reply) {
        if peer == self.shared.local {
            return self.ask_self(bytes, reply);
        }
        if self.asked.len() >= self.shared.limits.outbound_requests {
            return self.fail_request(reply, RequestError::TooMany);
        }
        if !self.is_peer(&peer) {
            return self.seek_for_request(peer, bytes, reply);
        }
        self.shared.counters.count(Count::RequestsSent);
        self.shared.counters.count_n(Count::BytesOut, bytes.len());
        let id = self
            .swarm
            .behaviour_mut()
            .request
            .send_request(&peer, Frame::Whole(bytes));
        self.asked.insert(id, reply);
    }

    fn respond(&mut self, id: RequestId, bytes: Option<Vec<u8>>) {
        let Some(waiting) = self.waiting.remove(&id) else {
            if !self.answer_self(id, bytes) {
                self.shared.counters.count(Count::AnswersLate);
            }
            return;
        };
        // Dropping the channel ends the stream without an answer.
        let Some(bytes) = bytes else {
            return self.end_question(&waiting.peer);
        };
        let (peer, size) = (waiting.peer, bytes.len());
        let kept = self.dialer.is_kept(&peer);
        if !self
            .answering
            .has_room(&peer, size, kept, &self.shared.limits)
        {
            self.shared.counters.count(Count::AnswersUnread);
            return self.end_question(&peer);
        }
        self.answering.begin(waiting.wire, peer, size, kept);
        let wire = waiting.wire;
        let answer = Frame::Whole(bytes);
        match self
            .swarm
            .behaviour_mut()
            .request
            .send_response(waiting.channel, answer)
        {
            Ok(()) => self.shared.counters.count_n(Count::BytesOut, size),
            Err(_) => {
                self.shared.counters.count(Count::AnswersLate);
                self.end_answer(&wire);
            }
        }
    }

    /// An answer was written, or never will be: until then it counts for its peer.
    pub(crate) fn end_answer(&mut self, wire: &InboundRequestId) {
        if let Some(peer) = self.answering.end(wire) {
            self.end_question(&peer);
        }
    }

    /// A request of a peer is done with.
    pub(crate) fn end_question(&mut self, peer: &PeerId) {
        if let Some(peer) = self.peers.get_mut(peer) {
            peer.waiting = peer.waiting.saturating_sub(1);
        }
    }

    /// Keeps a peer connected from now on.
    pub(crate) fn keep(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
        if peer == self.shared.local {
            return;
        }
        self.guards.scope.named(&addresses);
        if !self
            .dialer
            .keep(peer, configured(&addresses), Instant::now())
        {
            tracing::warn!(%peer, "too many peers to keep connected");
        }
        let kept = self.dialer.is_kept(&peer);
        self.swarm.behaviour_mut().gate.gate.keep(peer, kept);
        if self.swarm.is_connected(&peer) {
            self.dialer.connected(&peer);
        }
    }

    /// No longer keeps a peer connected.
    pub(crate) fn release(&mut self, peer: PeerId) {
        self.dialer.release(&peer);
        self.swarm.behaviour_mut().gate.gate.keep(peer, false);
    }

    /// Begins every dial that is due.
    pub(crate) fn dial_due(&mut self) {
        let room = self
            .shared
            .limits
            .wanted_peers
            .saturating_sub(self.peers.len());
        let now = Instant::now();
        for (peer, addresses) in self.dialer.take_due(now, room) {
            if !self.dialer.is_kept(&peer) && self.is_crowded(&addresses) {
                self.shared.counters.count(Count::DialsCrowded);
                self.dialer.failed(&peer, now);
            } else if !self.dial(peer, addresses) {
                self.dialer.failed(&peer, now);
            }
        }
    }

    /// Begins a dial, unless one is under way. Returns whether an event will tell how it ended.
    pub(crate) fn dial(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) -> bool {
        self.dial_if(PeerCondition::DisconnectedAndNotDialing, peer, addresses)
    }

    /// Begins a dial. Returns whether an event will tell how it ended.
    pub(crate) fn dial_if(
        &mut self,
        condition: PeerCondition,
        peer: PeerId,
        addresses: Vec<Multiaddr>,
    ) -> bool {
        let options = DialOpts::peer_id(peer)
            .condition(condition)
            .addresses(addresses)
            .build();
        match self.swarm.dial(options) {
            Ok(()) => true,
            // Somebody else's dial (a lookup's) is under way and will end in an event.
            Err(DialError::DialPeerConditionFalse(_)) => true,
            Err(error) => {
                tracing::debug!(%peer, %error, "could not dial");
                false
            }
        }
    }

    /// Disconnects a peer and refuses it for a time.
    pub(crate) fn ban(&mut self, peer: PeerId, time: Duration) {
        if peer == self.shared.local {
            return;
        }
        self.shared.counters.count(Count::Bans);
        self.dialer.refused(&peer);
        let until = Instant::now()
            .checked_add(time)
            .unwrap_or_else(Instant::now);
        self.swarm.behaviour_mut().blocked.block_peer(peer);
        if let Some(evicted) = self.standing.ban(peer, until) {
            self.end_ban(evicted);
        }
        self.swarm.behaviour_mut().kad.remove_peer(&peer);
        // An error means that it was not connected.
        let _gone = self.swarm.disconnect_peer_id(peer);
    }

    /// Whether a peer is connected and of our network.
    pub(crate) fn is_peer(&self, peer: &PeerId) -> bool {
        self.peers.get(peer).is_some_and(|p| p.admitted)
    }
}
