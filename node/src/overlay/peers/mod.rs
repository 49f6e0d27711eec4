//! Connected peers: their admission, their rates, the peers to dial, and the owner's marks.
//!
//! [`Peers`] owns all of that. The other rooms ask it questions; its requests to the swarm and to
//! other rooms are [`Order`]s, which the task carries out after each call. Gossip keeps the scores,
//! so the methods that need them take it as an argument.

mod connections;
mod crowding;
mod dialer;
mod dials;
mod doubles;
mod flood;
pub(super) mod gate;
mod greeting;
mod judge;
pub(super) mod marks;
pub(super) mod meter;
pub(super) mod metered;
mod mute;
mod order;
mod owner;
mod peer;
pub(super) mod rates;
mod room;
mod show;
pub(super) mod standing;

use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use libp2p::swarm::ConnectionId;
use libp2p::{Multiaddr, PeerId, StreamProtocol};
use tokio::sync::watch;

use dialer::Dialer;
use flood::Floods;
use marks::{Mark, Marks};
use meter::Meters;
pub(super) use order::Order;
use peer::Peer;
use standing::Standing;

use crate::overlay::names::Names;
use crate::overlay::reach::addresses::ip;
use crate::overlay::shared::Shared;
use crate::overlay::view::PeerInfo;

/// The room of the peers.
pub(crate) struct Peers {
    shared: Arc<Shared>,
    /// The protocol version that identify announces in this network.
    network: String,
    /// The protocol of those that answer lookups.
    kad: StreamProtocol,
    connected: BTreeMap<PeerId, Peer>,
    /// Connections that we dialled.
    dialled: HashSet<ConnectionId>,
    dialer: Dialer,
    standing: Standing,
    floods: Floods,
    meters: Meters,
    marks: Marks,
    snapshot: watch::Sender<Arc<[PeerInfo]>>,
    orders: Vec<Order>,
}

impl Peers {
    /// Nobody is connected yet. The meters are those around the transports.
    pub(crate) fn new(
        shared: Arc<Shared>,
        names: &Names,
        meters: Meters,
        snapshot: watch::Sender<Arc<[PeerInfo]>>,
        now: Instant,
    ) -> Self {
        let (limits, tuning) = (&shared.limits, &shared.tuning);
        Self {
            network: names.identify(),
            kad: names.kad(),
            connected: BTreeMap::new(),
            dialled: HashSet::new(),
            dialer: Dialer::new(
                tuning.redial_first,
                tuning.redial_max,
                limits.kept_peers,
                limits.known_peers,
            ),
            standing: Standing::new(limits.bans),
            floods: Floods::new(limits.all()),
            meters,
            marks: Marks::new(now),
            snapshot,
            orders: Vec::new(),
            shared,
        }
    }

    /// Requests to the swarm and other rooms.
    pub(crate) fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Whether nobody is connected.
    pub(crate) fn is_empty(&self) -> bool {
        self.connected.is_empty()
    }

    /// How many are connected, of whatever network.
    pub(crate) fn len(&self) -> usize {
        self.connected.len()
    }

    pub(crate) fn is_connected(&self, peer: &PeerId) -> bool {
        self.connected.contains_key(peer)
    }

    /// Whether a peer is connected and of our network.
    pub(crate) fn is_peer(&self, peer: &PeerId) -> bool {
        self.connected.get(peer).is_some_and(|p| p.admitted)
    }

    /// Whether anybody of our network is connected.
    pub(crate) fn has_any(&self) -> bool {
        self.connected.values().any(|peer| peer.admitted)
    }

    /// All that are connected.
    pub(crate) fn ids(&self) -> Vec<PeerId> {
        self.connected.keys().copied().collect()
    }

    /// Whether a peer is redialled for ever.
    pub(crate) fn is_kept(&self, peer: &PeerId) -> bool {
        self.dialer.is_kept(peer)
    }

    /// Whether the owner blocked a peer.
    pub(crate) fn is_blocked(&self, peer: &PeerId) -> bool {
        self.marks.is(peer, Mark::Blocked)
    }

    /// When a peer's ban ends, if it is banned.
    pub(crate) fn banned_until(&self, peer: &PeerId) -> Option<Instant> {
        self.standing.banned_until(peer)
    }

    /// Peers banned.
    pub(crate) fn banned(&self) -> usize {
        self.standing.banned()
    }

    /// Where a peer was reached or may be.
    pub(crate) fn addresses(&self, peer: &PeerId) -> Vec<Multiaddr> {
        self.dialer.addresses(peer)
    }

    /// Peers that were admitted in this run, with addresses.
    pub(crate) fn good(&self) -> Vec<(PeerId, Vec<Multiaddr>)> {
        self.dialer.good()
    }

    /// The connections with a peer, and where the other end of each is.
    pub(crate) fn connections(&self, peer: &PeerId) -> Vec<(ConnectionId, &Multiaddr)> {
        let peer = self.connected.get(peer).into_iter();
        let all = peer.flat_map(|peer| &peer.connections);
        all.map(|(id, address)| (*id, address)).collect()
    }

    /// Since when one of the connections with a peer is direct.
    pub(crate) fn direct_since(&self, peer: &PeerId) -> Option<Instant> {
        self.connected.get(peer)?.direct_since
    }

    /// The hosts at which a peer is, or its relays are.
    pub(crate) fn hosts(&self, peer: &PeerId) -> Vec<IpAddr> {
        let all = self.connections(peer);
        all.into_iter().filter_map(|(_, at)| ip(at)).collect()
    }
}
