//! A connected peer, as the task knows it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libp2p::Multiaddr;
use libp2p::swarm::ConnectionId;

use crate::overlay::reach::addresses;

/// A connected peer.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) connections: BTreeMap<ConnectionId, Multiaddr>,
    /// Since when one of them is direct.
    pub(crate) direct_since: Option<Instant>,
    /// Whether we have dialled what it told us over a circuit.
    pub(crate) tried_direct: bool,
    /// Whether it relays for others.
    pub(crate) relays: bool,
    /// It has spoken one of our protocols or identified itself as of our network.
    pub(crate) admitted: bool,
    pub(crate) since: Instant,
    /// What it calls itself; differs between two runs of the same node.
    pub(crate) agent: Option<String>,
    /// What it said of itself last.
    pub(crate) said: Option<Said>,
    pub(crate) rtt: Option<Duration>,
    pub(crate) score: f64,
    /// Its requests that wait for our answer.
    pub(crate) waiting: usize,
}

/// What a peer said of itself, when, and on which connection.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) at: Instant,
    pub(crate) connection: ConnectionId,
    pub(crate) digest: [u8; 32],
}

impl Peer {
    /// Where it is, by its connections that lead through no relay.
    pub(crate) fn direct(&self) -> impl Iterator<Item = &Multiaddr> {
        let all = self.connections.values();
        all.filter(|address| !addresses::is_circuit(address))
    }
}
