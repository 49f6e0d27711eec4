//! What stands on a stream: datagrams, each behind its length.
//!
//! ```text
//! length, 2 bytes, the higher one first | datagram
//! ```
//!
//! 1. An empty datagram, or one of more than [`DATAGRAM_BYTES`], ends the stream.
//! 2. The writer collects up to [`BATCH`] bytes and then hands them over at once. It waits for the
//!    peer: whoever feeds it drops what comes meanwhile, as on any slow link.
//! 3. The reader has as much memory as one batch, whatever its peer sends.

use std::io;
use std::ops::Range;

use futures::io::{ReadHalf, WriteHalf};
use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use libp2p::PeerId;

use super::{Carries, Held};

/// Bytes of a datagram at the most: those of the longest packet that ways are tried with, what
/// sealing adds, and a ticket.
pub const DATAGRAM_BYTES: usize = 9_216;
/// Bytes that are handed over at once.
const BATCH: usize = 64 << 10;
const HEAD: usize = 2;

/// A stream of datagrams with a peer.
#[derive(Debug)]
pub struct Packets<S = libp2p::Stream> {
    stream: S,
    peer: PeerId,
    carries: Carries,
}

/// The end that is read. Dropping both ends closes the stream.
#[derive(Debug)]
pub struct Receiving<S = libp2p::Stream> {
    half: ReadHalf<S>,
    buffer: Box<[u8]>,
    /// What was read and not taken yet.
    whole: Range<usize>,
    _held: Held,
}

/// The end that is written.
#[derive(Debug)]
pub struct Sending<S = libp2p::Stream> {
    half: WriteHalf<S>,
    batch: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Packets<S> {
    pub(super) fn new(stream: S, peer: PeerId, carries: Carries) -> Self {
        Self {
            stream,
            peer,
            carries,
        }
    }

    /// Reads so many bytes that stand before all datagrams.
    ///
    /// # Errors
    /// The stream ended.
    pub async fn read_head<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut head = [0; N];
        self.stream.read_exact(&mut head).await?;
        Ok(head)
    }

    /// Writes bytes that stand before all datagrams.
    ///
    /// # Errors
    /// The stream ended.
    pub async fn write_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.stream.write_all(head).await?;
        self.stream.flush().await
    }

    /// Begins with the datagrams; the connection is in use from now on.
    pub fn split(self) -> (Receiving<S>, Sending<S>) {
        let held = self.carries.hold(self.peer);
        let (read, write) = self.stream.split();
        let receiving = Receiving {
            half: read,
            buffer: vec![0; BATCH].into(),
            whole: 0..0,
            _held: held,
        };
        let sending = Sending {
            half: write,
            batch: Vec::new(),
        };
        (receiving, sending)
    }
}

impl<S: AsyncRead + Unpin> Receiving<S> {
    /// The next datagram; waits for it, and can be given up and called again.
    ///
    /// # Errors
    /// `InvalidData` for what is no datagram; `UnexpectedEof` at the end.
    pub async fn next(&mut self) -> io::Result<&[u8]> {
        loop {
            if let Some(datagram) = first(&self.buffer[self.whole.clone()])? {
                let from = self.whole.start + HEAD;
                let to = from + datagram;
                self.whole.start = to;
                return Ok(&self.buffer[from..to]);
            }
            self.buffer.copy_within(self.whole.clone(), 0);
            self.whole = 0..self.whole.len();
            let read = self.half.read(&mut self.buffer[self.whole.end..]).await?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.whole.end += read;
        }
    }
}

/// Bytes of the datagram that stands at the front, once all of it is there.
fn first(bytes: &[u8]) -> io::Result<Option<usize>> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else {
        return Ok(None);
    };
    let length = usize::from(u16::from_be_bytes(*head));
    if length == 0 || length > DATAGRAM_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((rest.len() >= length).then_some(length))
}

impl<S: AsyncWrite + Unpin> Sending<S> {
    /// Takes a datagram into the batch; false if there is no room, or it is none that may pass.
    pub fn push(&mut self, datagram: &[u8]) -> bool {
        let fits = self.has_room() && !datagram.is_empty() && datagram.len() <= DATAGRAM_BYTES;
        if let Ok(length) = u16::try_from(datagram.len())
            && fits
        {
            self.batch.extend(length.to_be_bytes());
            self.batch.extend(datagram);
        }
        fits
    }

