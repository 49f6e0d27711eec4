//! Bytes on the wire: transports, frames, gossip, requests and one-way messages.
//!
//! [`Wire`] owns the messages on their way: those that the node has not taken, judged or answered
//! yet, and those that others have not confirmed. The behaviours that carry them come in as
//! arguments, as do the peers, which it asks whether one of them may send more. Its requests to the
//! swarm and to other rooms are [`Order`]s, which the task carries out after each call.

pub(super) mod behaviour;
mod budget;
pub(super) mod codec;
pub(super) mod direct;
#[cfg(test)]
mod fake;
pub(super) mod foreign;
pub(super) mod gossip;
mod head_start;
mod inflight;
mod messages;
mod order;
mod outbox;
mod own;
mod requests;
pub(super) mod swarm;
pub(super) mod transport;
mod waiting;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use libp2p::PeerId;
use libp2p::request_response::{self as rr, InboundRequestId, OutboundRequestId};

use codec::{Frame, FrameCodec};
use inflight::InFlight;
pub(super) use order::Order;
pub(super) use outbox::Outbox;
use waiting::{Unjudged, Waiting};

use crate::overlay::command::Reply;
use crate::overlay::event::{Event, RequestId};
use crate::overlay::lines;
use crate::overlay::peers::Peers;
use crate::overlay::peers::standing::{MALFORMED, SLOW};
use crate::overlay::shared::Shared;
use crate::overlay::stats::Count;
use crate::overlay::view::Queues;

/// The protocol of requests.
pub(crate) type Frames = rr::Behaviour<FrameCodec>;
/// Its events.
pub(crate) type FramesEvent = rr::Event<Frame, Frame>;

/// The room of the wire.
pub(crate) struct Wire {
    shared: Arc<Shared>,
    /// Events for the node.
    outbox: Outbox,
    unjudged: Unjudged,
    /// Requests of others that wait for our answer.
    waiting: BTreeMap<RequestId, Waiting>,
    /// How many of each peer wait for it, or for it to be written.
    asking: BTreeMap<PeerId, usize>,
    next_request: u64,
    /// Our answers until they are written.
    answering: InFlight<InboundRequestId>,
    asked: HashMap<OutboundRequestId, Reply>,
    /// Questions to ourselves.
    own: BTreeMap<RequestId, Reply>,
    /// One-way messages until they are answered; votes do not wait for the room of others.
    direct: InFlight<lines::Id>,
    votes: InFlight<lines::Id>,
    orders: Vec<Order>,
}

impl Wire {
    pub(crate) fn new(shared: Arc<Shared>, outbox: Outbox) -> Self {
        Self {
            shared,
            outbox,
            unjudged: Unjudged::default(),
            waiting: BTreeMap::new(),
            asking: BTreeMap::new(),
            next_request: 0,
            answering: InFlight::new(),
            asked: HashMap::new(),
            own: BTreeMap::new(),
            direct: InFlight::new(),
            votes: InFlight::new(),
            orders: Vec::new(),
        }
    }

    /// Requests to the swarm and other rooms.
    pub(crate) fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Delivers a connection event to the node, now or later.
    pub(crate) fn deliver(&mut self, event: Event) {
        self.outbox.deliver(event);
    }

    /// Delivers what waits.
    pub(crate) fn flush(&mut self) {
        self.outbox.flush();
    }

    /// A peer is gone, and its requests with it.
    pub(crate) fn on_gone(&mut self, peer: &PeerId) {
        self.asking.remove(peer);
    }

    /// Whether something is on its way to or from a peer.
    pub(crate) fn is_busy(&self, peer: &PeerId, request: &Frames) -> bool {
        let mut asked = self.asked.keys();
        self.asking.contains_key(peer)
            || self.direct.is_busy(peer)
            || self.votes.is_busy(peer)
            || asked.any(|asked| request.is_pending_outbound(peer, asked))
    }

    /// How full the queues of this room are.
    pub(crate) fn queues(&self) -> Queues {
        Queues {
            events: self.outbox.len(),
            unjudged: self.unjudged.len(),
            unanswered: self.waiting.len(),
            asked: self.asked.len(),
            unconfirmed: self.direct.len() + self.votes.len(),
            ..Queues::default()
        }
    }

    /// The body of a frame; of a bad one, its sender is to blame.
    fn whole(&mut self, peers: &mut Peers, peer: PeerId, frame: Frame) -> Option<Vec<u8>> {
        let counters = &self.shared.counters;
        match frame {
            Frame::Whole(bytes) => {
                counters.count_n(Count::BytesIn, bytes.len());
                return Some(bytes);
            }
            Frame::Slow => {
                counters.count(Count::SlowFrames);
                self.orders.push(Order::Penalise(peer, SLOW));
            }
            // That others have used up the room is nobody's fault.
            Frame::Crowded => counters.count(Count::FramesWithoutRoom),
            Frame::NoRoom => {
                counters.count(Count::FramesWithoutRoom);
                peers.on_broken_frame(peer);
            }
            Frame::TooLarge => {
                counters.count(Count::MalformedFrames);
                self.orders.push(Order::Penalise(peer, MALFORMED));
            }
            // A sender that gives up in the middle looks the same, so nobody is blamed for a few.
            Frame::Truncated => {
                counters.count(Count::TruncatedFrames);
                peers.on_broken_frame(peer);
            }
        }
        None
    }
}

/// The peer that sent a whole frame: it speaks a protocol of our network.
pub(crate) fn speaker(event: &FramesEvent) -> Option<PeerId> {
    let rr::Event::Message { peer, message, .. } = event else {
        return None;
    };
    let (rr::Message::Request { request: frame, .. }
    | rr::Message::Response {
        response: frame, ..
    }) = message;
    matches!(frame, Frame::Whole(_)).then_some(*peer)
}
