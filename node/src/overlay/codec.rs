//! Frames of the request and one-way protocols.
//!
//! A frame is a 4-byte big-endian length and as many bytes. One stream carries one request frame
//! and one response frame; the answer to a one-way message is the empty frame.
//!
//! A length above the cap is refused before a byte of the body is read, and memory grows with the
//! bytes that have arrived, never with the length that was claimed. A bad frame is a value, not an
//! error: libp2p keeps errors of reading a request to itself, and we want to know whose it was.

use std::io;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::StreamProtocol;
use libp2p::request_response;

const PREFIX: usize = 4;
/// What is reserved on the word of the sender.
const FIRST_BUFFER: usize = 4096;

/// Caps for one protocol, bytes.
#[derive(Clone, Debug)]
pub(crate) struct FrameCodec {
    pub(crate) max_request: usize,
    pub(crate) max_response: usize,
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A whole frame; the only kind that can be written.
    Whole(Vec<u8>),
    /// One was announced that is larger than allowed.
    TooLarge,
    /// It ended early.
    Truncated,
}

async fn read_frame<T>(io: &mut T, cap: usize) -> io::Result<Frame>
where
    T: AsyncRead + Unpin + Send,
{
    let mut prefix = [0; PREFIX];
    io.read_exact(&mut prefix).await?;
    let size = u32::from_be_bytes(prefix);
    let wanted = usize::try_from(size).unwrap_or(usize::MAX);
    if wanted > cap {
        return Ok(Frame::TooLarge);
    }
    let mut body = Vec::with_capacity(wanted.min(FIRST_BUFFER));
    io.take(u64::from(size)).read_to_end(&mut body).await?;
    Ok(if body.len() < wanted {
        Frame::Truncated
    } else {
        Frame::Whole(body)
    })
}

async fn write_frame<T>(io: &mut T, frame: &Frame, cap: usize) -> io::Result<()>
where
    T: AsyncWrite + Unpin + Send,
{
    let unfit = || io::Error::from(io::ErrorKind::InvalidInput);
    let Frame::Whole(body) = frame else {
        return Err(unfit());
    };
    if body.len() > cap {
        return Err(unfit());
    }
    let size = u32::try_from(body.len()).map_err(|_| unfit())?;
    // One write, so that a vote is one packet.
    let mut frame = Vec::with_capacity(PREFIX + body.len());
    frame.extend_from_slice(&size.to_be_bytes());
    frame.extend_from_slice(body);
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
        read_frame(io, self.max_request).await
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Frame>
    where
        T: AsyncRead + Unpin + Send,
    {
        read_frame(io, self.max_response).await
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
        write_frame(io, &frame, self.max_request).await
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
    use futures::executor::block_on;
    use futures::io::Cursor;

    fn read(bytes: &[u8], cap: usize) -> Frame {
        block_on(read_frame(&mut Cursor::new(bytes.to_vec()), cap)).unwrap()
    }

    #[test]
    fn frames_round_trip_up_to_the_cap() {
        for size in [0usize, 1, 4095, 4096, 70_000] {
            let body: Vec<u8> = (0..size).map(|i| i as u8).collect();
            let mut wire = Cursor::new(Vec::new());
            block_on(write_frame(&mut wire, &Frame::Whole(body.clone()), size)).unwrap();
            let wire = wire.into_inner();
            assert_eq!(wire.len(), size + PREFIX);
            assert_eq!(read(&wire, size), Frame::Whole(body));
        }
    }

    #[test]
    fn a_length_above_the_cap_is_neither_read_nor_written() {
        assert_eq!(read(&u32::MAX.to_be_bytes(), 1 << 20), Frame::TooLarge);
        assert_eq!(read(&[0, 0, 0, 9, 1], 8), Frame::TooLarge);
        for frame in [Frame::Whole(vec![0; 9]), Frame::Truncated] {
            let error = block_on(write_frame(&mut Cursor::new(Vec::new()), &frame, 8)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn a_short_frame_is_truncated_and_half_a_length_is_an_error() {
        assert_eq!(read(&[0, 0, 0, 5, 1, 2, 3, 4], 100), Frame::Truncated);
        assert!(block_on(read_frame(&mut Cursor::new(vec![0, 0]), 100)).is_err());
    }

    #[test]
    fn bytes_after_the_frame_are_not_read() {
        assert_eq!(read(&[0, 0, 0, 1, 42, 99], 8), Frame::Whole(vec![42]));
    }
}
