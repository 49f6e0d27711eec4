//! Lines: long-lived streams that carry one-way messages, one for each class of them.
//!
//! 1. The sender opens a line to a peer when it has the first message of a class for it, on the
//!    oldest direct connection, or on the oldest through a relay where there is none. The line
//!    stays until its connection ends or a rule below is broken; then the next message opens
//!    another.
//! 2. Messages of a class arrive in their order. Classes do not wait for one another: a vote does
//!    not stand behind a body.
//! 3. Each message is a frame ([`gridbay_core::frame`]). For each the receiver writes a byte back
//!    on the same stream, in their order: [`TAKEN`] where it waits for the node, [`PASSED_OVER`]
//!    where there was no room for it. What the node does with it is the node's: its core's queue
//!    may be full later, and votes, entries and questions are repeated by their own rules.
//! 4. The receiver reads [`AHEAD`] frames at the most that it has not answered: an overlay that is
//!    behind slows its senders down by the stream's own flow control.
//! 5. A frame that has begun has its time to arrive, and a message its time to be answered
//!    ([`super::Tuning::request`]). A frame that is too large, slow or cut off ends the line, and
//!    so does a byte that answers nothing, and a sender that sends more than it may. A frame for
//!    which others leave no room is read over and answered [`PASSED_OVER`].
//! 6. A peer may have one line for each class open on a connection; what it opens beyond, as many
//!    at the most, is read once one of those has ended, since the receiver may hear late that the
//!    sender has given it up. Open lines alone do not keep a connection.
//! 7. Bytes of frames that kept peers send have a budget that others cannot use up.

mod handler;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    ConnectionClosed, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, NotifyHandler,
    THandler, THandlerInEvent, THandlerOutEvent, ToSwarm,
};
use libp2p::{Multiaddr, PeerId, StreamProtocol};
use tokio::sync::oneshot;

use super::connections::Connections;
use super::wire::codec::{Frame, Intake};
use handler::{Handler, News};
use writer::Parcel;

/// Frames of a line that the receiver reads before it knows whether the first of them is taken.
const AHEAD: usize = 16;
/// Answer to a message that the node has taken.
const TAKEN: u8 = 1;
/// Answer to a message that was thrown away.
const PASSED_OVER: u8 = 0;

/// The classes of one-way messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// Small messages that decide the running height.
    Votes,
    /// Whole blocks.
    Bodies,
    /// Entries on their way to a block, and what is said of them.
    Entries,
    /// Everything else.
    Words,
}

impl Line {
    /// How many there are.
    pub(crate) const COUNT: usize = 4;
}

/// The node's answer to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The node has it.
    Taken,
    /// There was no room for it.
    PassedOver,
    /// Its sender sends more than it may: the line ends.
    TooMuch,
}

/// The number of a message on its way.
pub(crate) type Id = u64;

/// News of lines.
#[derive(Debug)]
pub(crate) enum Event {
    /// A frame came. Its sender hears the answer; without one, that it was passed over.
    Came {
        peer: PeerId,
        frame: Frame,
        answer: oneshot::Sender<Answer>,
    },
    /// A message was taken, or will not be.
    Ended { id: Id, taken: bool },
}

/// The behaviour.
#[derive(Debug)]
pub(crate) struct Behaviour {
    protocol: StreamProtocol,
    intake: Intake,
    /// Of kept peers.
    intake_of_kept: Intake,
    kept: BTreeSet<PeerId>,
    patience: Duration,
    connections: Connections,
    /// Messages on their way, by the connection that carries them.
    under_way: BTreeSet<(ConnectionId, Id)>,
    next: Id,
    actions: VecDeque<ToSwarm<Event, (Line, Parcel)>>,
    waker: Option<Waker>,
}

impl Behaviour {
    /// With the name of its protocol, the bounds of what it reads of kept peers and of others, and
    /// the time that a message has until it is answered.
    pub(crate) fn new(
        protocol: StreamProtocol,
        [intake_of_kept, intake]: [Intake; 2],
        patience: Duration,
    ) -> Self {
        Self {
            protocol,
            intake,
            intake_of_kept,
            kept: BTreeSet::new(),
            patience,
            connections: Connections::default(),
            under_way: BTreeSet::new(),
            next: 0,
            actions: VecDeque::new(),
            waker: None,
        }
    }

    /// Sends a frame to a peer; `None` if there is no connection to it.
    pub(crate) fn send(&mut self, peer: PeerId, line: Line, frame: Arc<[u8]>) -> Option<Id> {
        let connection = self.connections.best(&peer)?;
        let id = self.next;
        self.next += 1;
        self.under_way.insert((connection, id));
        self.act(ToSwarm::NotifyHandler {
            peer_id: peer,
            handler: NotifyHandler::One(connection),
            event: (line, Parcel { id, frame }),
        });
        Some(id)
    }

    /// A peer is kept from its next connection on, or no longer.
    pub(crate) fn keep(&mut self, peer: PeerId, kept: bool) {
        match kept {
            true => self.kept.insert(peer),
            false => self.kept.remove(&peer),
        };
    }

    fn act(&mut self, action: ToSwarm<Event, (Line, Parcel)>) {
        self.actions.push_back(action);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn handler(&self, peer: &PeerId) -> Handler {
        let intake = match self.kept.contains(peer) {
            true => &self.intake_of_kept,
            false => &self.intake,
        };
        let protocol = self.protocol.clone();
        Handler::new(protocol, intake.of_connection(), self.patience)
    }

    fn ended(&mut self, connection: ConnectionId, id: Id, taken: bool) {
        // Once: what its connection's end has taken along is over.
        if self.under_way.remove(&(connection, id)) {
            self.act(ToSwarm::GenerateEvent(Event::Ended { id, taken }));
        }
    }

    fn closed(&mut self, connection: ConnectionId) {
        let own = self
            .under_way
            .range((connection, Id::MIN)..=(connection, Id::MAX));
        let lost: Vec<Id> = own.map(|(_, id)| *id).collect();
        for id in lost {
            self.ended(connection, id, false);
        }
    }
}

impl NetworkBehaviour for Behaviour {
    type ConnectionHandler = Handler;
    type ToSwarm = Event;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(self.handler(&peer))
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(self.handler(&peer))
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        self.connections.hear(&event);
        if let FromSwarm::ConnectionClosed(ConnectionClosed { connection_id, .. }) = event {
            self.closed(connection_id);
        }
    }

    fn on_connection_handler_event(
        &mut self,
        peer: PeerId,
        connection: ConnectionId,
        news: THandlerOutEvent<Self>,
    ) {
        match news {
            News::Came { frame, answer } => {
                let came = Event::Came {
                    peer,
                    frame,
                    answer,
                };
                self.act(ToSwarm::GenerateEvent(came));
            }
            News::Ended { id, taken } => self.ended(connection, id, taken),
        }
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        if let Some(action) = self.actions.pop_front() {
            return Poll::Ready(action);
        }
        self.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
