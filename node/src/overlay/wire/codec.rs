//! Frames ([`gridbay_core::frame`]) of the request and one-way protocols.
//!
//! A stream of the request protocol carries one request frame and one response frame; what a line
//! carries is in [`crate::overlay::lines`]. A bad frame is a value, not an error: libp2p keeps
//! errors of reading a request to itself, and we want to know whose it was.
//!
//! A request or a message has [`crate::overlay::Tuning::frame`] and a second for each 64 KiB to
//! arrive, and its bytes a place among those that are being read ([`super::budget`]). The answer to
//! an own request has only its caller's time: the node chooses whom it asks.

use std::io;
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use gridbay_core::frame;
use libp2p::StreamProtocol;
use libp2p::request_response;

use super::budget::{Budget, Lack};
use crate::overlay::config::{Limits, Tuning};

/// Bytes read at once.
const BUFFER: usize = 4096;

/// Bytes of a frame for which its sender has a second.
const SLOWEST: usize = 64 << 10;

/// What bounds the frames of a protocol that others begin.
#[derive(Debug)]
pub(crate) struct Intake {
    /// Bytes of a frame.
    most: usize,
    patience: Duration,
    budget: Budget,
}

impl Intake {
    pub(crate) fn new(most: usize, limits: &Limits, tuning: &Tuning) -> Self {
        Self {
            most,
            patience: tuning.frame,
            budget: Budget::new(limits.direct_bytes_per_peer, limits.reading_bytes),
        }
    }

    /// For another connection.
    pub(crate) fn of_connection(&self) -> Self {
        Self {
            budget: self.budget.of_connection(),
            ..*self
        }
    }

    /// For another stream of the same connection.
    pub(crate) fn shared(&self) -> Self {
        Self {
            budget: self.budget.shared(),
            ..*self
        }
    }

    /// Reads a frame whose first byte is due now.
    ///
    /// # Errors
    /// The stream ended before the frame's length was there.
    async fn frame<T>(&self, io: &mut T) -> io::Result<Frame>
    where
        T: AsyncRead + Unpin + Send,
    {
        self.rest(io, frame::Reader::new(self.most)).await
    }

    /// Reads a frame that may be long in coming, and is due once its first byte is there.
    ///
    /// # Errors
    /// The stream ended before the frame's length was there.
    pub(crate) async fn next_frame<T>(&self, io: &mut T) -> io::Result<Frame>
    where
        T: AsyncRead + Unpin + Send,
    {
        let (mut reader, mut first) = (frame::Reader::new(self.most), [0; 1]);
        io.read_exact(&mut first).await?;
        reader.take(&first);
        // A line waits for long: only a frame that has begun has buffers.
        Box::pin(self.rest(io, reader)).await
    }

    async fn rest<T>(&self, io: &mut T, mut reader: frame::Reader) -> io::Result<Frame>
    where
        T: AsyncRead + Unpin + Send,
    {
        let length = tokio::time::timeout(self.patience, read_on(io, &mut reader, true));
        match length.await {
            Err(_) => return Ok(Frame::Slow),
            Ok(Err(error)) => return Err(error),
            Ok(Ok(true)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(Ok(false)) => {}
        }
        let wanted = reader.wants();
        let place = match self.budget.place(wanted) {
            Ok(place) => Some(place),
            Err(Lack::Own) => return Ok(Frame::NoRoom),
            Err(Lack::All) => None,
        };
        let body = async {
            match &place {
                Some(_) => read_on(io, &mut reader, false)
                    .await
                    .map(|_| read_frame(reader)),
                None => pass_over(io, wanted).await,
            }
        };
        let seconds = u64::try_from(wanted / SLOWEST).unwrap_or(u64::MAX);
        let patience = self.patience.saturating_add(Duration::from_secs(seconds));
        let read = tokio::time::timeout(patience, body).await;
        read.unwrap_or(Ok(Frame::Slow))
    }
}

/// Caps for the protocol of requests, bytes, and what bounds frames on their way.
#[derive(Debug)]
pub(crate) struct FrameCodec {
    intake: Intake,
    max_response: usize,
    /// Whether it belongs to a connection, and not to the swarm.
    bound: bool,
}

impl FrameCodec {
    pub(crate) fn new(
        max_request: usize,
        max_response: usize,
        limits: &Limits,
        tuning: &Tuning,
    ) -> Self {
        Self {
            intake: Intake::new(max_request, limits, tuning),
            max_response,
            bound: false,
        }
    }
}

/// libp2p clones the codec of the swarm once for each connection, and that one for each stream: so
/// each connection has a budget of its own, which its streams share.
impl Clone for FrameCodec {
    fn clone(&self) -> Self {
        Self {
            intake: if self.bound {
                self.intake.shared()
            } else {
                self.intake.of_connection()
            },
            bound: true,
            ..*self
        }
    }
}

/// The frame read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A whole frame; the only kind that can be written.
    Whole(Vec<u8>),
    /// One was announced that is larger than allowed.
    TooLarge,
    /// It ended early.
    Truncated,
    /// It did not arrive in time.
    Slow,
    /// Too many bytes of other frames of its sender are being read.
    NoRoom,
    /// Too many bytes of other frames are being read: it was read over.
    Crowded,
}

