//! The cloneable handle through which the node uses its overlay.
//!
//! Calls that need no answer never wait: they put a command into the bounded queue or return
//! [`OverlayError::Busy`]. They can be made from any thread, also outside of tokio.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gridbay_protocol::node_record::NodeRecord;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::{mpsc, oneshot, watch};

use super::command::{Command, Found};
use super::error::{LookupError, OverlayError, RequestError, SeekError};
use super::event::{MessageId, RequestId, Verdict};
use super::lines::Line;
use super::packets::{Incoming, Packets};
use super::peers::marks::Mark;
use super::shared::Shared;
use super::stats::{Count, OverlayStats};
use super::view::{PeerInfo, Whereabouts};
use super::wire::gossip;

/// A handle to a running overlay. When the last clone is dropped, the overlay ends.
#[derive(Clone, Debug)]
pub struct OverlayHandle {
    pub(crate) shared: Arc<Shared>,
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) peers: watch::Receiver<Arc<[PeerInfo]>>,
    pub(crate) listening: watch::Receiver<Arc<[Multiaddr]>>,
    pub(crate) whereabouts: watch::Receiver<Whereabouts>,
    pub(crate) incoming: Arc<Mutex<Option<Incoming>>>,
    pub(crate) stop: Arc<watch::Sender<bool>>,
    pub(crate) done: watch::Receiver<bool>,
}

impl OverlayHandle {
    /// This node's transport identity.
    pub fn local_peer(&self) -> PeerId {
        self.shared.local
    }

    /// Addresses on which the node listens, without the peer id.
    pub fn addresses(&self) -> Arc<[Multiaddr]> {
        self.listening.borrow().clone()
    }

    /// How this node is reached.
    pub fn whereabouts(&self) -> Whereabouts {
        self.whereabouts.borrow().clone()
    }

    /// The connected peers of our network.
    pub fn peers(&self) -> Arc<[PeerInfo]> {
        self.peers.borrow().clone()
    }

    /// All counters.
    pub fn stats(&self) -> OverlayStats {
        self.shared.counters.snapshot()
    }

    /// Publishes to everyone on a topic and returns the message's id. Bytes that were published or
    /// received within the last minute are not sent again. That nobody is subscribed yet is no
    /// error; it is counted.
    pub fn publish(&self, topic: &str, bytes: Vec<u8>) -> Result<MessageId, OverlayError> {
        let index = self.shared.topics.iter().position(|t| &*t.name == topic);
        let index = index.ok_or(OverlayError::UnknownTopic)?;
        let topic = &self.shared.topics[index];
        within(bytes.len(), topic.max_bytes)?;
        let id = gossip::message_id(topic.hash.as_str(), &bytes);
        self.submit(Command::Publish {
            topic: index,
            bytes,
        })?;
        Ok(id)
    }

    /// Judges a gossip message; see [`Verdict`]. Due within a few seconds of the event.
    pub fn report(&self, id: MessageId, verdict: Verdict) -> Result<(), OverlayError> {
        self.submit(Command::Report { id, verdict })
    }

    /// Sends a one-way message to a connected peer, behind those of its line. Lost when the peer is
    /// not connected, its connection ends, or it is behind (each counted).
    pub fn send(&self, peer: PeerId, line: Line, bytes: Vec<u8>) -> Result<(), OverlayError> {
        self.send_all(vec![peer], line, bytes)
    }

    /// [`OverlayHandle::send`] of the same bytes to many peers by one command.
    pub fn send_all(
        &self,
        peers: Vec<PeerId>,
        line: Line,
        bytes: Vec<u8>,
    ) -> Result<(), OverlayError> {
        within(bytes.len(), self.shared.limits.max_direct)?;
        self.submit(Command::Send { peers, line, bytes })
    }

