//! Probes and their answers, on the wire.
//!
//! ```text
//! probe: 0x11 0 0 0 | tag 8 | number 8 | code 16 | zeros up to the length to try
//! pong:  0x12 0 0 0 | tag 8 | number 8 | seen 19 | code 16
//! ```
//!
//! 1. The tag says for which pair and in which direction it is; the number is the probe's, sent
//!    back by the pong.
//! 2. The code authenticates kind, direction, number, length and what was seen, under the pair's
//!    key: nobody but the two can make a probe or an answer.
//! 3. `seen` is the source that the probe came from: family, port, address.
//! 4. No answer is longer than the probe, so that probes sent again by others do not multiply.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use gridbay_protocol::hash::{Domain, hash};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::session::{TAG, Tag};

/// First byte of a probe.
pub(crate) const PROBE: u8 = 0x11;
/// First byte of an answer.
pub(crate) const PONG: u8 = 0x12;
/// Bytes of the shortest probe and of an answer.
pub(super) const LENGTH: usize = NUMBER + 8 + SEEN + CODE;

const NUMBER: usize = 4 + TAG;
/// Bytes of an address.
pub(crate) const SEEN: usize = 19;
const CODE: usize = 16;

/// What two members of a lease share for probing the paths between them.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct PathKeys {
    key: [u8; 32],
    own: [u8; 32],
    peer: [u8; 32],
}

impl PathKeys {
    /// From the Diffie-Hellman secret of the two, the lease's pre-shared key, and their public
    /// keys.
    pub fn new(secret: &[u8; 32], psk: &[u8; 32], own: [u8; 32], peer: [u8; 32]) -> PathKeys {
        let (first, second) = if own < peer {
            (&own, &peer)
        } else {
            (&peer, &own)
        };
        let key = hash(Domain::LeasePath, &[secret, psk, first, second]);
        PathKeys { key, own, peer }
    }

    /// The tag that messages to us carry.
    pub fn own_tag(&self) -> Tag {
        self.tag(&self.own)
    }

    fn peer_tag(&self) -> Tag {
        self.tag(&self.peer)
    }

    fn tag(&self, receiver: &[u8; 32]) -> Tag {
        cut(hash(Domain::LeasePath, &[&self.key, b"tag", receiver]))
    }

    /// A number that nobody else foresees.
    pub(super) fn number(&self, counter: u64) -> u64 {
        let number = hash(
            Domain::LeasePath,
            &[&self.key, b"number", &counter.to_be_bytes()],
        );
        u64::from_be_bytes(cut(number))
    }

    fn code(
        &self,
        kind: u8,
        receiver: &[u8; 32],
        number: u64,
        length: usize,
        seen: &[u8],
    ) -> [u8; CODE] {
        let length = (length as u64).to_be_bytes();
        let parts: [&[u8]; 7] = [
            &self.key,
            b"code",
            &[kind],
            receiver,
            &number.to_be_bytes(),
            &length,
            seen,
        ];
        cut(hash(Domain::LeasePath, &parts))
    }

    /// A probe of so many bytes, at least [`LENGTH`].
    pub(super) fn probe(&self, number: u64, length: usize) -> Vec<u8> {
        let length = length.max(LENGTH);
        let code = self.code(PROBE, &self.peer, number, length, &[]);
        let mut bytes = self.start(PROBE, number);
        bytes.extend(code);
        bytes.resize(length, 0);
        bytes
    }

    /// The answer to a probe that came from `source`.
    pub(super) fn pong(&self, number: u64, source: SocketAddr) -> Vec<u8> {
        let seen = seen_bytes(source);
        let code = self.code(PONG, &self.peer, number, LENGTH, &seen);
        let mut bytes = self.start(PONG, number);
        bytes.extend(seen);
        bytes.extend(code);
        bytes
    }

    fn start(&self, kind: u8, number: u64) -> Vec<u8> {
        let mut bytes = vec![kind, 0, 0, 0];
        bytes.extend(self.peer_tag());
        bytes.extend(number.to_be_bytes());
        bytes
    }

