//! The requests of the DHT's room to the swarm and other rooms.

use libp2p::swarm::dial_opts::PeerCondition;
use libp2p::{Multiaddr, PeerId};

use crate::overlay::command::{Found, Reply};

/// One order.
#[derive(Debug)]
pub(crate) enum Order {
    /// To dial a peer that is sought.
    Dial {
        peer: PeerId,
        addresses: Vec<Multiaddr>,
        condition: PeerCondition,
        /// Whether it is the first dial of a search: if it cannot even begin,
        /// [`super::Dht::on_dial_refused`] is told.
        first: bool,
    },
    /// To remember where a peer may be reached.
    Learn(PeerId, Vec<Multiaddr>),
    /// To remember those that a lookup found.
    Found(Found),
    /// To ask a peer that was sought for a request's sake.
    Request {
        peer: PeerId,
        bytes: Vec<u8>,
        reply: Reply,
    },
}
