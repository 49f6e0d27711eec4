//! Orders to a rank, and the streams of a command, on one connection.
//!
//! The asker sends one line of JSON, then frames of standard input; the rank answers in frames. A
//! frame is a kind, a length of four bytes (big endian) and so many bytes. Standard input ends with
//! an empty frame.
//!
//! A rank of a cluster that is held speaks first, and takes a signed order alone
//! ([`super::signed`]); its answer is a line, and frames follow in both directions.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Port at which ranks take orders, on their addresses in the lease's network alone.
pub(crate) const PORT: u16 = 7_470;
/// Bytes of an order, or of any other line, at the most.
pub(crate) const LINE: usize = 256 * 1024;
/// Bytes of a frame of a stream at the most.
pub(super) const FRAME: usize = 64 * 1024;
/// Bytes of a frame of a file at the most.
pub(super) const DATA: usize = 256 * 1024;

/// What a rank is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// Whether it is there.
    Ping,
    /// A line for a shell.
    Shell(String),
    /// A program and its arguments.
    Run(Vec<String>),
    /// All is over.
    End,
    /// One of these, with the secret of a run that was given one.
    With {
        /// The secret.
        secret: String,
        /// The order.
        order: Box<Order>,
    },
}

/// A frame's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Standard input of a program.
    Stdin = 0,
    /// Its standard output, or its terminal's.
    Stdout = 1,
    /// Its standard error.
    Stderr = 2,
    /// The exit code, four bytes, big endian.
    Exit = 3,
    /// The size of a terminal: rows and columns, two bytes each, big endian.
    Size = 4,
    /// A signal for a program: its number, one byte.
    Signal = 5,
    /// So many frames were dealt with: eight bytes, big endian.
    Ack = 6,
    /// A file or folder begins: JSON.
    Item = 7,
    /// Bytes of a file.
    Data = 8,
    /// There is no further item.
    Done = 9,
}

impl Kind {
    const ALL: [Kind; 10] = [
        Kind::Stdin,
        Kind::Stdout,
        Kind::Stderr,
        Kind::Exit,
        Kind::Size,
        Kind::Signal,
        Kind::Ack,
        Kind::Item,
        Kind::Data,
        Kind::Done,
    ];

    /// Bytes of such a frame at the most.
    fn most(self) -> usize {
        if self == Kind::Data { DATA } else { FRAME }
    }
}

/// A connection that threads share: one reads while another one writes.
pub(crate) trait Wire: Read + Write + Send + Sized + 'static {
    /// Another handle of it.
    fn again(&self) -> io::Result<Self>;
    /// Ends it, for all handles.
    fn cut(&self);
    /// Says that nothing more is written.
    fn end(&self) -> io::Result<()>;
    /// Bounds each read, and each write.
    fn bound(&self, read: Option<Duration>, write: Option<Duration>) -> io::Result<()>;
}

macro_rules! wire {
    ($($stream:ty),*) => {$(
        impl Wire for $stream {
            fn again(&self) -> io::Result<Self> {
                self.try_clone()
            }
            fn cut(&self) {
                // One that is gone is cut.
                let _gone = self.shutdown(std::net::Shutdown::Both);
            }
            fn end(&self) -> io::Result<()> {
                self.shutdown(std::net::Shutdown::Write)
            }
            fn bound(&self, read: Option<Duration>, write: Option<Duration>) -> io::Result<()> {
                self.set_read_timeout(read)?;
                self.set_write_timeout(write)
            }
        }
    )*};
}

wire!(TcpStream, UnixStream);

/// Variable with the port at which the ranks of a run take orders, where it is not [`PORT`]: in a
/// cluster that is held.
pub(crate) const PORT_OF_RUN: &str = "GRIDBAY_RUN_PORT";
/// Variable with the secret that orders among the ranks of such a run come with.
pub(crate) const SECRET_OF_RUN: &str = "GRIDBAY_RUN_SECRET";

/// A variable by which a task knows its place.
pub(super) fn variable<T: std::str::FromStr>(name: &str) -> io::Result<T> {
    let value = std::env::var(name).ok().and_then(|v| v.parse().ok());
    let missing = || io::Error::other(format!("no {name}: not a task of a job with a network"));
    value.ok_or_else(missing)
}

