//! The requests of the room of reachability to the swarm and other rooms.

use libp2p::core::transport::ListenerId;
use libp2p::swarm::ConnectionId;
use libp2p::{Multiaddr, PeerId};

use super::relays::Candidate;

/// One order.
#[derive(Debug)]
pub(crate) enum Order {
    /// To dial a peer beside the connections that it has.
    Dial(PeerId, Vec<Multiaddr>),
    /// To close all connections with a peer.
    Disconnect(PeerId),
    /// To close a connection.
    Close(ConnectionId),
    /// A peer is no longer where its direct connections lead.
    ForgetDirect(PeerId),
    /// To ask a relay for a place; [`super::Traversal::on_reserved`] is told.
    Reserve(Candidate),
    /// To close a listener.
    Unlisten(ListenerId),
    /// To tell others of an address no longer.
    Withdraw(Multiaddr),
    /// To have an address tested.
    Suggest(Multiaddr),
    /// To answer lookups in the DHT, or only to ask there.
    Serve(bool),
    /// To relay for others, or no longer.
    Relay(bool),
    /// To look for relays in the DHT.
    SearchRelays,
    /// To seek a peer.
    Seek(PeerId),
    /// To dial without the pauses that failures have made.
    Hurry,
    /// We listen there now.
    Listening(Multiaddr),
    /// To put our record into the DHT if it has changed.
    Tell,
    /// To take all steps of traversal, since something was learnt.
    Traverse,
}
