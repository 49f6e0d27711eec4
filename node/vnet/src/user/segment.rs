//! What the stack's surroundings read of a segment of TCP before the stack does.

use std::net::SocketAddr;

use crate::packet;
use crate::tun::MTU;

pub(super) const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;
const TCP: u8 = 6;

/// A connection, by the other end and the own port.
pub(super) type Flow = (SocketAddr, u16);

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) flow: Flow,
    /// Begins a connection.
    pub(super) opens: bool,
    /// Neither begins nor ends one, and acknowledges up to here.
    pub(super) acknowledges: Option<u32>,
    /// Where TCP's header begins, and where the content.
    pub(super) start: usize,
    pub(super) body: usize,
}

impl Segment {
    /// Reads an incoming packet; none if it is no whole segment.
    pub(super) fn read(bytes: &[u8]) -> Option<Segment> {
        let (source, _) = packet::ends(bytes)?;
        let (start, protocol) = match bytes[0] >> 4 {
            4 => (usize::from(bytes[0] & 15) * 4, *bytes.get(9)?),
            _ => (40, *bytes.get(6)?),
        };
        let at = bytes
            .get(start..)
            .filter(|at| protocol == TCP && start >= 20 && at.len() >= 20)?;
        let body = start + usize::from(at[12] >> 4) * 4;
        if body < start + 20 || body > bytes.len() {
            return None;
        }
        let short = |from: usize| u16::from_be_bytes([at[from], at[from + 1]]);
        let number = u32::from_be_bytes([at[8], at[9], at[10], at[11]]);
        let flags = at[13] & (FIN | SYN | RST | ACK);
        Some(Segment {
            flow: (SocketAddr::new(source, short(0)), short(2)),
            opens: flags == SYN,
            acknowledges: (flags & !FIN == ACK).then_some(number),
            start,
            body,
        })
    }
}

/// In a segment that begins a connection: writes the usual size into the option that tells the
/// other side how long a segment may be, which is the first one.
pub(super) fn tell_size(packet: &mut [u8]) {
    let Some(segment) = Segment::read(packet) else {
        return;
    };
    let size = (MTU as usize - segment.start - 20) as u16;
    let at = &mut packet[segment.start..segment.body];
    if at[13] & SYN != 0 && at.get(20..22) == Some(&[2, 4]) {
        at[22..24].copy_from_slice(&size.to_be_bytes());
    }
}
