//! A meter for every protocol that a peer can speak to this node.
//!
//! 1. For every request a peer opens a stream and names a protocol. So all requests are counted in
//!    one place: under the protocols, around the multiplexer of each connection. [`Meters`] has a
//!    row for each protocol that this node answers to. The agreed one is seen in this node's own
//!    answer, since a peer may first propose others.
//! 2. A peer may open so many streams of a protocol. A further one is cut off before the protocol's
//!    own code sees it.
//! 3. Where one stream carries message after message that nobody else counts, its bytes are counted
//!    too.
//! 4. *Junk* leads to nothing: a proposal that this node refuses, or a stream that ends before
//!    anything was agreed on.
//! 5. Of streams that have named no protocol yet a peer has a few at a time ([`super::mute`]).
//! 6. [`Meters::take_excess`] tells the streams cut off, by peer; they cost score (`flood`).
//!    Streams that a relay opens on others' orders are told apart, because strangers could have it
//!    blamed.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use futures::{AsyncRead, AsyncWrite};
use libp2p::PeerId;
use libp2p::core::muxing::{StreamMuxer, StreamMuxerBox, StreamMuxerEvent, SubstreamBox};

use super::mute::{MuteStreams, Place};
use super::rates::{Rate, Rates};
use crate::overlay::config::Quotas;
use crate::overlay::names::Names;

/// The first line of a negotiation, in both directions.
const HEADER: &[u8] = b"/multistream/1.0.0";
/// Row of what comes to nothing.
const JUNK: usize = 0;

/// The meter of a protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeteredProtocol {
    /// Its name; none for what comes to nothing.
    pub name: String,
    /// Streams that one peer may open.
    pub streams: Rate,
    /// Bytes that it may send on them, where nobody else counts what comes on one.
    pub bytes: Option<Rate>,
    /// Whether a relay opens its streams on others' orders.
    pub by_order: bool,
}

/// The streams of a peer that were cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Excess {
    /// Streams and bytes of its own.
    pub(crate) own: u32,
    /// Streams that relays open on others' orders.
    pub(crate) by_order: u32,
}

/// All rows. The name of the first is of no protocol.
fn rows(names: &Names, quotas: &Quotas) -> Vec<MeteredProtocol> {
    let row = |name: &str, streams: Rate, bytes: Option<Rate>| MeteredProtocol {
        name: name.to_owned(),
        streams,
        bytes,
        by_order: false,
    };
    // Streams whose messages the node itself counts are cut off here only far above that.
    let beyond = |rate: Rate| {
        let twice = |n: u32| n.saturating_mul(2);
        Rate::new(twice(rate.per_second), twice(rate.burst))
    };
    let mut rows = vec![
        row("", Rate::new(4, 128), None),
        row("/ipfs/id/1.0.0", quotas.greetings, None),
        row("/ipfs/id/push/1.0.0", quotas.greetings, None),
        // A ping has 32 bytes, and all of them may go over one stream.
        row(
            "/ipfs/ping/1.0.0",
            Rate::new(1, 16),
            Some(Rate::new(128, 4096)),
        ),
        row(names.kad().as_ref(), beyond(quotas.dht), None),
        row(names.request().as_ref(), beyond(quotas.requests), None),
        // One for each class of messages; a bad frame ends it, and the next one opens another.
        row(names.lines().as_ref(), Rate::new(4, 128), None),
        // One at a time for the data planes of two nodes; datagrams are bounded by what carries
        // them, and thrown away by the data plane's own checks.
        row(names.packets().as_ref(), Rate::new(1, 16), None),
        row("/libp2p/circuit/relay/0.2.0/hop", Rate::new(4, 64), None),
        // A relay opens one for everybody who comes to us through it.
        MeteredProtocol {
            by_order: true,
            ..row("/libp2p/circuit/relay/0.2.0/stop", Rate::new(16, 256), None)
        },
        row("/libp2p/dcutr", Rate::new(1, 16), None),
        row("/libp2p/autonat/2/dial-request", Rate::new(1, 64), None),
        row("/libp2p/autonat/2/dial-back", Rate::new(1, 64), None),
    ];
    let gossip = ["1.3.0", "1.2.0", "1.1.0", "1.0.0"].map(|version| {
        let name = format!("{}/{version}", names.gossip());
        row(&name, Rate::new(1, 16), Some(quotas.gossip_bytes))
    });
    rows.extend(gossip);
    rows
}

