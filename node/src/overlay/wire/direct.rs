//! One-way messages.

use std::sync::Arc;

use gridbay_core::frame;
use libp2p::PeerId;

use super::Wire;
use super::codec::Frame;
use super::inflight::Part;
use crate::overlay::event::Event;
use crate::overlay::lines::{self, Answer, Line};
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
        let on_the_way = match line {
            Line::Votes => &mut self.votes,
            _ => &mut self.direct,
        };
        // A proposal that finds no place is not sent again; entries are.
        let part = match line {
            Line::Votes | Line::Bodies => Part::Whole,
            Line::Entries | Line::Words => Part::Most,
        };
        for peer in to {
            let kept = peers.is_kept(&peer);
            // Ourselves included: there is no connection to oneself.
            if !peers.is_peer(&peer) {
                counters.count(Count::DirectUnreachable);
            } else if !on_the_way.has_room(&peer, size, kept, part, &self.shared.limits) {
                counters.count(Count::DirectTooMany);
            } else if let Some(id) = lines.send(peer, line, Arc::clone(&frame)) {
                counters.count(Count::DirectSent);
                counters.count_n(Count::BytesOut, size);
                on_the_way.begin(id, peer, size, kept);
            } else {
                counters.count(Count::DirectUnreachable);
            }
        }
    }

    /// A message came, or one of ours was taken or was not. The sender of a whole frame has been
    /// admitted.
    pub(crate) fn on_line(&mut self, peers: &mut Peers, event: lines::Event) {
        match event {
            lines::Event::Came {
                peer,
                frame,
                answer,
            } => {
                if let Some(bytes) = self.whole(peers, peer, frame) {
                    let told = self.on_direct_message(peers, peer, bytes);
                    // The line may be gone; its sender learns of that by itself.
                    let _unheard = answer.send(told);
                }
            }
            lines::Event::Ended { id, taken } => {
                if self.direct.end(&id).is_none() {
                    self.votes.end(&id);
                }
                if !taken {
                    self.shared.counters.count(Count::DirectFailed);
                }
            }
        }
    }

    fn on_direct_message(&mut self, peers: &mut Peers, peer: PeerId, bytes: Vec<u8>) -> Answer {
        self.shared.counters.count(Count::DirectReceived);
        if !peers.may_send(peer, bytes.len()) {
            return Answer::TooMuch;
        }
        if self.outbox.offer(Event::Direct { peer, bytes }) {
            return Answer::Taken;
        }
        self.shared.counters.count(Count::DirectDropped);
        Answer::PassedOver
    }
}

/// The peer that sent a whole frame: it speaks a protocol of our network.
pub(crate) fn speaker(event: &lines::Event) -> Option<PeerId> {
    match event {
        lines::Event::Came {
            peer,
            frame: Frame::Whole(_),
            ..
        } => Some(*peer),
        _ => None,
    }
}
