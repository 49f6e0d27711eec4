//! How the node is reached: its own addresses, relays, and its moves.
//!
//! [`Traversal`] owns the knowledge of that. The peers come in as an argument, and the room asks
//! them questions. Its requests to the swarm and to other rooms are [`Order`]s, which the task
//! carries out after each call.

pub(super) mod addresses;
pub(super) mod discreet;
mod listening;
mod moved;
pub(super) mod moves;
pub(super) mod observed;
mod order;
pub(super) mod reachability;
pub(super) mod relays;
pub(super) mod scope;
pub(super) mod serving;
mod traverse;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libp2p::core::transport::ListenerId;
use libp2p::swarm::ConnectionId;
use libp2p::{Multiaddr, PeerId, relay};
use tokio::sync::watch;

use moves::Moves;
pub(super) use order::Order;
use reachability::{Reach, Reachability};
use relays::Relays;
use scope::Scope;
use serving::{Router, Serving};

use crate::overlay::config::OverlayConfig;
use crate::overlay::shared::Shared;
use crate::overlay::view::Whereabouts;

/// When the DHT is asked for relays first.
const FIRST_SEARCH: Duration = Duration::from_secs(2);

/// The room of reachability.
pub(crate) struct Traversal {
    shared: Arc<Shared>,
    /// All that we listen on is on loopback: our peers are on this machine.
    local: bool,
    known: Reachability,
    relays: Relays,
    moves: Moves,
    serving: Serving,
    router: Router,
    scope: Scope,
    /// The last reachability acted on.
    acted_on: Option<Reach>,
    /// Whether our owner lets us relay for others, and whether we offer to.
    may_relay: bool,
    relaying: bool,
    next_search: Instant,
    /// Open listeners.
    listeners: HashSet<ListenerId>,
    /// Those of them that have no address yet.
    unopened: HashSet<ListenerId>,
    listening: watch::Sender<Arc<[Multiaddr]>>,
    status: watch::Sender<Whereabouts>,
    orders: Vec<Order>,
}

impl Traversal {
    /// Nothing is listened on yet. The scope is that of the transports.
    pub(crate) fn new(
        shared: Arc<Shared>,
        config: &OverlayConfig,
        local: bool,
        scope: Scope,
        listening: watch::Sender<Arc<[Multiaddr]>>,
        status: watch::Sender<Whereabouts>,
        now: Instant,
    ) -> Self {
        let private = scope::is_private(&config.told());
        Self {
            known: Reachability::new(local, private, shared.tuning.reach, now),
            shared,
            local,
            relays: Relays::default(),
            moves: Moves::new(now),
            serving: Serving::default(),
            router: if config.upnp && !local {
                Router::Asked
            } else {
                Router::Off
            },
            scope,
            acted_on: None,
            may_relay: config.relay.is_some() && !local,
            relaying: false,
            next_search: now + FIRST_SEARCH,
            listeners: HashSet::new(),
            unopened: HashSet::new(),
            listening,
            status,
            orders: Vec::new(),
        }
    }

    /// Requests to the swarm and other rooms.
    pub(crate) fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// The owner says that others reach us there.
    pub(crate) fn declare(&mut self, address: Multiaddr) {
        // The owner may be wrong: AutoNAT servers are asked all the same.
        if addresses::is_direct(&address, false) && !addresses::is_loopback(&address) {
            self.orders.push(Order::Suggest(address.clone()));
        }
        self.known.declare(address);
    }

    /// The owner named these: they may be dialled.
    pub(crate) fn named(&self, addresses: &[Multiaddr]) {
        self.scope.named(addresses);
    }

    /// Peers of ours are on these machines: they may be dialled.
    pub(crate) fn met(&self, addresses: &[Multiaddr]) {
        self.scope.met(addresses);
    }

    /// Dials refused by the scope since the last time.
    pub(crate) fn take_refused(&self) -> usize {
        self.scope.take_refused()
    }

    /// A peer at `host`, which we dialled, sees us at `address`.
    pub(crate) fn on_seen(&mut self, peer: PeerId, host: std::net::IpAddr, address: Multiaddr) {
        if !self.local {
            self.known.see(peer, host, address.clone());
            self.orders.push(Order::Suggest(address));
        }
    }

    /// A peer is gone, and what it saw with it.
    pub(crate) fn on_gone(&mut self, peer: &PeerId) {
        self.known.forget(peer);
    }

    /// Something happened to the relay that we are.
    pub(crate) fn on_relaying(&mut self, event: &relay::Event) {
        self.serving.on_event(event, &self.shared.counters);
    }

    /// Whether a place at a relay hangs on the connection with a peer, ours or the peer's.
    pub(crate) fn needs(&self, peer: &PeerId) -> bool {
        self.is_relay(peer) || self.serving.has(peer)
    }

    /// Whether we have a place with this relay, or have asked for one.
    pub(crate) fn is_relay(&self, peer: &PeerId) -> bool {
        self.relays.all_relays().any(|relay| relay == *peer)
    }

    /// Whether a connection is too old to be part of an attempt that is made now.
    pub(crate) fn is_old(&self, connection: &ConnectionId, now: Instant) -> bool {
        self.moves.is_old(connection, now)
    }
}
