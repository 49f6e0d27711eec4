//! The errors of the overlay, as its callers see them.

use std::time::Duration;

use libp2p::{Multiaddr, PeerId};

/// Why an overlay could not be started.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum StartError {
    /// No address to listen on.
    #[error("the overlay needs at least one address to listen on")]
    NoListener,
    /// A topic's cap is zero or above the maximum.
    #[error("topic {topic}: the cap must be between 1 byte and 4 MiB")]
    TopicCap { topic: String },
    /// Two topics share a name.
    #[error("topic {topic} is configured twice")]
    TopicTwice { topic: String },
    /// An address could not be opened within the time that a predecessor may need to leave it.
    #[error("cannot listen on {address}")]
    Listen {
        address: Multiaddr,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A listener did not report its address in time.
    #[error("{missing} listeners have no address after {waited:?}")]
    ListenTimeout { missing: usize, waited: Duration },
    /// libp2p refused our own settings.
    #[error("the network stack refused its settings: {reason}")]
    Settings { reason: String },
}

/// Why a call on the handle was refused at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverlayError {
    /// The command queue is full; try later.
    #[error("the overlay is busy")]
    Busy,
    /// The overlay has ended.
    #[error("the overlay has ended")]
    Closed,
    /// The payload is larger than its cap.
    #[error("{size} bytes exceed the cap of {cap}")]
    TooLarge {
        /// Bytes given.
        size: usize,
        /// Bytes allowed.
        cap: usize,
    },
    /// The node does not take part in this topic.
    #[error("no such topic")]
    UnknownTopic,
}

/// Why nobody answered a dial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialCause {
    /// Nothing came back.
    Silent,
    /// The machine answers, but nothing listens there.
    Refused,
    /// The name of the host is not known.
    Unresolved,
    /// Something else; the log tells.
    Other,
}

/// Why a peer is not connected although it was sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeekError {
    /// The call itself was refused.
    #[error(transparent)]
    Refused(#[from] OverlayError),
    /// That is this node.
    #[error("this is the node itself")]
    Myself,
    /// The owner blocked it.
    #[error("the peer is blocked")]
    Blocked,
    /// It behaved badly.
    #[error("the peer is banned for another {} s", .left.as_secs())]
    Banned {
        /// Until the ban ends.
        left: Duration,
    },
    /// No address is known, and none was found in the DHT.
    #[error("nobody knows where the peer is")]
    NoRecord,
    /// It was dialled, and did not answer in time.
    #[error("the peer was dialled and did not answer")]
    NoAnswer {
        /// Why, as far as the last dial tells.
        cause: DialCause,
    },
    /// Somebody else answered there.
    #[error("another peer answers there: {found}")]
    OtherPeer {
        /// Who.
        found: PeerId,
    },
    /// It answered and closed the connection before it said who it is.
    #[error("the peer hung up")]
    HungUp,
    /// It belongs to another network.
    #[error("the peer belongs to another network")]
    OtherNetwork,
}

/// Why a record was not found in the DHT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// The call itself was refused, or too many lookups run.
    #[error(transparent)]
    Refused(#[from] OverlayError),
    /// No peer is connected that could be asked.
    #[error("no peer is connected")]
    Alone,
    /// Nobody has it.
    #[error("no such record")]
    NotFound,
    /// Not everybody answered in time.
    #[error("the lookup took too long")]
    Late,
}

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The call itself was refused.
    #[error(transparent)]
    Refused(#[from] OverlayError),
    /// The peer is not connected.
    #[error("the peer is not connected")]
    NotConnected,
    /// Too many requests in flight.
    #[error("too many requests are in flight")]
    TooMany,
    /// No answer in time; the peer may have seen the request.
    #[error("no answer in time")]
    Timeout,
    /// The connection ended first; the peer may have seen the request.
    #[error("the connection was lost")]
    ConnectionLost,
    /// The peer gave no answer: it was overloaded, or refused the request.
    #[error("the peer gave no answer")]
    NoAnswer,
    /// The answer was malformed or above the cap.
    #[error("the answer is malformed or too large")]
    BadAnswer,
}