    /// Whether any datagram still fits into the batch.
    pub fn has_room(&self) -> bool {
        self.batch.len() + HEAD + DATAGRAM_BYTES <= BATCH
    }

    /// Hands the batch over, and waits until the connection has taken it.
    ///
    /// # Errors
    /// The stream ended.
    pub async fn flush(&mut self) -> io::Result<()> {
        self.half.write_all(&self.batch).await?;
        self.batch.clear();
        self.half.flush().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::io::Cursor;

    fn packets<S: AsyncRead + AsyncWrite + Unpin>(stream: S) -> Packets<S> {
        Packets::new(stream, PeerId::random(), Carries::default())
    }

    /// The datagrams that stand in these bytes, and how reading them ends.
    async fn read(bytes: Vec<u8>) -> (Vec<Vec<u8>>, io::ErrorKind) {
        let (mut receiving, _sending) = packets(Cursor::new(bytes)).split();
        let mut all = Vec::new();
        loop {
            match receiving.next().await {
                Ok(datagram) => all.push(datagram.to_vec()),
                Err(error) => return (all, error.kind()),
            }
        }
    }

    fn framed(datagrams: &[&[u8]]) -> Vec<u8> {
        let frame = |d: &&[u8]| [&(d.len() as u16).to_be_bytes()[..], d].concat();
        datagrams.iter().flat_map(frame).collect()
    }

    #[tokio::test]
    async fn datagrams_come_out_as_they_went_in() {
        let sizes = (1..=DATAGRAM_BYTES).step_by(511).chain([DATAGRAM_BYTES]);
        let all: Vec<Vec<u8>> = sizes.map(|n| vec![n as u8; n]).collect();
        let (_receiving, mut sending) = packets(Cursor::new(Vec::new())).split();
        let mut written = Vec::new();
        for datagram in &all {
            if !sending.push(datagram) {
                written.append(&mut sending.batch);
                assert!(sending.push(datagram));
            }
        }
        written.append(&mut sending.batch);
        assert!(written.len() > BATCH, "more than one batch");
        let whole = (all.clone(), io::ErrorKind::UnexpectedEof);
        assert_eq!(read(written.clone()).await, whole);
        written.pop();
        let (cut, end) = read(written).await;
        assert_eq!(cut, all[..all.len() - 1]);
        assert_eq!(end, io::ErrorKind::UnexpectedEof);
    }

    #[tokio::test]
    async fn what_is_no_datagram_ends_the_stream() {
        let good: &[u8] = &[7; 100];
        for bad in [[0, 0], (DATAGRAM_BYTES as u16 + 1).to_be_bytes(), [0xff; 2]] {
            let bytes = [framed(&[good]), bad.to_vec(), vec![1; 70_000]].concat();
            let (all, end) = read(bytes).await;
            assert_eq!((all.len(), end), (1, io::ErrorKind::InvalidData));
        }
    }

    #[tokio::test]
    async fn a_batch_is_bounded_and_refuses_what_may_not_pass() {
        let (_receiving, mut sending) = packets(Cursor::new(Vec::new())).split();
        assert!(!sending.push(&[]) && !sending.push(&[1; DATAGRAM_BYTES + 1]));
        assert!(sending.batch.is_empty());
        let taken = (0..1_000).take_while(|_| sending.push(&[1; 1_400])).count();
        assert!(taken > 30 && sending.batch.len() <= BATCH);
        sending.flush().await.unwrap();
        assert!(sending.push(&[1; 1_400]), "there is room again");
    }

    #[test]
    fn a_connection_is_in_use_as_long_as_a_stream_is_held() {
        let (carries, peer) = (Carries::default(), PeerId::random());
        let held = || Packets::new(Cursor::new(vec![]), peer, carries.clone()).split();
        assert!(carries.all().is_empty());
        let (one, two) = (held(), held());
        drop(one);
        assert_eq!(carries.all().get(&peer), Some(&1));
        drop(two);
        assert!(carries.all().is_empty());
    }
}