    /// What a message says, if the other member made it for us.
    pub(super) fn open(&self, bytes: &[u8]) -> Option<Message> {
        let number = u64::from_be_bytes(bytes.get(NUMBER..NUMBER + 8)?.try_into().ok()?);
        let rest = &bytes[NUMBER + 8..];
        let kind = *bytes.first()?;
        let (seen, code, message) = match kind {
            PROBE if bytes.len() >= LENGTH => (&[][..], &rest[..CODE], Message::Probe { number }),
            PONG if bytes.len() == LENGTH => {
                let (seen, code) = rest.split_at(SEEN);
                let source = seen_address(seen)?;
                (
                    seen,
                    code,
                    Message::Pong {
                        number,
                        seen: source,
                    },
                )
            }
            _ => return None,
        };
        let right = self.code(kind, &self.own, number, bytes.len(), seen);
        same(&right, code).then_some(message)
    }
}

/// The tag of a probe or answer.
pub fn tag_of(bytes: &[u8]) -> Option<Tag> {
    bytes.get(4..NUMBER)?.try_into().ok()
}

/// An authentic message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    Probe { number: u64 },
    Pong { number: u64, seen: SocketAddr },
}

/// The first bytes of a hash.
pub(crate) fn cut<const N: usize>(hash: [u8; 32]) -> [u8; N] {
    std::array::from_fn(|i| hash[i])
}

/// Compares without telling by the time taken where the first difference is.
fn same(left: &[u8], right: &[u8]) -> bool {
    let differences = left.iter().zip(right).map(|(a, b)| a ^ b);
    left.len() == right.len() && differences.fold(0, |all, one| all | one) == 0
}

pub(crate) fn seen_bytes(source: SocketAddr) -> [u8; SEEN] {
    let mut bytes = [0; SEEN];
    bytes[1..3].copy_from_slice(&source.port().to_be_bytes());
    match source.ip() {
        IpAddr::V4(v4) => {
            bytes[0] = 4;
            bytes[3..7].copy_from_slice(&v4.octets());
        }
        IpAddr::V6(v6) => {
            bytes[0] = 6;
            bytes[3..].copy_from_slice(&v6.octets());
        }
    }
    bytes
}

pub(crate) fn seen_address(bytes: &[u8]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(bytes.get(1..3)?.try_into().ok()?);
    let octets: [u8; 16] = bytes.get(3..SEEN)?.try_into().ok()?;
    let ip = match bytes[0] {
        4 => IpAddr::V4(Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3])),
        6 => IpAddr::V6(Ipv6Addr::from(octets)),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (PathKeys, PathKeys) {
        let (secret, psk) = ([1; 32], [2; 32]);
        let left = PathKeys::new(&secret, &psk, [3; 32], [4; 32]);
        (left, PathKeys::new(&secret, &psk, [4; 32], [3; 32]))
    }

    #[test]
    fn a_probe_and_its_answer_are_understood() {
        let (left, right) = pair();
        let probe = left.probe(77, 100);
        assert_eq!((probe.len(), tag_of(&probe)), (100, Some(right.own_tag())));
        assert_eq!(right.open(&probe), Some(Message::Probe { number: 77 }));
        for source in ["10.0.0.1:5", "[fd00::1]:65535"] {
            let seen = source.parse().expect("an address");
            let pong = right.pong(77, seen);
            assert!(pong.len() <= left.probe(77, 0).len());
            assert_eq!(left.open(&pong), Some(Message::Pong { number: 77, seen }));
            assert_eq!(right.open(&pong), None, "not for the sender itself");
        }
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let (left, right) = pair();
        let probe = left.probe(1, 0);
        let code_ends = NUMBER + 8 + CODE;
        for index in (0..code_ends).filter(|i| !(1..NUMBER).contains(i)) {
            let mut bad = probe.clone();
            bad[index] ^= 1;
            assert_eq!(right.open(&bad), None, "byte {index}");
        }
        assert_eq!(
            right.open(&left.probe(1, 200)[..199]),
            None,
            "a shorter one"
        );
        let other = PathKeys::new(&[1; 32], &[0; 32], [4; 32], [3; 32]);
        assert_eq!(other.open(&probe), None, "another pre-shared key");
        for length in 0..LENGTH {
            assert_eq!(right.open(&probe[..length]), None);
        }
    }
}
