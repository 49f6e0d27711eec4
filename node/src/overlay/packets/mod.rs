//! Streams that carry datagrams between this node's data plane and another's, where no datagram
//! passes.
//!
//! 1. A stream is opened on a direct connection alone: a circuit's relay carries a bounded number
//!    of bytes, and is paid by nobody.
//! 2. A stream that another node opened goes to whoever took [`Incoming`], who decides on it; while
//!    [`UNDECIDED`] of them wait, further ones are dropped.
//! 3. A connection with a stream that is held is in use: it is closed neither for room nor as a
//!    double ([`Carries`]).
//! 4. What stands on a stream is in [`frames`].

mod frames;
mod handler;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, NotifyHandler, THandler,
    THandlerInEvent, THandlerOutEvent, ToSwarm,
};
use libp2p::{Multiaddr, PeerId, StreamProtocol};
use tokio::sync::{mpsc, oneshot};

pub use frames::{DATAGRAM_BYTES, Packets, Receiving, Sending};
use handler::Handler;

use super::connections::Connections;
use super::reach::addresses::is_circuit;

/// Streams of others that nobody has taken yet, at the most.
pub(crate) const UNDECIDED: usize = 16;
/// Own streams that are asked for and not handed to a connection yet, at the most.
const ASKED: usize = 64;

/// Streams that others have opened, with their openers.
pub type Incoming = mpsc::Receiver<(PeerId, Packets)>;
/// Where a stream goes that was asked for.
pub(crate) type Reply = oneshot::Sender<io::Result<Packets>>;

/// The peers with which datagrams are carried, and over how many streams.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carries(Arc<Mutex<BTreeMap<PeerId, usize>>>);

impl Carries {
    fn all(&self) -> MutexGuard<'_, BTreeMap<PeerId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more until what is returned is dropped.
    fn hold(&self, peer: PeerId) -> Held {
        *self.all().entry(peer).or_default() += 1;
        Held(self.clone(), peer)
    }
}

/// A stream that counts.
#[derive(Debug)]
struct Held(Carries, PeerId);

impl Drop for Held {
    fn drop(&mut self) {
        let mut all = self.0.all();
        if let Some(streams) = all.get_mut(&self.1) {
            *streams -= 1;
            if *streams == 0 {
                all.remove(&self.1);
            }
        }
    }
}

/// The behaviour.
#[derive(Debug)]
pub(crate) struct Behaviour {
    protocol: StreamProtocol,
    incoming: mpsc::Sender<(PeerId, Packets)>,
    carries: Carries,
    connections: Connections,
    asked: VecDeque<(PeerId, ConnectionId, Reply)>,
    waker: Option<Waker>,
}

impl Behaviour {
    /// With the name of its protocol; and the streams that others open.
    pub(crate) fn new(protocol: StreamProtocol) -> (Self, Incoming) {
        let (incoming, taken) = mpsc::channel(UNDECIDED);
        let behaviour = Self {
            protocol,
            incoming,
            carries: Carries::default(),
            connections: Connections::default(),
            asked: VecDeque::new(),
            waker: None,
        };
        (behaviour, taken)
    }

    /// Whether datagrams are carried with a peer.
    pub(crate) fn carries(&self, peer: &PeerId) -> bool {
        self.carries.all().contains_key(peer)
    }

    /// Opens a stream on the oldest direct connection to a peer.
    pub(crate) fn open(&mut self, peer: PeerId, reply: Reply) {
        let connection = self.connections.direct(&peer);
        let full = self.asked.len() == ASKED;
        match connection.filter(|_| !full) {
            Some(connection) => {
                self.asked.push_back((peer, connection, reply));
                if let Some(waker) = self.waker.take() {
                    waker.wake();
                }
            }
            None => {
                let kind = match full {
                    true => io::ErrorKind::ResourceBusy,
                    false => io::ErrorKind::NotConnected,
                };
                // The caller may have given up already.
                let _unheard = reply.send(Err(kind.into()));
            }
        }
    }

    fn handler(&self, peer: PeerId, is_direct: bool) -> Handler {
        let (protocol, carries) = (self.protocol.clone(), self.carries.clone());
        let incoming = is_direct.then(|| self.incoming.clone());
        Handler::new(peer, protocol, incoming, carries)
    }
}

impl NetworkBehaviour for Behaviour {
    type ConnectionHandler = Handler;
    type ToSwarm = std::convert::Infallible;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        peer: PeerId,
        local: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(self.handler(peer, !is_circuit(local) && !is_circuit(remote)))
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        peer: PeerId,
        address: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(self.handler(peer, !is_circuit(address)))
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        self.connections.hear(&event);
    }

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
        if let Some((peer_id, connection, reply)) = self.asked.pop_front() {
            return Poll::Ready(ToSwarm::NotifyHandler {
                peer_id,
                handler: NotifyHandler::One(connection),
                event: reply,
            });
        }
        self.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
