//! Requests and answers, ours and those of others.

use libp2p::PeerId;
use libp2p::request_response::{self as rr, InboundRequestId, OutboundFailure};

use super::codec::Frame;
use super::inflight::Part;
use super::waiting::Waiting;
use super::{Frames, FramesEvent, Order, Wire};
use crate::overlay::command::Reply;
use crate::overlay::error::RequestError;
use crate::overlay::event::{Event, RequestId};
use crate::overlay::peers::Peers;
use crate::overlay::stats::Count;

impl Wire {
    /// Asks a peer; one that is not connected is sought first.
    pub(crate) fn request(
        &mut self,
        request: &mut Frames,
        peers: &Peers,
        peer: PeerId,
        bytes: Vec<u8>,
        reply: Reply,
    ) {
        if peer == self.shared.local {
            return self.ask_self(bytes, reply);
        }
        if self.asked.len() >= self.shared.limits.outbound_requests {
            return self.shared.fail_request(reply, RequestError::TooMany);
        }
        if !peers.is_peer(&peer) {
            self.orders.push(Order::Seek { peer, bytes, reply });
            return;
        }
        let counters = &self.shared.counters;
        counters.count(Count::RequestsSent);
        counters.count_n(Count::BytesOut, bytes.len());
        let id = request.send_request(&peer, Frame::Whole(bytes));
        self.asked.insert(id, reply);
    }

    /// Forgets callers that no longer wait.
    pub(crate) fn forget_callers(&mut self) {
        self.asked.retain(|_, reply| !reply.is_closed());
    }

    /// The node's answer to a request.
    pub(crate) fn respond(
        &mut self,
        request: &mut Frames,
        peers: &Peers,
        id: RequestId,
        bytes: Option<Vec<u8>>,
    ) {
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
        let (peer, wire, size) = (waiting.peer, waiting.wire, bytes.len());
        let (kept, limits) = (peers.is_kept(&peer), &self.shared.limits);
        if !self
            .answering
            .has_room(&peer, size, kept, Part::Whole, limits)
        {
            self.shared.counters.count(Count::AnswersUnread);
            return self.end_question(&peer);
        }
        self.answering.begin(wire, peer, size, kept);
        match request.send_response(waiting.channel, Frame::Whole(bytes)) {
            Ok(()) => self.shared.counters.count_n(Count::BytesOut, size),
            Err(_) => {
                self.shared.counters.count(Count::AnswersLate);
                self.end_answer(&wire);
            }
        }
    }

    /// An answer was written, or never will be: until then it counts for its peer.
    fn end_answer(&mut self, wire: &InboundRequestId) {
        if let Some(peer) = self.answering.end(wire) {
            self.end_question(&peer);
        }
    }

    /// A request of a peer is done with.
    fn end_question(&mut self, peer: &PeerId) {
        if let Some(asking) = self.asking.get_mut(peer) {
            *asking -= 1;
            if *asking == 0 {
                self.asking.remove(peer);
            }
        }
    }

    /// A request or an answer came, or failed. The sender of a whole frame has been admitted.
    pub(crate) fn on_request(
        &mut self,
        request: &mut Frames,
        peers: &mut Peers,
        event: FramesEvent,
    ) {
        match event {
            rr::Event::Message { peer, message, .. } => match message {
                rr::Message::Request {
                    request_id,
                    request: frame,
                    channel,
                } => {
                    if let Some(bytes) = self.whole(peers, peer, frame) {
                        let waiting = Waiting {
                            peer,
                            wire: request_id,
                            channel,
                        };
                        self.on_question(request, peers, waiting, bytes);
                    }
                }
                rr::Message::Response {
                    request_id,
                    response,
                } => {
                    let answer = self.whole(peers, peer, response);
                    self.on_answer(request_id, answer.ok_or(RequestError::BadAnswer));
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

    /// A request of no bytes is answered at once with none
    /// ([`crate::overlay::OverlayHandle::ping`]). Any other goes to the node if its sender has not
    /// sent too many, and there is room in total, for this peer, and in the outbox; else its
    /// channel is dropped, which tells the asker.
    fn on_question(
        &mut self,
        request: &mut Frames,
        peers: &mut Peers,
        waiting: Waiting,
        bytes: Vec<u8>,
    ) {
        let peer = waiting.peer;
        self.shared.counters.count(Count::RequestsReceived);
        if !peers.may_request(peer) {
            return;
        }
        if bytes.is_empty() {
            // The asker may be gone; it learns of that by itself.
            let _unheard = request.send_response(waiting.channel, Frame::Whole(Vec::new()));
            return;
        }
        if !peers.is_connected(&peer) {
            return;
        }
        let limits = &self.shared.limits;
        // Strangers, of whom there may be many, cannot take the places of kept peers.
        let open = self.waiting.len() + self.answering.len();
        let own = self.asking.get(&peer).copied().unwrap_or_default();
        let room = (peers.is_kept(&peer) || open < limits.inbound_requests)
            && own < limits.inbound_requests_per_peer;
        let id = RequestId(self.next_request);
        if room && self.outbox.offer(Event::Request { peer, id, bytes }) {
            *self.asking.entry(peer).or_default() += 1;
            self.next_request += 1;
            self.waiting.insert(id, waiting);
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

    fn forget_question(&mut self, wire: InboundRequestId) {
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