    /// Asks a peer and waits for its answer, at most `timeout` (and at most
    /// [`super::Tuning::request`]). One that is not connected is sought first, which may take
    /// seconds. Needs a tokio runtime with a timer.
    pub async fn request(
        &self,
        peer: PeerId,
        bytes: Vec<u8>,
        timeout: Duration,
    ) -> Result<Vec<u8>, RequestError> {
        within(bytes.len(), self.shared.limits.max_request)?;
        let (reply, answer) = oneshot::channel();
        self.submit(Command::Request { peer, bytes, reply })?;
        let timeout = timeout.min(self.shared.tuning.request);
        match tokio::time::timeout(timeout, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(OverlayError::Closed.into()),
            Err(_) => Err(RequestError::Timeout),
        }
    }

    /// Answers a request. A request that is gone by now is counted, not an error.
    pub fn respond(&self, id: RequestId, bytes: Vec<u8>) -> Result<(), OverlayError> {
        within(bytes.len(), self.shared.limits.max_response)?;
        self.submit(Command::Respond {
            id,
            bytes: Some(bytes),
        })
    }

    /// Ends a request without an answer; the asker sees [`RequestError::NoAnswer`].
    pub fn refuse(&self, id: RequestId) -> Result<(), OverlayError> {
        self.submit(Command::Respond { id, bytes: None })
    }

    /// Stays connected to a peer from now on. With no addresses, those learnt are used.
    pub fn keep(&self, peer: PeerId, addresses: Vec<Multiaddr>) -> Result<(), OverlayError> {
        self.submit(Command::Keep { peer, addresses })
    }

    /// Ends [`OverlayHandle::keep`]; an existing connection stays.
    pub fn release(&self, peer: PeerId) -> Result<(), OverlayError> {
        self.submit(Command::Release { peer })
    }

    /// Of the kept peers these rest from now on, and no others: they are dialled only where peers
    /// are lacking, and their connections may be given up. All else holds that holds for kept ones.
    pub fn rest(&self, peers: BTreeSet<PeerId>) -> Result<(), OverlayError> {
        if *self.resting() != peers {
            let command = Command::Rest {
                peers: peers.clone(),
            };
            self.submit(command)?;
            *self.resting() = peers;
        }
        Ok(())
    }

    /// Whether a peer rests.
    pub fn rests(&self, peer: &PeerId) -> bool {
        self.resting().contains(peer)
    }

