//! A behaviour that counts the events of each peer.
//!
//! Gossip and the DHT deal with most arrivals by themselves: duplicates, greetings, questions. None
//! of these reaches the node, and all cost time of the one task. So every event that a connection
//! hands up is counted for its peer. [`Metered::take_excess`] tells the events above the rate.
//! Those of gossip are dropped as well, before the behaviour looks into them. Those of the DHT are
//! not, since answers to the node's own questions are among them, and a question that nobody
//! answers holds its stream for ever.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::task::{Context, Poll};
use std::time::Instant;

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler, THandlerInEvent,
    THandlerOutEvent, ToSwarm,
};
use libp2p::{Multiaddr, PeerId};

use super::rates::{Rate, Rates};
use crate::overlay::wire::foreign::Refused;

/// The behaviour `B`, metered.
pub(crate) struct Metered<B> {
    inner: B,
    rate: Rate,
    rates: Rates<PeerId>,
    excess: BTreeMap<PeerId, u32>,
    above: Above,
    refused: Refused,
    blamed: BTreeMap<PeerId, u32>,
}

/// The treatment of an event above the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Above {
    /// It is counted.
    Counted,
    /// It is counted, and the behaviour does not hear of it.
    Dropped,
}

impl<B> Metered<B> {
    /// For so many connections at the most.
    pub(crate) fn new(inner: B, rate: Rate, above: Above, connections: usize) -> Self {
        Self {
            inner,
            rate,
            rates: Rates::new(connections),
            excess: BTreeMap::new(),
            above,
            refused: Refused::default(),
            blamed: BTreeMap::new(),
        }
    }

    /// A part of the behaviour refuses what it cannot tell the sender of, and counts it there.
    pub(crate) fn blaming(self, refused: Refused) -> Self {
        Self { refused, ..self }
    }

    /// The peers of which the behaviour refused something since the last time, and how much.
    pub(crate) fn take_blamed(&mut self) -> BTreeMap<PeerId, u32> {
        std::mem::take(&mut self.blamed)
    }

    /// The peers above the rate since the last time, and by how many events.
    pub(crate) fn take_excess(&mut self, now: Instant) -> BTreeMap<PeerId, u32> {
        self.rates.forget_full(now);
        std::mem::take(&mut self.excess)
    }
}

impl<B> Deref for Metered<B> {
    type Target = B;
    fn deref(&self) -> &B {
        &self.inner
    }
}

impl<B> DerefMut for Metered<B> {
    fn deref_mut(&mut self) -> &mut B {
        &mut self.inner
    }
}

impl<B: NetworkBehaviour> NetworkBehaviour for Metered<B> {
    type ConnectionHandler = B::ConnectionHandler;
    type ToSwarm = B::ToSwarm;

    fn handle_pending_inbound_connection(
        &mut self,
        id: ConnectionId,
        local: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<(), ConnectionDenied> {
        self.inner
            .handle_pending_inbound_connection(id, local, remote)
    }

    fn handle_established_inbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        local: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.inner
            .handle_established_inbound_connection(id, peer, local, remote)
    }

    fn handle_pending_outbound_connection(
        &mut self,
        id: ConnectionId,
        peer: Option<PeerId>,
        addresses: &[Multiaddr],
        role: Endpoint,
    ) -> Result<Vec<Multiaddr>, ConnectionDenied> {
        self.inner
            .handle_pending_outbound_connection(id, peer, addresses, role)
    }

    fn handle_established_outbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        address: &Multiaddr,
        role: Endpoint,
        port: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.inner
            .handle_established_outbound_connection(id, peer, address, role, port)
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        self.inner.on_swarm_event(event);
    }

    fn on_connection_handler_event(
        &mut self,
        peer: PeerId,
        id: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        let within = self.rates.take(peer, 1, self.rate, Instant::now());
        if !within {
            let excess = self.excess.entry(peer).or_default();
            *excess = excess.saturating_add(1);
        }
        if within || self.above == Above::Counted {
            self.inner.on_connection_handler_event(peer, id, event);
        }
        // It was refused while the event of this peer was dealt with, and of nobody else's.
        let refused = self.refused.take();
        if refused > 0 {
            let blamed = self.blamed.entry(peer).or_default();
            *blamed = blamed.saturating_add(refused);
        }
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        self.inner.poll(context)
    }
}
