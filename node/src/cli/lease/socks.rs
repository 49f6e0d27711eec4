//! The server's side of SOCKS 5 (RFC 1928): connections without authentication, for clients on this
//! machine. Nothing else of it is of use here.

use crate::api::ApiError;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr};

const VERSION: u8 = 5;
const CONNECT: u8 = 1;
/// No method of authentication is acceptable.
const NO_METHOD: u8 = 0xff;

/// Answers of section 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Granted = 0,
    Unreachable = 4,
    NoCommand = 7,
    NoAddress = 8,
}

/// Hears where a client wants to connect to, and opens it; `None` if it wants something that is not
/// served, and was told so.
///
/// # Errors
/// Why there is no connection, in words.
pub(super) fn ask<T>(
    client: &mut (impl Read + Write),
    open: impl FnOnce(&str) -> Result<T, ApiError>,
) -> Result<Option<T>, String> {
    let wanted = wanted(client).map_err(|e| format!("a SOCKS client: {e}"))?;
    let Some(to) = wanted else {
        return Ok(None);
    };
    let opened = open(&to);
    let said = if opened.is_ok() {
        Said::Granted
    } else {
        Said::Unreachable
    };
    answer(client, said).map_err(|e| format!("a SOCKS client: {e}"))?;
    opened.map(Some).map_err(|error| error.message)
}

/// The place that a client names, as `host:port`.
fn wanted(client: &mut (impl Read + Write)) -> io::Result<Option<String>> {
    let [version, methods] = read(client)?;
    if version != VERSION {
        return Err(io::Error::other("it speaks another version"));
    }
    let mut offered = vec![0; usize::from(methods)];
    client.read_exact(&mut offered)?;
    if !offered.contains(&0) {
        client.write_all(&[VERSION, NO_METHOD])?;
        return Ok(None);
    }
    client.write_all(&[VERSION, 0])?;
    let [version, command, _, kind] = read(client)?;
    if version != VERSION {
        return Err(io::Error::other("it speaks another version"));
    }
    let host = match kind {
        1 => Ipv4Addr::from(read::<4>(client)?).to_string(),
        3 => {
            let [length] = read(client)?;
            let mut name = vec![0; usize::from(length)];
            client.read_exact(&mut name)?;
            let name = String::from_utf8(name).map_err(io::Error::other)?;
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
            if !name.chars().all(plain) {
                return Err(io::Error::other("a name that is none"));
            }
            name
        }
        4 => format!("[{}]", Ipv6Addr::from(read::<16>(client)?)),
        _ => {
            answer(client, Said::NoAddress)?;
            return Ok(None);
        }
    };
    let port = u16::from_be_bytes(read(client)?);
    if command != CONNECT {
        answer(client, Said::NoCommand)?;
        return Ok(None);
    }
    Ok(Some(format!("{host}:{port}")))
}

fn read<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The address in an answer says nothing here.
fn answer(to: &mut impl Write, said: Said) -> io::Result<()> {
    to.write_all(&[VERSION, said as u8, 0, 1, 0, 0, 0, 0, 0, 0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ErrorCode;

    /// What a client says, and what it hears.
    struct Client(io::Cursor<Vec<u8>>, Vec<u8>);

    impl Read for Client {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.read(into)
        }
    }

    impl Write for Client {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn said(bytes: &[&[u8]]) -> Client {
        Client(io::Cursor::new(bytes.concat()), Vec::new())
    }

    #[test]
    fn names_and_addresses_are_understood() {
        let hello: &[u8] = &[5, 2, 2, 0];
        for (place, meant) in [
            (&[3, 5, b'r', b'a', b'n', b'k', b'0'][..], "rank0:80"),
            (&[1, 10, 201, 0, 1], "10.201.0.1:80"),
            (&[&[4, 0xfd][..], &[0; 14], &[1]].concat(), "[fd00::1]:80"),
        ] {
            let mut client = said(&[hello, &[5, 1, 0], place, &[0, 80]]);
            let opened = ask(&mut client, |to| Ok(to.to_owned()));
            assert_eq!(opened, Ok(Some(meant.to_owned())));
            assert_eq!(client.1[..4], [5, 0, 5, 0]);
        }
    }

    #[test]
    fn a_member_that_is_not_reached_is_said_to_be_so() {
        let mut client = said(&[&[5, 1, 0, 5, 1, 0, 1, 10, 201, 0, 9, 0, 80]]);
        let no = |_: &str| Err::<(), _>(ApiError::new(ErrorCode::Unreachable, "gone", ""));
        assert_eq!(ask(&mut client, no), Err("gone".to_owned()));
        assert_eq!(client.1[2..4], [5, 4]);
    }

    #[test]
    fn what_is_not_served_is_refused() {
        let none = |bytes: &[&[u8]]| {
            let mut client = said(bytes);
            let asked = ask(&mut client, |_| Ok(()));
            (asked.map(|opened| opened.is_some()), client.1)
        };
        assert_eq!(
            none(&[&[5, 1, 2]]),
            (Ok(false), vec![5, NO_METHOD]),
            "a password"
        );
        let (asked, heard) = none(&[&[5, 1, 0, 5, 2, 0, 1, 10, 0, 0, 1, 0, 80]]);
        assert_eq!(
            (asked, heard[3]),
            (Ok(false), Said::NoCommand as u8),
            "bind"
        );
        let (asked, heard) = none(&[&[5, 1, 0, 5, 1, 0, 9]]);
        assert_eq!((asked, heard[3]), (Ok(false), Said::NoAddress as u8));
        assert!(none(&[&[4, 1, 0]]).0.is_err(), "version 4");
        assert!(
            none(&[&[5, 1, 0, 5, 1, 0, 3, 2, b'a', b'&', 0, 80]])
                .0
                .is_err()
        );
        assert!(none(&[&[5, 9]]).0.is_err(), "cut off");
    }
}