    fn resting(&self) -> MutexGuard<'_, BTreeSet<PeerId>> {
        let resting = self.shared.resting.lock();
        resting.unwrap_or_else(PoisonError::into_inner)
    }

    /// Tries to connect to a peer once; success is a `PeerConnected` event.
    pub fn dial(&self, peer: PeerId, addresses: Vec<Multiaddr>) -> Result<(), OverlayError> {
        self.submit(Command::Dial { peer, addresses })
    }

    /// The peers closest to a key that the DHT knows, up to 20; empty when the node is alone or
    /// busy.
    pub async fn find(&self, key: [u8; 32]) -> Result<Found, OverlayError> {
        let (reply, found) = oneshot::channel();
        self.submit(Command::Find { key, reply })?;
        Ok(found.await.unwrap_or_default())
    }

    /// Connects to a peer, wherever it is: at the addresses given, at known ones, then where its
    /// record in the DHT says. Takes up to 20 s.
    pub async fn connect(&self, peer: PeerId, addresses: Vec<Multiaddr>) -> Result<(), SeekError> {
        let (reply, sought) = oneshot::channel();
        self.submit(Command::Connect {
            peer,
            addresses,
            reply,
        })?;
        sought.await.unwrap_or(Err(OverlayError::Closed.into()))
    }

    /// Dials a peer at its known addresses though it may be connected through a relay; success
    /// shows in [`OverlayHandle::peers`].
    ///
    /// # Errors
    /// `Busy`, `Closed`.
    pub fn dial_direct(&self, peer: PeerId) -> Result<(), OverlayError> {
        self.submit(Command::DialDirect { peer })
    }

    /// Opens a stream of datagrams to a peer that is connected directly.
    ///
    /// # Errors
    /// `NotConnected` if it is not, `Unsupported` if it takes none, `ResourceBusy` if too much is
    /// under way, and those of the connection.
    pub async fn packets(&self, peer: PeerId) -> io::Result<Packets> {
        let (reply, stream) = oneshot::channel();
        let asked = self.submit(Command::Packets { peer, reply });
        asked.map_err(|error| match error {
            OverlayError::Busy => io::ErrorKind::ResourceBusy,
            _ => io::ErrorKind::NotConnected,
        })?;
        let closed = Err(io::ErrorKind::NotConnected.into());
        stream.await.unwrap_or(closed)
    }

    /// The streams of datagrams that others open; whoever asks first has them.
    pub fn incoming_packets(&self) -> Option<Incoming> {
        let incoming = self.incoming.lock();
        incoming.unwrap_or_else(PoisonError::into_inner).take()
    }

    /// One round trip to a peer, measured. It answers by itself, however busy its node is. One that
    /// is not connected is sought first, which counts.
    pub async fn ping(&self, peer: PeerId, timeout: Duration) -> Result<Duration, RequestError> {
        let begin = Instant::now();
        self.request(peer, Vec::new(), timeout).await?;
        Ok(begin.elapsed())
    }

    /// A node's record in the DHT, checked. Takes up to 30 s.
    pub async fn record(&self, peer: PeerId) -> Result<NodeRecord, LookupError> {
        let (reply, record) = oneshot::channel();
        self.submit(Command::Record { peer, reply })?;
        record.await.unwrap_or(Err(OverlayError::Busy.into()))
    }

    /// Sets or takes back the owner's mark on a peer. It lasts as long as this run.
    pub fn mark(&self, peer: PeerId, mark: Option<Mark>) -> Result<(), OverlayError> {
        self.submit(Command::Mark { peer, mark })
    }

    /// Says in the DHT that this node provides something: `kind` is what sort of thing, `name`
    /// which.
    pub fn provide(&self, kind: &str, name: &[u8]) -> Result<(), OverlayError> {
        let key = self.shared.rendezvous(kind, name);
        self.submit(Command::Provide { key })
    }

    /// The nodes that announce in the DHT that they provide something, up to 64.
    pub async fn providers(&self, kind: &str, name: &[u8]) -> Result<Vec<PeerId>, OverlayError> {
        let (reply, providers) = oneshot::channel();
        let key = self.shared.rendezvous(kind, name);
        self.submit(Command::Providers { key, reply })?;
        Ok(providers.await.unwrap_or_default())
    }

    /// Peers that were connected in this run, with addresses: to begin with next time.
    pub async fn known(&self) -> Result<Found, OverlayError> {
        let (reply, known) = oneshot::channel();
        self.submit(Command::Known { reply })?;
        Ok(known.await.unwrap_or_default())
    }

    /// Takes points (0 to 1000) off a peer's score, e.g. for a bad answer. They fade.
    pub fn penalise(&self, peer: PeerId, points: f64) -> Result<(), OverlayError> {
        self.submit(Command::Penalise { peer, points })
    }

    /// Disconnects a peer and refuses it for a time.
    pub fn ban(&self, peer: PeerId, time: Duration) -> Result<(), OverlayError> {
        self.submit(Command::Ban { peer, time })
    }

    /// Ends the overlay: listeners and connections are closed, in order where peers go along.
    /// Returns when the task has ended and its ports are free, after one second at the latest; then
    /// a QUIC port may be held for another three by the transport, which [`super::start`] waits
    /// out.
    pub async fn shutdown(&self) {
        self.stop.send_replace(true);
        // An error means that the task is gone, which is what we wait for.
        let mut done = self.done.clone();
        let _ended = done.wait_for(|done| *done).await;
    }

    fn submit(&self, command: Command) -> Result<(), OverlayError> {
        self.commands
            .try_send(command)
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => {
                    self.shared.counters.count(Count::CommandsBusy);
                    OverlayError::Busy
                }
                mpsc::error::TrySendError::Closed(_) => OverlayError::Closed,
            })
    }
}

fn within(size: usize, cap: usize) -> Result<(), OverlayError> {
    if size > cap {
        Err(OverlayError::TooLarge { size, cap })
    } else {
        Ok(())
    }
}
