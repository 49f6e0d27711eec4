//! The view through a handle: connected peers, how the node is reached, how full its queues are.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use libp2p::{Multiaddr, PeerId};

use super::reach::reachability::{Nat, Reach};
use super::reach::serving::Router;

/// A connected peer. Score, round trip and mesh are as of at most two seconds ago.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerInfo {
    /// Who.
    pub peer: PeerId,
    /// The remote address of its oldest direct connection, or of its oldest circuit.
    pub address: Multiaddr,
    /// The relay in between, if it is reached by circuits only.
    pub via: Option<PeerId>,
    /// Whether it relays for others.
    pub relays: bool,
    /// Number of connections, at least 1.
    pub connections: usize,
    /// Last measured round trip.
    pub rtt: Option<Duration>,
    /// 0 is neutral, negative is bad; see [`super::Tuning::ban_score`].
    pub score: f64,
    /// Whether it is redialled for ever.
    pub kept: bool,
    /// Whether the owner trusts it.
    pub trusted: bool,
    /// Whether it takes part in at least one of our topics, so that publications reach it.
    pub subscribed: bool,
    /// Whether it is in our mesh for at least one topic, so that we pass others' messages on to it.
    pub in_mesh: bool,
}

/// How this node is reached. As of at most a second ago.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// Whether others can dial it.
    pub reach: Reach,
    /// The NAT or firewall between it and the others.
    pub nat: Nat,
    /// Direct addresses at which others reached it, or as its owner says.
    pub external: Vec<Multiaddr>,
    /// Where peers that it dialled see it, whether or not others can reach it there: behind a NAT
    /// that is its router's outer address.
    pub seen: BTreeSet<IpAddr>,
    /// Relays at which it has a place.
    pub relays: Vec<PeerId>,
    /// Of the addresses that the owner declared, those at which an AutoNAT server could not reach
    /// it.
    pub refuted: Vec<Multiaddr>,
    /// The router's service for it.
    pub router: Router,
    /// Nodes that have a place here.
    pub places_given: usize,
    /// Circuits through here.
    pub circuits: usize,
    /// Peers banned now.
    pub banned: usize,
    /// How full its queues are.
    pub queues: Queues,
}

/// The present number of each kind; the bounds are in [`super::Limits`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// Events that the node has not taken yet.
    pub events: usize,
    /// Gossip messages that it has not judged yet.
    pub unjudged: usize,
    /// Requests of others that it has not answered yet.
    pub unanswered: usize,
    /// Own requests without an answer yet.
    pub asked: usize,
    /// One-way messages not confirmed yet.
    pub unconfirmed: usize,
    /// Connections with strangers.
    pub strangers: usize,
    /// Lookups in the DHT.
    pub lookups: usize,
    /// Peers sought.
    pub seeks: usize,
}

impl Queues {
    /// Each with the name that it has in metrics.
    pub fn named(&self) -> [(&'static str, usize); 8] {
        [
            ("events", self.events),
            ("unjudged", self.unjudged),
            ("unanswered", self.unanswered),
            ("asked", self.asked),
            ("unconfirmed", self.unconfirmed),
            ("strangers", self.strangers),
            ("lookups", self.lookups),
            ("seeks", self.seeks),
        ]
    }
}