/// Reads until the frame is whole, or until its length is known where `only_length`. Returns
/// whether the stream ended before.
async fn read_on<T>(io: &mut T, reader: &mut frame::Reader, only_length: bool) -> io::Result<bool>
where
    T: AsyncRead + Unpin + Send,
{
    let mut buffer = [0; BUFFER];
    while reader.wants() > 0 && !(only_length && matches!(reader.announced(), Ok(Some(_)))) {
        let most = reader.wants().min(BUFFER);
        let read = io.read(&mut buffer[..most]).await?;
        if read == 0 {
            return Ok(true);
        }
        reader.take(&buffer[..read]);
    }
    Ok(false)
}

/// Reads the rest of a frame for which there is no room, and keeps nothing of it: the next frame of
/// the stream may find room.
async fn pass_over<T>(io: &mut T, mut left: usize) -> io::Result<Frame>
where
    T: AsyncRead + Unpin + Send,
{
    let mut buffer = [0; BUFFER];
    while left > 0 {
        let read = io.read(&mut buffer[..left.min(BUFFER)]).await?;
        if read == 0 {
            return Ok(Frame::Truncated);
        }
        left -= read;
    }
    Ok(Frame::Crowded)
}

/// The frame that a reader has at the end of a stream.
fn read_frame(reader: frame::Reader) -> Frame {
    match reader.announced() {
        Err(_) => Frame::TooLarge,
        Ok(_) => reader.whole().map_or(Frame::Truncated, Frame::Whole),
    }
}

async fn write_frame<T>(io: &mut T, frame: &Frame, cap: usize) -> io::Result<()>
where
    T: AsyncWrite + Unpin + Send,
{
    let Frame::Whole(body) = frame else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // One write, so that a vote is one packet.
    let frame = frame::frame(body, cap).ok_or(io::ErrorKind::InvalidInput)?;
    io.write_all(&frame).await
}

