//! The node's statements about itself: each peer is told only the addresses that it could use.
//!
//! Left to itself identify tells everybody all addresses of all our interfaces, or, told to hide
//! them, nobody any. Here each connection is told its own choice ([`is_of_use`]): addresses at
//! which others have reached us, and those of our interfaces, if they are of the Internet or in the
//! range in which the peer is itself. Identify answers as soon as it is asked, before we can know
//! of which network the peer is: then it hears the network's id, which is no secret, and
//! addresses that lead where it already is or that everybody may dial.

use std::collections::{HashMap, HashSet};
use std::task::{Context, Poll};

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::behaviour::ConnectionClosed;
use libp2p::swarm::{
    ConnectionDenied, ConnectionHandler, ConnectionId, FromSwarm, ListenAddresses,
    NetworkBehaviour, NotifyHandler, THandler, THandlerInEvent, THandlerOutEvent, ToSwarm,
};
use libp2p::{Multiaddr, PeerId, identify};

use super::addresses::{is_circuit, is_of_use};

type Order = THandlerInEvent<identify::Behaviour>;

/// Identify, restricted to what each peer could use.
pub(crate) struct Discreet {
    inner: identify::Behaviour,
    listen: ListenAddresses,
    /// Addresses at which others have reached us, as identify told them last.
    reached: HashSet<Multiaddr>,
    /// Where the other end of each connection is.
    seen: HashMap<ConnectionId, Multiaddr>,
}

impl Discreet {
    /// Around a behaviour that hides the addresses on which we listen.
    pub(crate) fn new(inner: identify::Behaviour) -> Self {
        Self {
            inner,
            listen: ListenAddresses::default(),
            reached: HashSet::new(),
            seen: HashMap::new(),
        }
    }

    /// The addresses told to a peer at `seen`. Everybody can use circuits.
    fn told(&self, seen: &Multiaddr) -> HashSet<Multiaddr> {
        let own = self.reached.iter().chain(self.listen.iter());
        own.filter(|own| is_circuit(own) || is_of_use(own, seen))
            .cloned()
            .collect()
    }

    fn greet(
        &mut self,
        id: ConnectionId,
        seen: &Multiaddr,
        mut handler: THandler<Self>,
    ) -> THandler<Self> {
        self.seen.insert(id, seen.clone());
        handler.on_behaviour_event(Order::AddressesChanged(self.told(seen)));
        handler
    }
}

impl NetworkBehaviour for Discreet {
    type ConnectionHandler = <identify::Behaviour as NetworkBehaviour>::ConnectionHandler;
    type ToSwarm = identify::Event;

    fn handle_established_inbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        local: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        let inner = &mut self.inner;
        let handler = inner.handle_established_inbound_connection(id, peer, local, remote)?;
        Ok(self.greet(id, remote, handler))
    }

    fn handle_established_outbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        address: &Multiaddr,
        role: Endpoint,
        port: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        let inner = &mut self.inner;
        let handler =
            inner.handle_established_outbound_connection(id, peer, address, role, port)?;
        Ok(self.greet(id, address, handler))
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

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        self.listen.on_swarm_event(&event);
        match &event {
            FromSwarm::ExternalAddrConfirmed(confirmed) => {
                self.reached.insert(confirmed.addr.clone());
            }
            FromSwarm::ExternalAddrExpired(expired) => {
                self.reached.remove(expired.addr);
            }
            FromSwarm::ConnectionClosed(ConnectionClosed { connection_id, .. }) => {
                self.seen.remove(connection_id);
            }
            _ => {}
        }
        self.inner.on_swarm_event(event);
    }

    fn on_connection_handler_event(
        &mut self,
        peer: PeerId,
        id: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        self.inner.on_connection_handler_event(peer, id, event);
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        let event = std::task::ready!(self.inner.poll(context));
        // Identify tells every connection of a change, each by itself.
        Poll::Ready(match event {
            ToSwarm::NotifyHandler {
                peer_id,
                handler: NotifyHandler::One(id),
                event: Order::AddressesChanged(_),
            } => {
                let told = self.seen.get(&id).map(|seen| self.told(seen));
                ToSwarm::NotifyHandler {
                    peer_id,
                    handler: NotifyHandler::One(id),
                    event: Order::AddressesChanged(told.unwrap_or_default()),
                }
            }
            other => other,
        })
    }
}
