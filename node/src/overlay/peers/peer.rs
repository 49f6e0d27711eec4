//! A connected peer, as its room knows it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libp2p::Multiaddr;
use libp2p::swarm::ConnectionId;

use crate::overlay::reach::addresses;

/// A connected peer.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(super) connections: BTreeMap<ConnectionId, Multiaddr>,
    /// Since when one of them is direct.
    pub(super) direct_since: Option<Instant>,
    /// Whether we have dialled what it told us over a circuit.
    pub(super) tried_direct: bool,
    /// Whether it relays for others.
    pub(super) relays: bool,
    /// It has spoken one of our protocols or identified itself as of our network.
    pub(super) admitted: bool,
    pub(super) since: Instant,
    /// Its own name for itself; it differs between two runs of the same node.
    pub(super) agent: Option<String>,
    /// Its last statement about itself.
    pub(super) said: Option<Said>,
    pub(super) rtt: Option<Duration>,
    pub(super) score: f64,
}

/// A peer's statement about itself, its time, and its connection.
#[derive(Debug)]
pub(crate) struct Said {
    pub(super) at: Instant,
    pub(super) connection: ConnectionId,
    pub(super) digest: [u8; 32],
}

impl Peer {
    /// A peer with no connection yet.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            connections: BTreeMap::new(),
            direct_since: None,
            tried_direct: false,
            relays: false,
            admitted: false,
            since: now,
            agent: None,
            said: None,
            rtt: None,
            score: 0.0,
        }
    }

    /// No direct connection counts any more.
    pub(super) fn forget_direct(&mut self) {
        self.direct_since = None;
        self.tried_direct = false;
    }

    /// Where it is, by its connections that lead through no relay.
    pub(super) fn direct(&self) -> impl Iterator<Item = &Multiaddr> {
        let all = self.connections.values();
        all.filter(|address| !addresses::is_circuit(address))
    }
}
