//! Addresses at which peers see us, handed to those who test them.
//!
//! Identify offers an observed address with the port changed to one of ours whenever it is none of
//! ours. Behind a NAT that gives us another port outside, that is an address that nobody answers
//! at. This node knows better: all its dials leave from the ports on which it listens, so a dialled
//! peer sees the mapping itself. AutoNAT tests it, and hole punching tells it to the other side.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::task::{Context, Poll, Waker};

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler, THandlerInEvent,
    THandlerOutEvent, ToSwarm, dummy,
};
use libp2p::{Multiaddr, PeerId};

/// Addresses waiting to be handed on at the most.
const QUEUE: usize = 64;

/// The behaviour.
#[derive(Debug, Default)]
pub(crate) struct Behaviour {
    queue: VecDeque<Multiaddr>,
    waker: Option<Waker>,
}

impl Behaviour {
    /// Hands on an address at which a peer that we dialled sees us.
    pub(crate) fn suggest(&mut self, address: Multiaddr) {
        if self.queue.len() < QUEUE && !self.queue.contains(&address) {
            self.queue.push_back(address);
            if let Some(waker) = self.waker.take() {
                waker.wake();
            }
        }
    }
}

impl NetworkBehaviour for Behaviour {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Infallible;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(dummy::ConnectionHandler)
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(dummy::ConnectionHandler)
    }

    fn on_swarm_event(&mut self, _: FromSwarm<'_>) {}

    fn on_connection_handler_event(
        &mut self,
        _: PeerId,
        _: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        match event {}
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        if let Some(address) = self.queue.pop_front() {
            return Poll::Ready(ToSwarm::NewExternalAddrCandidate(address));
        }
        self.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
