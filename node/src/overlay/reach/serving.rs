//! The node's service to others as a relay, and its router's service to it.
//!
//! Places and circuits are counted as the relay behaviour tells; it does not tell bytes.

use std::collections::BTreeSet;

use libp2p::{PeerId, relay};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::overlay::stats::{Count, Counters};

/// The requests to the router, and its answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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

/// Nodes with a place here now, and the circuits through here.
#[derive(Debug, Default)]
pub(super) struct Serving {
    /// Nodes with a place.
    places: BTreeSet<PeerId>,
    /// The peer that began each of the circuits.
    circuits: Vec<PeerId>,
}

impl Serving {
    /// How many have a place.
    pub(super) fn places(&self) -> usize {
        self.places.len()
    }

    /// How many circuits there are.
    pub(super) fn circuits(&self) -> usize {
        self.circuits.len()
    }

    /// Whether a peer has a place or began a circuit.
    pub(super) fn has(&self, peer: &PeerId) -> bool {
        self.places.contains(peer) || self.circuits.contains(peer)
    }

    pub(super) fn on_event(&mut self, event: &relay::Event, counters: &Counters) {
        match event {
            relay::Event::ReservationReqAccepted { src_peer_id, .. }
                if self.places.insert(*src_peer_id) =>
            {
                counters.count(Count::RelayPlaces);
            }
            relay::Event::ReservationReqDenied { .. } => {
                counters.count(Count::RelayPlacesDenied);
            }
            relay::Event::ReservationClosed { src_peer_id }
            | relay::Event::ReservationTimedOut { src_peer_id } => {
                self.places.remove(src_peer_id);
            }
            relay::Event::CircuitReqAccepted { src_peer_id, .. } => {
                self.circuits.push(*src_peer_id);
                counters.count(Count::RelayCircuits);
            }
            relay::Event::CircuitReqDenied { .. } => counters.count(Count::RelayCircuitsDenied),
            relay::Event::CircuitClosed { src_peer_id, .. } => {
                if let Some(at) = self.circuits.iter().position(|p| p == src_peer_id) {
                    self.circuits.swap_remove(at);
                }
            }
            _ => {}
        }
    }
}
