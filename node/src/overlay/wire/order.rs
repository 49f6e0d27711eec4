//! The requests of the room of the wire to the swarm and other rooms.

use libp2p::PeerId;

use crate::overlay::command::Reply;

/// One order.
#[derive(Debug)]
pub(crate) enum Order {
    /// To take points off a peer's score.
    Penalise(PeerId, f64),
    /// To look at a peer's score.
    Judge(PeerId),
    /// To seek a peer for a request.
    Seek {
        peer: PeerId,
        bytes: Vec<u8>,
        reply: Reply,
    },
    /// To show the handles who is subscribed.
    Show,
}