/// All meters, in the network with this id and with the usual quotas.
pub fn metered_protocols(network: &[u8; 32]) -> Vec<MeteredProtocol> {
    rows(&Names::new(network), &Quotas::default())
}

#[derive(Debug)]
struct Counted {
    /// By peer, row, and whether it is of bytes.
    rates: Rates<(PeerId, usize, bool)>,
    excess: BTreeMap<PeerId, Excess>,
}

impl Counted {
    fn cut(&mut self, peer: PeerId, by_order: bool) {
        let excess = self.excess.entry(peer).or_default();
        let excess = if by_order {
            &mut excess.by_order
        } else {
            &mut excess.own
        };
        *excess = excess.saturating_add(1);
    }
}

/// The meters of all peers.
#[derive(Clone, Debug)]
pub(crate) struct Meters {
    rows: Arc<[MeteredProtocol]>,
    counted: Arc<Mutex<Counted>>,
    mute: MuteStreams,
}

impl Meters {
    /// For so many connections at the most.
    pub(crate) fn new(names: &Names, quotas: &Quotas, connections: usize) -> Self {
        let rows: Arc<[MeteredProtocol]> = rows(names, quotas).into();
        let counted = Counted {
            rates: Rates::new(connections.saturating_mul(rows.len())),
            excess: BTreeMap::new(),
        };
        Self {
            rows,
            counted: Arc::new(Mutex::new(counted)),
            mute: MuteStreams::default(),
        }
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The streams of each peer that were cut off since the last call.
    pub(crate) fn take_excess(&self, now: Instant) -> BTreeMap<PeerId, Excess> {
        let mut counted = self.counted();
        counted.rates.forget_full(now);
        std::mem::take(&mut counted.excess)
    }

    /// The row of a protocol.
    fn row_of(&self, name: &[u8]) -> Option<usize> {
        let found = self.rows.iter().position(|row| row.name.as_bytes() == name);
        found.filter(|row| *row != JUNK)
    }

    fn may(&self, peer: PeerId, row: usize, bytes: Option<usize>) -> bool {
        let (tokens, rate) = match (bytes, self.rows[row].bytes) {
            (None, _) => (1, self.rows[row].streams),
            (Some(_), None) => return true,
            (Some(n), Some(rate)) => (u32::try_from(n).unwrap_or(u32::MAX), rate),
        };
        let mut counted = self.counted();
        let key = (peer, row, bytes.is_some());
        let may = counted.rates.take(key, tokens, rate, Instant::now());
        if !may {
            counted.cut(peer, self.rows[row].by_order);
        }
        may
    }

    /// A place for one more mute stream of a peer, if it may have one.
    fn mute(&self, peer: PeerId) -> Option<Place> {
        let place = self.mute.place(peer);
        if place.is_none() {
            self.counted().cut(peer, false);
        }
        place
    }

    /// The multiplexer of a connection with a peer, metered.
    pub(crate) fn around(&self, peer: PeerId, muxer: StreamMuxerBox) -> StreamMuxerBox {
        StreamMuxerBox::new(Muxer {
            inner: muxer,
            peer,
            meters: self.clone(),
        })
    }
}

/// A multiplexer whose inbound streams are metered.
struct Muxer {
    inner: StreamMuxerBox,
    peer: PeerId,
    meters: Meters,
}

impl StreamMuxer for Muxer {
    type Substream = Stream;
    type Error = io::Error;

