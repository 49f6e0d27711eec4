//! The lines of one connection.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use libp2p::core::upgrade::ReadyUpgrade;
use libp2p::swarm::handler::{
    ConnectionEvent, DialUpgradeError, FullyNegotiatedInbound, FullyNegotiatedOutbound,
};
use libp2p::swarm::{ConnectionHandler, ConnectionHandlerEvent, SubstreamProtocol};
use libp2p::{Stream, StreamProtocol};
use tokio::sync::{mpsc, oneshot};

use super::writer::Parcel;
use super::{Answer, Id, Line, reader, writer};
use crate::overlay::wire::codec::{Frame, Intake};

type Event = ConnectionHandlerEvent<ReadyUpgrade<StreamProtocol>, Line, News>;
type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the lines of a connection tell.
#[derive(Debug)]
pub(crate) enum News {
    /// See [`super::Event::Came`].
    Came {
        frame: Frame,
        answer: oneshot::Sender<Answer>,
    },
    /// See [`super::Event::Ended`].
    Ended { id: Id, taken: bool },
}

/// An own line.
#[derive(Debug)]
enum Own {
    /// Asked for; these wait until it is open.
    Opening(Vec<Parcel>),
    Open(mpsc::UnboundedSender<Parcel>),
}

/// See the module.
pub(crate) struct Handler {
    protocol: StreamProtocol,
    intake: Intake,
    patience: Duration,
    own: [Option<Own>; Line::COUNT],
    /// Own lines to ask for.
    wanted: VecDeque<Line>,
    writing: FuturesUnordered<Running>,
    reading: FuturesUnordered<Running>,
    /// Lines of the peer beyond those that are read.
    unread: VecDeque<Stream>,
    tell: mpsc::UnboundedSender<News>,
    news: mpsc::UnboundedReceiver<News>,
    /// Own messages that have not ended.
    under_way: usize,
}

impl Handler {
    pub(super) fn new(protocol: StreamProtocol, intake: Intake, patience: Duration) -> Self {
        let (tell, news) = mpsc::unbounded_channel();
        Self {
            protocol,
            intake,
            patience,
            own: [const { None }; Line::COUNT],
            wanted: VecDeque::new(),
            writing: FuturesUnordered::new(),
            reading: FuturesUnordered::new(),
            unread: VecDeque::new(),
            tell,
            news,
            under_way: 0,
        }
    }

    fn send(&mut self, line: Line, parcel: Parcel) {
        let own = &mut self.own[line as usize];
        let unsent = match own {
            Some(Own::Opening(waiting)) => return waiting.push(parcel),
            Some(Own::Open(queue)) => queue.send(parcel).map_err(|unsent| unsent.0),
            None => Err(parcel),
        };
        // There is none, or it has just ended.
        if let Err(parcel) = unsent {
            *own = Some(Own::Opening(vec![parcel]));
            self.wanted.push_back(line);
        }
    }

    fn opened(&mut self, line: Line, mut stream: Stream) {
        stream.ignore_for_keep_alive();
        let (queue, parcels) = mpsc::unbounded_channel();
        if let Some(Own::Opening(waiting)) = self.own[line as usize].take() {
            for parcel in waiting {
                // Its other end is here.
                let _queued = queue.send(parcel);
            }
        }
        self.own[line as usize] = Some(Own::Open(queue));
        let written = writer::write(stream, parcels, self.tell.clone(), self.patience);
        self.writing.push(Box::pin(written));
    }

    fn not_opened(&mut self, line: Line) {
        if let Some(Own::Opening(waiting)) = self.own[line as usize].take() {
            for parcel in waiting {
                let (id, taken) = (parcel.id, false);
                // We hold the other end.
                let _told = self.tell.send(News::Ended { id, taken });
            }
        }
    }

    fn came(&mut self, mut stream: Stream) {
        if self.unread.len() < Line::COUNT {
            stream.ignore_for_keep_alive();
            self.unread.push_back(stream);
        }
    }

    /// Begins with what may be read.
    fn read(&mut self) {
        while self.reading.len() < Line::COUNT
            && let Some(stream) = self.unread.pop_front()
        {
            let intake = self.intake.shared();
            let read = reader::read(stream, intake, self.tell.clone(), self.patience);
            self.reading.push(Box::pin(read));
        }
    }
}

impl ConnectionHandler for Handler {
    type FromBehaviour = (Line, Parcel);
    type ToBehaviour = News;
    type InboundProtocol = ReadyUpgrade<StreamProtocol>;
    type OutboundProtocol = ReadyUpgrade<StreamProtocol>;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = Line;

    fn listen_protocol(&self) -> SubstreamProtocol<Self::InboundProtocol> {
        SubstreamProtocol::new(ReadyUpgrade::new(self.protocol.clone()), ())
    }

    fn connection_keep_alive(&self) -> bool {
        self.under_way > 0
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        while let Poll::Ready(Some(())) = self.writing.poll_next_unpin(context) {}
        self.read();
        while let Poll::Ready(Some(())) = self.reading.poll_next_unpin(context) {
            self.read();
        }
        if let Poll::Ready(Some(news)) = self.news.poll_recv(context) {
            if matches!(news, News::Ended { .. }) {
                self.under_way = self.under_way.saturating_sub(1);
            }
            return Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(news));
        }
        // The swarm polls again after each event of the behaviour, so nobody has to be woken.
        match self.wanted.pop_front() {
            Some(line) => Poll::Ready(ConnectionHandlerEvent::OutboundSubstreamRequest {
                protocol: SubstreamProtocol::new(ReadyUpgrade::new(self.protocol.clone()), line),
            }),
            None => Poll::Pending,
        }
    }

    fn on_behaviour_event(&mut self, (line, parcel): (Line, Parcel)) {
        self.under_way += 1;
        self.send(line, parcel);
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
        match event {
            ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound {
                protocol: stream,
                ..
            }) => self.came(stream),
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound {
                protocol: stream,
                info: line,
            }) => self.opened(line, stream),
            ConnectionEvent::DialUpgradeError(DialUpgradeError { error, info: line }) => {
                tracing::debug!(?line, %error, "no line");
                self.not_opened(line);
            }
            _ => {}
        }
    }
}
