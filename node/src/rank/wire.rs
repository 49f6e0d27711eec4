//! Orders to a rank, and the streams of a command, on one connection.
//!
//! The asker sends one line of JSON, then frames of standard input; the rank answers in frames. A
//! frame is a kind, a length of four bytes (big endian) and so many bytes. Standard input ends with
//! an empty frame.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

/// Port at which ranks take orders, on their addresses in the lease's network alone.
pub(super) const PORT: u16 = 7_470;
/// Bytes of an order at the most.
const ORDER: usize = 256 * 1024;
/// Bytes of a frame at the most.
pub(super) const FRAME: usize = 64 * 1024;

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
}

/// A frame's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Stdin = 0,
    Stdout = 1,
    Stderr = 2,
    /// The exit code, four bytes, big endian.
    Exit = 3,
}

pub(super) fn address(ip: IpAddr) -> SocketAddr {
    SocketAddr::new(ip, PORT)
}

pub(super) fn write_order(mut to: impl Write, order: &Order) -> io::Result<()> {
    let mut line = serde_json::to_vec(order)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads byte by byte: what follows the line is not the line's.
pub(super) fn read_order(mut from: impl Read) -> io::Result<Order> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < ORDER {
        from.read_exact(&mut byte)?;
        match byte {
            [b'\n'] => return Ok(serde_json::from_slice(&line)?),
            [byte] => line.push(byte),
        }
    }
    Err(io::Error::other(format!(
        "an order of more than {ORDER} bytes"
    )))
}

pub(super) fn write_frame(mut to: impl Write, kind: Kind, bytes: &[u8]) -> io::Result<()> {
    let mut frame = Vec::with_capacity(5 + bytes.len());
    frame.push(kind as u8);
    frame.extend((bytes.len() as u32).to_be_bytes());
    frame.extend(bytes);
    to.write_all(&frame)
}

pub(super) fn read_frame(mut from: impl Read) -> io::Result<(Kind, Vec<u8>)> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    let kind = match kind {
        0 => Kind::Stdin,
        1 => Kind::Stdout,
        2 => Kind::Stderr,
        3 => Kind::Exit,
        other => return Err(io::Error::other(format!("a frame of kind {other}"))),
    };
    let length = u32::from_be_bytes(length) as usize;
    if length > FRAME {
        return Err(io::Error::other(format!("a frame of {length} bytes")));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok((kind, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_and_the_frames_behind_it_come_apart() {
        let mut stream = Vec::new();
        let order = Order::Shell("echo \"a\nb\"".to_owned());
        write_order(&mut stream, &order).unwrap();
        write_frame(&mut stream, Kind::Stdin, b"input").unwrap();
        write_frame(&mut stream, Kind::Stdin, b"").unwrap();
        let mut from = stream.as_slice();
        assert_eq!(read_order(&mut from).unwrap(), order);
        assert_eq!(
            read_frame(&mut from).unwrap(),
            (Kind::Stdin, b"input".to_vec())
        );
        assert_eq!(read_frame(&mut from).unwrap(), (Kind::Stdin, vec![]));
        assert!(read_frame(&mut from).is_err(), "the end");
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(read_order(&b"{\"shell\":1}\n"[..]).is_err());
        assert!(read_order(&b"\"ping\""[..]).is_err(), "no end of line");
        assert!(read_frame(&[9, 0, 0, 0, 0][..]).is_err());
        assert!(read_frame(&[0, 1, 0, 0, 0][..]).is_err(), "16 MiB");
    }
}
