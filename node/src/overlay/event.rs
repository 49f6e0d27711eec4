//! The events that the overlay tells the node.

use std::fmt;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use libp2p::{Multiaddr, PeerId};

/// Length of a gossip message id, bytes.
pub(crate) const MESSAGE_ID_LEN: usize = 20;

/// Id of a gossip message: the first 20 bytes of a BLAKE3 hash over topic and payload. The same
/// payload has the same id whoever publishes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub [u8; MESSAGE_ID_LEN]);

impl fmt::Debug for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

/// Names one request of another peer until it is answered; unique within one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub(crate) u64);

/// The node's judgement of a gossip message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Valid: pass it on.
    Accept,
    /// Stale, known, or not to be judged now: do not pass it on, blame nobody.
    Ignore,
    /// Provably bad whatever our state: do not pass it on, those who passed it to us lose score.
    Reject,
}

/// One event. Connection events are never lost; messages are dropped and counted when the node
/// falls behind.
#[derive(Clone, Debug)]
pub enum Event {
    /// A listener has this address (for a wildcard: one event per interface).
    Listening {
        /// The address, without the peer id.
        address: Multiaddr,
    },
    /// A peer of our network is connected, by one connection or several.
    PeerConnected {
        /// Who.
        peer: PeerId,
    },
    /// The last connection to a peer is gone.
    PeerDisconnected {
        /// Who.
        peer: PeerId,
    },
    /// A gossip message that waits for [`super::OverlayHandle::report`]. It is passed on only after
    /// `Accept`, and forgotten when not judged within a few seconds.
    Message {
        /// Short name of the topic.
        topic: Arc<str>,
        /// The peer that signed it. Any peer that repeats a payload can sign it, so this is the
        /// sender, not the author: contents that matter carry their own signature.
        from: PeerId,
        /// The neighbour that passed it to us.
        via: PeerId,
        /// For the verdict.
        id: MessageId,
        /// The payload, within the topic's cap.
        bytes: Vec<u8>,
    },
    /// A one-way message of a connected peer.
    Direct {
        /// The sender (authenticated by the connection).
        peer: PeerId,
        /// The payload.
        bytes: Vec<u8>,
    },
    /// A request that waits for [`super::OverlayHandle::respond`].
    Request {
        /// The asker (authenticated by the connection).
        peer: PeerId,
        /// For the answer.
        id: RequestId,
        /// The payload.
        bytes: Vec<u8>,
    },
}
