//! What this node does for others as a relay, and what its router does for it.
//!
//! Places and circuits are counted as the relay behaviour tells; it does not tell bytes.

use std::collections::BTreeSet;
use std::time::Instant;

use libp2p::{PeerId, relay, upnp};
use serde::{Deserialize, Serialize};

use crate::overlay::stats::Count;
use crate::overlay::task::Task;

/// What the router was asked, and said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Router {
    /// It is not asked.
    #[default]
    Off,
    /// It has not answered yet.
    Asked,
    /// There is none that answers UPnP.
    None,
    /// It sits behind another NAT itself.
    Inner,
    /// It forwards ports to us.
    Forwards,
    /// It did, and no longer does.
    Stopped,
}

/// Who has a place here now, and how many circuits there are.
#[derive(Debug, Default)]
pub(crate) struct Serving {
    /// Nodes with a place.
    pub(crate) places: BTreeSet<PeerId>,
    /// Who began each of the circuits.
    pub(crate) circuits: Vec<PeerId>,
}

impl Task {
    pub(crate) fn on_relaying(&mut self, event: relay::Event) {
        let counters = &self.shared.counters;
        match event {
            relay::Event::ReservationReqAccepted { src_peer_id, .. }
                if self.serving.places.insert(src_peer_id) =>
            {
                counters.count(Count::RelayPlaces);
            }
            relay::Event::ReservationReqDenied { .. } => {
                counters.count(Count::RelayPlacesDenied);
            }
            relay::Event::ReservationClosed { src_peer_id }
            | relay::Event::ReservationTimedOut { src_peer_id } => {
                self.serving.places.remove(&src_peer_id);
            }
            relay::Event::CircuitReqAccepted { src_peer_id, .. } => {
                self.serving.circuits.push(src_peer_id);
                counters.count(Count::RelayCircuits);
            }
            relay::Event::CircuitReqDenied { .. } => counters.count(Count::RelayCircuitsDenied),
            relay::Event::CircuitClosed { src_peer_id, .. } => {
                let circuits = &mut self.serving.circuits;
                if let Some(at) = circuits.iter().position(|p| *p == src_peer_id) {
                    circuits.swap_remove(at);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn on_router(&mut self, event: upnp::Event) {
        self.router = match event {
            upnp::Event::NewExternalAddr { external_addr, .. } => {
                self.reach.confirm(external_addr, true);
                self.traverse(Instant::now());
                Router::Forwards
            }
            upnp::Event::ExpiredExternalAddr { external_addr, .. } => {
                self.reach.expire(&external_addr);
                Router::Stopped
            }
            upnp::Event::GatewayNotFound => Router::None,
            upnp::Event::NonRoutableGateway => Router::Inner,
        };
    }
}