    fn poll_inbound(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Stream, io::Error>> {
        let inbound = Pin::new(&mut self.inner).poll_inbound(context);
        inbound.map_ok(|inner| Stream {
            inner,
            peer: self.peer,
            meters: self.meters.clone(),
            state: match self.meters.mute(self.peer) {
                Some(_place) => State::Negotiating {
                    answered: Vec::new(),
                    _place,
                },
                None => State::Cut,
            },
            ahead: 0,
        })
    }

    fn poll_outbound(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Stream, io::Error>> {
        let outbound = Pin::new(&mut self.inner).poll_outbound(context);
        outbound.map_ok(|inner| Stream {
            inner,
            peer: self.peer,
            meters: self.meters.clone(),
            state: State::Ours,
            ahead: 0,
        })
    }

    fn poll_close(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), io::Error>> {
        Pin::new(&mut self.inner).poll_close(context)
    }

    fn poll(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<StreamMuxerEvent, io::Error>> {
        Pin::new(&mut self.inner).poll(context)
    }
}

/// How far a stream is.
#[derive(Debug)]
enum State {
    /// We opened it, and decide ourselves how much that is.
    Ours,
    /// Nothing is agreed on yet.
    Negotiating {
        /// The part answered so far of an unfinished line.
        answered: Vec<u8>,
        /// Its place among mute streams, given back when this ends.
        _place: Place,
    },
    /// The protocol of this row is spoken.
    Speaks(usize),
    /// It was cut off.
    Cut,
}

/// A metered stream.
struct Stream {
    inner: SubstreamBox,
    peer: PeerId,
    meters: Meters,
    state: State,
    /// Bytes at the front of what is written next that have been looked at: a write may have to be
    /// tried again.
    ahead: usize,
}

/// Takes the first whole line (its length as a varint, then so many bytes, the last a line feed)
/// off what we have answered.
fn take_line(answered: &mut Vec<u8>) -> Option<Vec<u8>> {
    let ends = answered.iter().take(3).position(|byte| byte & 0x80 == 0)?;
    let head = answered[..=ends].iter().enumerate();
    let length = head.fold(0, |sum, (i, byte)| {
        sum | usize::from(byte & 0x7f) << (7 * i)
    });
    let whole = ends + 1 + length;
    if answered.len() < whole {
        return None;
    }
    let mut line: Vec<u8> = answered.drain(..whole).skip(ends + 1).collect();
    line.pop();
    Some(line)
}

impl Stream {
    /// Takes this node's next answer while nothing is agreed on. Returns whether it may be sent.
    fn answer(&mut self, bytes: &[u8]) -> bool {
        let State::Negotiating { answered, .. } = &mut self.state else {
            return true;
        };
        answered.extend_from_slice(bytes);
        while let Some(line) = take_line(answered) {
            if line == HEADER {
                continue;
            }
            let agreed = self.meters.row_of(&line);
            if !self.meters.may(self.peer, agreed.unwrap_or(JUNK), None) {
                self.state = State::Cut;
                return false;
            }
            if let Some(row) = agreed {
                self.state = State::Speaks(row);
                return true;
            }
        }
        true
    }

    fn cut() -> io::Error {
        io::Error::new(io::ErrorKind::ConnectionAborted, "more than a peer may")
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if matches!(self.state, State::Negotiating { .. }) {
            self.meters.may(self.peer, JUNK, None);
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if matches!(self.state, State::Cut) {
            return Poll::Ready(Err(Self::cut()));
        }
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        if let (Poll::Ready(Ok(n)), State::Speaks(row)) = (&read, &self.state)
            && !self.meters.may(self.peer, *row, Some(*n))
        {
            self.state = State::Cut;
            return Poll::Ready(Err(Self::cut()));
        }
        read
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        if matches!(self.state, State::Cut) {
            return Poll::Ready(Err(Self::cut()));
        }
        if !matches!(self.state, State::Negotiating { .. }) {
            return Pin::new(&mut self.inner).poll_write(context, buffer);
        }
        // The protocol's own code begins when the answer is on its way, so a peer that is cut off
        // gets none.
        let fresh = buffer.get(self.ahead..).unwrap_or_default();
        self.ahead += fresh.len();
        if !self.answer(fresh) {
            return Poll::Ready(Err(Self::cut()));
        }
        let written = Pin::new(&mut self.inner).poll_write(context, buffer);
        if let Poll::Ready(Ok(n)) = &written {
            self.ahead = self.ahead.saturating_sub(*n);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_close(context)
    }
}

#[cfg(test)]
mod tests;
