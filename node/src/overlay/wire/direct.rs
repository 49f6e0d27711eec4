//! One-way messages.

use libp2p::PeerId;
use libp2p::request_response as rr;

use super::codec::Frame;
use super::{Frames, FramesEvent, Wire};
use crate::overlay::event::Event;
use crate::overlay::peers::Peers;
use crate::overlay::stats::Count;

impl Wire {
    /// Sends the same bytes to many peers.
    pub(crate) fn send(
        &mut self,
        direct: &mut Frames,
        peers: &Peers,
        to: Vec<PeerId>,
        bytes: &[u8],
    ) {
        let (size, counters) = (bytes.len(), &self.shared.counters);
        for peer in to {
            let kept = peers.is_kept(&peer);
            // Ourselves included: there is no connection to oneself.
            if !peers.is_peer(&peer) {
                counters.count(Count::DirectUnreachable);
            } else if !self.direct.has_room(&peer, size, kept, &self.shared.limits) {
                counters.count(Count::DirectTooMany);
            } else {
                counters.count(Count::DirectSent);
                counters.count_n(Count::BytesOut, size);
                let id = direct.send_request(&peer, Frame::Whole(bytes.to_vec()));
                self.direct.begin(id, peer, size, kept);
            }
        }
    }

    /// A message came, or one of ours was confirmed or was not. The sender of a whole frame has
    /// been admitted.
    pub(crate) fn on_direct(&mut self, direct: &mut Frames, peers: &mut Peers, event: FramesEvent) {
        match event {
            rr::Event::Message { peer, message, .. } => match message {
                rr::Message::Request {
                    request, channel, ..
                } => {
                    if let Some(bytes) = self.whole(peers, peer, request) {
                        self.on_direct_message(direct, peers, peer, bytes, channel);
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
        direct: &mut Frames,
        peers: &mut Peers,
        peer: PeerId,
        bytes: Vec<u8>,
        channel: rr::ResponseChannel<Frame>,
    ) {
        self.shared.counters.count(Count::DirectReceived);
        if !peers.may_send(peer, bytes.len()) {
            return;
        }
        if self.outbox.offer(Event::Direct { peer, bytes }) {
            // The sender may be gone; it learns of that by itself.
            let _unconfirmed = direct.send_response(channel, Frame::Whole(Vec::new()));
        } else {
            self.shared.counters.count(Count::DirectDropped);
        }
    }
}
