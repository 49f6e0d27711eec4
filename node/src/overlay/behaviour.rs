//! The composed behaviour of the swarm.
//!
//! The order matters: limits and blocks are asked first, and the first to deny a connection wins.
//! This file changes rarely on purpose, since deriving it is what costs build time.

use libp2p::allow_block_list::{self, BlockedPeers};
use libp2p::kad::store::MemoryStore;
use libp2p::swarm::NetworkBehaviour;
use libp2p::{connection_limits, gossipsub, identify, kad, ping, request_response};

use super::codec::FrameCodec;

/// Gossip restricted to the configured topics.
pub(crate) type Gossip =
    gossipsub::Behaviour<gossipsub::IdentityTransform, gossipsub::WhitelistSubscriptionFilter>;

#[derive(NetworkBehaviour)]
pub(crate) struct Behaviour {
    pub(crate) limits: connection_limits::Behaviour,
    pub(crate) blocked: allow_block_list::Behaviour<BlockedPeers>,
    pub(crate) identify: identify::Behaviour,
    pub(crate) ping: ping::Behaviour,
    pub(crate) kad: kad::Behaviour<MemoryStore>,
    pub(crate) gossip: Gossip,
    pub(crate) request: request_response::Behaviour<FrameCodec>,
    pub(crate) direct: request_response::Behaviour<FrameCodec>,
}
