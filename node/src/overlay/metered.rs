//! A behaviour that hears no more of one peer than a rate allows.
//!
//! Gossip and the DHT deal with most of what comes in by themselves: duplicates, greetings, questions. None of that reaches the
//! node, and all of it costs time of the one task. So what a connection hands up is counted for its peer, whatever it is, and what
//! is above the rate is dropped before the behaviour looks into it. What was dropped is told by [`Metered::take_refused`].

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

/// The behaviour `B`, metered.
pub(crate) struct Metered<B> {
    inner: B,
    rate: Rate,
    rates: Rates<PeerId>,
    refused: BTreeMap<PeerId, u32>,
}

impl<B> Metered<B> {
    /// For so many connections at the most.
    pub(crate) fn new(inner: B, rate: Rate, connections: usize) -> Self {
        Self {
            inner,
            rate,
            rates: Rates::new(connections),
            refused: BTreeMap::new(),
        }
    }

    /// Whose events were dropped since the last time, and how many.
    pub(crate) fn take_refused(&mut self, now: Instant) -> BTreeMap<PeerId, u32> {
        self.rates.forget_full(now);
        std::mem::take(&mut self.refused)
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
        if self.rates.take(peer, 1, self.rate, Instant::now()) {
            self.inner.on_connection_handler_event(peer, id, event);
        } else {
            let refused = self.refused.entry(peer).or_default();
            *refused = refused.saturating_add(1);
        }
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        self.inner.poll(context)
    }
}