/// The port at which the ranks of this process's run take orders, if it has one of its own. The
/// next one is free for its programs.
pub(super) fn own_port() -> Option<u16> {
    std::env::var(PORT_OF_RUN).ok()?.parse().ok()
}

/// The port at which the ranks of this process's run take orders.
pub(super) fn port() -> u16 {
    own_port().unwrap_or(PORT)
}

/// The secret of this process's run.
pub(super) fn secret() -> Option<String> {
    std::env::var(SECRET_OF_RUN).ok()
}

pub(crate) fn write_line(mut to: impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads byte by byte: what follows the line is not the line's.
pub(crate) fn read_line<T: DeserializeOwned>(mut from: impl Read) -> io::Result<T> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < LINE {
        from.read_exact(&mut byte)?;
        match byte {
            [b'\n'] => return Ok(serde_json::from_slice(&line)?),
            [byte] => line.push(byte),
        }
    }
    Err(io::Error::other(format!(
        "a line of more than {LINE} bytes"
    )))
}

/// Reads a line that has to be there as a whole within a time, however its bytes trickle.
pub(super) fn read_line_within<T: DeserializeOwned>(
    from: &TcpStream,
    time: Duration,
) -> io::Result<T> {
    let end = Instant::now() + time;
    read_line(Until { from, end })
}

/// A connection that is read until then.
struct Until<'a> {
    from: &'a TcpStream,
    end: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.from.set_read_timeout(Some(left))?;
        self.from.read(buffer)
    }
}

/// A frame's bytes.
pub(super) fn frame(kind: Kind, bytes: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(5 + bytes.len());
    frame.push(kind as u8);
    frame.extend((bytes.len() as u32).to_be_bytes());
    frame.extend(bytes);
    frame
}

pub(super) fn write_frame(mut to: impl Write, kind: Kind, bytes: &[u8]) -> io::Result<()> {
    to.write_all(&frame(kind, bytes))
}

pub(super) fn read_frame(mut from: impl Read) -> io::Result<(Kind, Vec<u8>)> {
    let mut bytes = Vec::new();
    let kind = read_into(&mut from, &mut bytes)?;
    Ok((kind, bytes))
}

/// Reads a frame into a buffer, in the place of what it held.
pub(super) fn read_into(mut from: impl Read, bytes: &mut Vec<u8>) -> io::Result<Kind> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    let Some(kind) = Kind::ALL.get(usize::from(kind)).copied() else {
        return Err(io::Error::other(format!("a frame of kind {kind}")));
    };
    let length = u32::from_be_bytes(length) as usize;
    if length > kind.most() {
        return Err(io::Error::other(format!("a frame of {length} bytes")));
    }
    bytes.resize(length, 0);
    from.read_exact(bytes)?;
    Ok(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_and_the_frames_behind_it_come_apart() {
        let mut stream = Vec::new();
        let order = Order::Shell("echo \"a\nb\"".to_owned());
        write_line(&mut stream, &order).unwrap();
        write_frame(&mut stream, Kind::Stdin, b"input").unwrap();
        write_frame(&mut stream, Kind::Stdin, b"").unwrap();
        let mut from = stream.as_slice();
        assert_eq!(read_line::<Order>(&mut from).unwrap(), order);
        assert_eq!(
            read_frame(&mut from).unwrap(),
            (Kind::Stdin, b"input".to_vec())
        );
        assert_eq!(read_frame(&mut from).unwrap(), (Kind::Stdin, vec![]));
        assert!(read_frame(&mut from).is_err(), "the end");
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(read_line::<Order>(&b"{\"shell\":1}\n"[..]).is_err());
        assert!(
            read_line::<Order>(&b"\"ping\""[..]).is_err(),
            "no end of line"
        );
        assert!(read_frame(&[10, 0, 0, 0, 0][..]).is_err());
        assert!(read_frame(&[0, 1, 0, 0, 0][..]).is_err(), "16 MiB");
    }
}
