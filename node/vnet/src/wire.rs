//! The frames that two engines exchange.
//!
//! ```text
//! 0x01, 0x02, 0x03, 0x04  WireGuard: initiation, response, cookie, data
//! 0x10 0 0 0 | tag 8      an initiation, with whom it is for in front
//! 0x11, 0x12              probe and answer (see the path's messages)
//! 0x20 0 0 0 | ticket 16  anything, to be sent on by a relay
//! 0x30, 0x31              from where do my datagrams come (see the mirror)
//! ```
//!
//! WireGuard's initiation does not say which key it is for; one that stands bare is dropped. The
//! tag costs an outsider the lease's pre-shared key, and this engine one look-up.

use crate::path::Ticket;
use crate::session::{TAG, Tag};

pub(crate) const INITIATION: u8 = 0x01;
pub(crate) const RESPONSE: u8 = 0x02;
pub(crate) const COOKIE: u8 = 0x03;
pub(crate) const DATA: u8 = 0x04;
pub(crate) const HELLO: u8 = 0x10;
pub(crate) const RELAYED: u8 = 0x20;

/// Bytes in front of an initiation.
const HELLO_HEAD: usize = 4 + TAG;
/// Bytes in front of a relayed frame.
pub(crate) const RELAY_HEAD: usize = 20;

/// An initiation with its tag.
pub(crate) fn hello(tag: &Tag, initiation: &[u8]) -> Vec<u8> {
    let mut frame = vec![HELLO, 0, 0, 0];
    frame.extend(tag);
    frame.extend(initiation);
    frame
}

/// Tag and initiation of a frame.
pub(crate) fn read_hello(frame: &[u8]) -> Option<(Tag, &[u8])> {
    let (head, rest) = frame.split_at_checked(HELLO_HEAD)?;
    Some((head[4..].try_into().ok()?, rest))
}

/// What stands in front of a frame on its way through a relay.
pub(crate) fn relay_head(ticket: &Ticket) -> [u8; RELAY_HEAD] {
    let mut head = [0; RELAY_HEAD];
    head[0] = RELAYED;
    head[4..].copy_from_slice(ticket);
    head
}

/// Ticket and content of a frame that is to be sent on.
pub(crate) fn read_relayed(frame: &[u8]) -> Option<(Ticket, &[u8])> {
    let (head, rest) = frame.split_at_checked(RELAY_HEAD)?;
    Some((head[4..].try_into().ok()?, rest))
}

/// The receiver index of WireGuard's other kinds.
pub(crate) fn index(frame: &[u8]) -> Option<u32> {
    let at = if *frame.first()? == RESPONSE { 8 } else { 4 };
    let bytes = frame.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(bytes))
}
