//! The requests of the peers' room to the swarm and other rooms.

use std::net::IpAddr;

use libp2p::swarm::ConnectionId;
use libp2p::{Multiaddr, PeerId};

use crate::overlay::error::SeekError;

/// One order.
#[derive(Debug)]
pub(crate) enum Order {
    /// To dial a peer; [`super::Peers::dial_failed`] is told of a dial that cannot even begin.
    Dial(PeerId, Vec<Multiaddr>),
    /// To close all connections with a peer.
    Disconnect(PeerId),
    /// To close a connection.
    Close(ConnectionId),
    /// To refuse a peer whichever way it comes.
    Block(PeerId),
    /// To refuse it no longer.
    Unblock(PeerId),
    /// To give a peer a slot that no stranger can take, or to take it back.
    Slot(PeerId, bool),
    /// A peer was admitted.
    Admitted(PeerId),
    /// The last connection to a peer is gone.
    Gone { peer: PeerId, admitted: bool },
    /// A peer of the network is on these machines.
    Met(Vec<Multiaddr>),
    /// A peer that we dialled at this host sees us there.
    Seen {
        peer: PeerId,
        host: IpAddr,
        at: Multiaddr,
    },
    /// A peer that is reached over circuits alone claims these addresses.
    TryDirect {
        peer: PeerId,
        claimed: Vec<Multiaddr>,
    },
    /// To enter a peer into the routing table.
    EnterTable(PeerId, Vec<Multiaddr>),
    /// To take it out.
    LeaveTable(PeerId),
    /// To seek a peer.
    Seek(PeerId),
    /// To seek it no longer.
    EndSeek(PeerId, SeekError),
    /// To show the handles who is connected.
    Show,
}
