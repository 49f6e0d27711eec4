//! The composed behaviour of the swarm.
//!
//! The order matters: blocks, the gate and limits are asked first, and the first to deny a
//! connection wins. This file changes rarely on purpose, since deriving it costs build time.

use libp2p::allow_block_list::{self, BlockedPeers};
use libp2p::kad::store::MemoryStore;
use libp2p::swarm::NetworkBehaviour;
use libp2p::swarm::behaviour::toggle::Toggle;
use libp2p::{
    autonat, connection_limits, dcutr, gossipsub, kad, mdns, memory_connection_limits, ping, relay,
    request_response, upnp,
};

use super::codec::FrameCodec;
use super::foreign::OwnTopics;
use crate::overlay::lines;
use crate::overlay::packets;
use crate::overlay::peers::gate;
use crate::overlay::peers::metered::Metered;
use crate::overlay::reach::discreet::Discreet;
use crate::overlay::reach::observed;

/// Gossip restricted to the configured topics.
pub(crate) type Gossip = gossipsub::Behaviour<OwnTopics, gossipsub::WhitelistSubscriptionFilter>;

#[derive(NetworkBehaviour)]
pub(crate) struct Behaviour {
    pub(crate) memory: memory_connection_limits::Behaviour,
    pub(crate) blocked: allow_block_list::Behaviour<BlockedPeers>,
    pub(crate) gate: gate::Behaviour,
    pub(crate) limits: connection_limits::Behaviour,
    pub(crate) relayed: relay::client::Behaviour,
    pub(crate) relaying: Toggle<relay::Behaviour>,
    pub(crate) punch: Toggle<dcutr::Behaviour>,
    pub(crate) probe: Toggle<autonat::v2::client::Behaviour>,
    pub(crate) probing: Toggle<autonat::v2::server::Behaviour>,
    pub(crate) upnp: Toggle<upnp::tokio::Behaviour>,
    pub(crate) lan: Toggle<mdns::tokio::Behaviour>,
    pub(crate) observed: observed::Behaviour,
    pub(crate) identify: Discreet,
    pub(crate) ping: ping::Behaviour,
    pub(crate) kad: Metered<kad::Behaviour<MemoryStore>>,
    pub(crate) gossip: Metered<Gossip>,
    pub(crate) request: request_response::Behaviour<FrameCodec>,
    pub(crate) packets: packets::Behaviour,
    pub(crate) lines: lines::Behaviour,
}
