//! Our own listeners, and where they are.

use std::sync::Arc;
use std::time::Instant;

use libp2p::Multiaddr;
use libp2p::core::transport::ListenerId;

use super::addresses::{PER_PEER, is_circuit, is_loopback, without_peer};
use super::reachability::Reach;
use super::{Order, Traversal};
use crate::overlay::peers::Peers;

impl Traversal {
    /// A listener was asked for.
    pub(crate) fn on_asked(&mut self, listener: ListenerId) {
        self.listeners.insert(listener);
        self.unopened.insert(listener);
    }

    /// Listeners that have no address yet.
    pub(crate) fn unopened(&self) -> usize {
        self.unopened.len()
    }

    /// Open listeners.
    pub(crate) fn listeners(&self) -> Vec<ListenerId> {
        self.listeners.iter().copied().collect()
    }

    /// Addresses on which we listen.
    pub(crate) fn listening(&self) -> Arc<[Multiaddr]> {
        self.listening.borrow().clone()
    }

    /// We listen at these addresses now.
    pub(crate) fn set_listening(&self, addresses: Vec<Multiaddr>) {
        self.listening.send_replace(addresses.into());
    }

    /// A listener has an address.
    pub(crate) fn on_listening(&mut self, listener: ListenerId, address: Multiaddr) {
        self.unopened.remove(&listener);
        if self.relays.stands(&listener) {
            tracing::info!(%address, "reachable through a relay");
            self.orders.push(Order::Tell);
        }
        self.orders.push(Order::Listening(address));
    }

    /// A listener lost an address. If it is one of an interface, we have moved.
    pub(crate) fn on_unlistening(&mut self, peers: &Peers, address: &Multiaddr) {
        if !self.local && !is_circuit(address) && !is_loopback(address) {
            tracing::info!(%address, "an address of ours is gone: all connections are made anew");
            self.on_network_change(peers, Instant::now());
        }
    }

    /// A listener is closed.
    pub(crate) fn on_listener_closed(&mut self, listener: ListenerId) {
        self.listeners.remove(&listener);
        if !self.relays.lost(&listener, Instant::now()) {
            tracing::warn!("it was one of our own: others reach us there no longer");
        }
    }

    /// Where others may reach us, best first.
    pub(crate) fn whereabouts(&self) -> Vec<String> {
        let own = self.listening();
        let mut all: Vec<Multiaddr> = match self.acted_on {
            Some(Reach::Local) => own.to_vec(),
            _ => self.known.addresses(),
        };
        let circuits = own.iter().filter(|a| is_circuit(a));
        all.extend(circuits.map(without_peer));
        all.truncate(PER_PEER);
        all.iter().map(ToString::to_string).collect()
    }
}
