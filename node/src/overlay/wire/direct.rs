//! One-way messages.

use std::sync::Arc;

use gridbay_core::frame;
use libp2p::PeerId;
use tokio::sync::oneshot;

use super::Wire;
use super::codec::Frame;
use crate::overlay::event::Event;
use crate::overlay::lines::{self, Line};
use crate::overlay::peers::Peers;
use crate::overlay::stats::Count;

impl Wire {
    /// Sends the same bytes to many peers.
    pub(crate) fn send(
        &mut self,
        lines: &mut lines::Behaviour,
        peers: &Peers,
        to: Vec<PeerId>,
        line: Line,
        bytes: &[u8],
    ) {
        let (size, counters) = (bytes.len(), &self.shared.counters);
        let Some(frame) = frame::frame(bytes, self.shared.limits.max_direct) else {
            return counters.count_n(Count::DirectFailed, to.len());
        };
        let frame: Arc<[u8]> = frame.into();
        for peer in to {
            let kept = peers.is_kept(&peer);
            // Ourselves included: there is no connection to oneself.
            if !peers.is_peer(&peer) {
                counters.count(Count::DirectUnreachable);
            } else if !self.direct.has_room(&peer, size, kept, &self.shared.limits) {
                counters.count(Count::DirectTooMany);
            } else if let Some(id) = lines.send(peer, line, Arc::clone(&frame)) {
                counters.count(Count::DirectSent);
                counters.count_n(Count::BytesOut, size);
                self.direct.begin(id, peer, size, kept);
            } else {
                counters.count(Count::DirectUnreachable);
            }
        }
    }

    /// A message came, or one of ours was taken or was not. The sender of a whole frame has been
    /// admitted.
    pub(crate) fn on_line(&mut self, peers: &mut Peers, event: lines::Event) {
        match event {
            lines::Event::Came { peer, frame, taken } => {
                if let Some(bytes) = self.whole(peers, peer, frame) {
                    self.on_direct_message(peers, peer, bytes, taken);
                }
            }
            lines::Event::Ended { id, taken } => {
                self.direct.end(&id);
                if !taken {
                    self.shared.counters.count(Count::DirectFailed);
                }
            }
        }
    }

    fn on_direct_message(
        &mut self,
        peers: &mut Peers,
        peer: PeerId,
        bytes: Vec<u8>,
        taken: oneshot::Sender<bool>,
    ) {
        self.shared.counters.count(Count::DirectReceived);
        let may = peers.may_send(peer, bytes.len());
        let is_taken = may && self.outbox.offer(Event::Direct { peer, bytes });
        if may && !is_taken {
            self.shared.counters.count(Count::DirectDropped);
        }
        // The line may be gone; its sender learns of that by itself.
        let _unheard = taken.send(is_taken);
    }
}

/// The peer that sent a whole frame: it speaks a protocol of our network.
pub(crate) fn speaker(event: &lines::Event) -> Option<PeerId> {
    match event {
        lines::Event::Came { peer, frame, .. } if matches!(frame, Frame::Whole(_)) => Some(*peer),
        _ => None,
    }
}
