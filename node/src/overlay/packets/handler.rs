//! The streams of one connection.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::task::{Context, Poll};

use libp2p::core::upgrade::ReadyUpgrade;
use libp2p::swarm::handler::{
    ConnectionEvent, DialUpgradeError, FullyNegotiatedInbound, FullyNegotiatedOutbound,
};
use libp2p::swarm::{
    ConnectionHandler, ConnectionHandlerEvent, StreamUpgradeError, SubstreamProtocol,
};
use libp2p::{PeerId, StreamProtocol};
use tokio::sync::mpsc;

use super::{Carries, Packets, Reply};

type Event = ConnectionHandlerEvent<ReadyUpgrade<StreamProtocol>, Reply, Infallible>;

/// See the module.
pub(crate) struct Handler {
    peer: PeerId,
    protocol: StreamProtocol,
    /// Of a direct connection alone.
    incoming: Option<mpsc::Sender<(PeerId, Packets)>>,
    carries: Carries,
    asked: VecDeque<Reply>,
}

impl Handler {
    pub(super) fn new(
        peer: PeerId,
        protocol: StreamProtocol,
        incoming: Option<mpsc::Sender<(PeerId, Packets)>>,
        carries: Carries,
    ) -> Self {
        Self {
            peer,
            protocol,
            incoming,
            carries,
            asked: VecDeque::new(),
        }
    }
}

impl ConnectionHandler for Handler {
    type FromBehaviour = Reply;
    type ToBehaviour = Infallible;
    type InboundProtocol = ReadyUpgrade<StreamProtocol>;
    type OutboundProtocol = ReadyUpgrade<StreamProtocol>;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = Reply;

    fn listen_protocol(&self) -> SubstreamProtocol<Self::InboundProtocol> {
        SubstreamProtocol::new(ReadyUpgrade::new(self.protocol.clone()), ())
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<Event> {
        // The swarm polls again after each event of the behaviour, so nobody has to be woken.
        match self.asked.pop_front() {
            Some(reply) => Poll::Ready(ConnectionHandlerEvent::OutboundSubstreamRequest {
                protocol: SubstreamProtocol::new(ReadyUpgrade::new(self.protocol.clone()), reply),
            }),
            None => Poll::Pending,
        }
    }

    fn on_behaviour_event(&mut self, reply: Reply) {
        self.asked.push_back(reply);
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<
            '_,
            Self::InboundProtocol,
            Self::OutboundProtocol,
            (),
            Self::OutboundOpenInfo,
        >,
    ) {
        let packets = |stream| Packets::new(stream, self.peer, self.carries.clone());
        match event {
            ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound {
                protocol: stream,
                ..
            }) => {
                if let Some(incoming) = &self.incoming {
                    // Dropped if too many wait, which its opener sees.
                    let _full = incoming.try_send((self.peer, packets(stream)));
                }
            }
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound {
                protocol: stream,
                info: reply,
            }) => {
                // The caller may have given up already.
                let _unheard = reply.send(Ok(packets(stream)));
            }
            ConnectionEvent::DialUpgradeError(DialUpgradeError { error, info: reply }) => {
                let error = match error {
                    StreamUpgradeError::Timeout => io::ErrorKind::TimedOut.into(),
                    StreamUpgradeError::NegotiationFailed => io::ErrorKind::Unsupported.into(),
                    StreamUpgradeError::Io(error) => error,
                    StreamUpgradeError::Apply(never) => match never {},
                };
                let _unheard = reply.send(Err(error));
            }
            _ => {}
        }
    }
}
