//! A connection of the API that becomes one of another protocol. It blocks: its users are threads.

use super::{ApiError, Client, ErrorCode};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Bytes of an answer's head, and of a failure, at the most.
const HEAD: usize = 64 * 1024;
/// Time for an answer to come: a rank may have to be reached first.
const PATIENCE: Duration = Duration::from_secs(60);

impl Client {
    /// Asks for another protocol at an address, which begins after `/api/v1`: the connection, on
    /// which that is spoken from now on.
    pub fn upgrade(&self, path: &str, protocol: &str) -> Result<UnixStream, ApiError> {
        let mut io = UnixStream::connect(&self.socket).map_err(|error| self.away(&error))?;
        let broken = |error: io::Error| {
            ApiError::new(
                ErrorCode::Unreachable,
                format!("the node broke off: {error}"),
                "see whether it runs: gridbay node status",
            )
        };
        let request = format!(
            "POST /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\n\
             Upgrade: {protocol}\r\nContent-Length: 0\r\n\r\n"
        );
        let asked = io
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| io.write_all(request.as_bytes()))
            .and_then(|()| head(&mut io));
        let answer = asked.map_err(broken)?;
        if answer.starts_with("HTTP/1.1 101 ") {
            io.set_read_timeout(None).map_err(broken)?;
            return Ok(io);
        }
        let body = body(&mut io, &answer).map_err(broken)?;
        let odd = || {
            ApiError::new(
                ErrorCode::Internal,
                format!("the node answered {}", answer.lines().next().unwrap_or("")),
                "use the same version of gridbay for the node and its commands",
            )
        };
        Err(serde_json::from_slice(&body).unwrap_or_else(|_| odd()))
    }
}

/// Reads byte by byte: what follows is not the head's.
fn head(from: &mut impl Read) -> io::Result<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        from.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    String::from_utf8(head).map_err(io::Error::other)
}

fn body(from: &mut impl Read, head: &str) -> io::Result<Vec<u8>> {
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0).min(HEAD)];
    from.read_exact(&mut body)?;
    Ok(body)
}