impl request_response::Codec for FrameCodec {
    type Protocol = StreamProtocol;
    type Request = Frame;
    type Response = Frame;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Frame>
    where
        T: AsyncRead + Unpin + Send,
    {
        self.intake.frame(io).await
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Frame>
    where
        T: AsyncRead + Unpin + Send,
    {
        let mut reader = frame::Reader::new(self.max_response);
        if read_on(io, &mut reader, false).await? && reader.announced() == Ok(None) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(read_frame(reader))
    }

    async fn write_request<T>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        frame: Frame,
    ) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &frame, self.intake.most).await
    }

    async fn write_response<T>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        frame: Frame,
    ) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_frame(io, &frame, self.max_response).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::io::Cursor;
    use request_response::Codec;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    fn codec(cap: usize) -> FrameCodec {
        let mut tuning = Tuning::local();
        tuning.frame = Duration::from_millis(50);
        FrameCodec::new(cap, cap, &Limits::default(), &tuning)
    }

    fn protocol() -> StreamProtocol {
        StreamProtocol::new("/test")
    }

    /// The codec's reading of a stream with these bytes, as a request and as an answer.
    async fn read(bytes: &[u8], cap: usize) -> io::Result<Frame> {
        let mut stream = Cursor::new(bytes.to_vec());
        let request = codec(cap).read_request(&protocol(), &mut stream).await;
        let mut stream = Cursor::new(bytes.to_vec());
        let answer = codec(cap).read_response(&protocol(), &mut stream).await;
        assert_eq!(request.is_ok(), answer.is_ok());
        request.inspect(|frame| assert_eq!(answer.ok().as_ref(), Some(frame)))
    }

    #[tokio::test]
    async fn frames_round_trip_up_to_the_cap() {
        for size in [0usize, 1, 4095, 4096, 70_000] {
            let body: Vec<u8> = (0..size).map(|i| i as u8).collect();
            let mut wire = Cursor::new(Vec::new());
            let frame = Frame::Whole(body.clone());
            codec(size)
                .write_request(&protocol(), &mut wire, frame)
                .await
                .unwrap();
            let wire = wire.into_inner();
            assert_eq!(wire.len(), size + frame::PREFIX);
            assert_eq!(read(&wire, size).await.unwrap(), Frame::Whole(body));
        }
    }

    #[tokio::test]
    async fn a_length_above_the_cap_is_neither_read_nor_written() {
        let huge = u32::MAX.to_be_bytes();
        assert_eq!(read(&huge, 1 << 20).await.unwrap(), Frame::TooLarge);
        assert_eq!(read(&[0, 0, 0, 9, 1], 8).await.unwrap(), Frame::TooLarge);
        for frame in [Frame::Whole(vec![0; 9]), Frame::Truncated] {
            let mut wire = Cursor::new(Vec::new());
            let written = codec(8).write_response(&protocol(), &mut wire, frame).await;
            assert_eq!(written.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }

    #[tokio::test]
    async fn a_short_frame_is_truncated_and_half_a_length_is_an_error() {
        let short = read(&[0, 0, 0, 5, 1, 2, 3, 4], 100).await;
        assert_eq!(short.unwrap(), Frame::Truncated);
        assert!(read(&[0, 0], 100).await.is_err());
    }

    #[tokio::test]
    async fn bytes_after_the_frame_are_not_read() {
        let frame = read(&[0, 0, 0, 1, 42, 99], 8).await;
        assert_eq!(frame.unwrap(), Frame::Whole(vec![42]));
    }

    /// A stream on which nothing more comes.
    struct Silent(Cursor<Vec<u8>>);

    impl AsyncRead for Silent {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            match Pin::new(&mut self.0).poll_read(context, buffer) {
                Poll::Ready(Ok(0)) => Poll::Pending,
                other => other,
            }
        }
    }

    #[tokio::test]
    async fn what_does_not_come_in_time_is_slow() {
        for begun in [&[][..], &[0, 0], &[0, 0, 0, 3, 1, 2]] {
            let mut stream = Silent(Cursor::new(begun.to_vec()));
            let frame = codec(8).read_request(&protocol(), &mut stream).await;
            assert_eq!(frame.unwrap(), Frame::Slow);
        }
    }

    #[tokio::test]
    async fn large_frames_of_one_connection_share_its_room() {
        let cap = Limits::default().direct_bytes_per_peer;
        let swarm = codec(cap);
        let (connection, other) = (swarm.clone(), swarm.clone());
        let begun = || Silent(Cursor::new((cap as u32).to_be_bytes().to_vec()));
        let (one, two) = (protocol(), protocol());
        let (mut first, mut second) = (begun(), begun());
        let (mut a, mut b) = (connection.clone(), connection.clone());
        let reading = a.read_request(&one, &mut first);
        let mut reading = std::pin::pin!(reading);
        assert!(futures::poll!(reading.as_mut()).is_pending());
        let refused = b.read_request(&two, &mut second).await;
        assert_eq!(refused.unwrap(), Frame::NoRoom);
        let (mut third, mut c) = (begun(), other.clone());
        let elsewhere = c.read_request(&two, &mut third);
        let mut elsewhere = std::pin::pin!(elsewhere);
        assert!(futures::poll!(elsewhere.as_mut()).is_pending());
    }
    #[tokio::test]
    async fn a_frame_without_room_is_read_over_and_the_next_one_is_whole() {
        let limits = Limits::default();
        let (large, small) = (1 << 20, b"vote");
        let intake = Intake::new(large, &limits, &Tuning::local());
        let (others, mine) = (intake.of_connection(), intake.of_connection());
        let _full = others.budget.place(limits.reading_bytes).unwrap();
        let frames = [&vec![7; large][..], small].map(|body| frame::frame(body, large).unwrap());
        let mut stream = Cursor::new(frames.concat());
        assert_eq!(mine.next_frame(&mut stream).await.unwrap(), Frame::Crowded);
        let next = mine.next_frame(&mut stream).await.unwrap();
        assert_eq!(next, Frame::Whole(small.to_vec()));
        let mut cut = Cursor::new(&frames[0][..large]);
        assert_eq!(mine.next_frame(&mut cut).await.unwrap(), Frame::Truncated);
    }
}
