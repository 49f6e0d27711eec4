//! The kernel's header in front of each packet (`virtio_net_hdr`).

use crate::tun::HEADER;

/// The checksum is left open.
const NEEDS_CHECKSUM: u8 = 1;
const NONE: u8 = 0;
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
const UDP_SEGMENTS: u8 = 5;
/// Marks TCP segments with congestion bits.
const ECN: u8 = 0x80;

/// What a packet stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Super {
    /// For itself.
    One,
    /// For TCP segments.
    Tcp,
    /// For UDP datagrams.
    Udp,
}

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// What the packet stands for.
    pub(crate) kind: Super,
    /// Bytes of each segment behind its headers, the last one's excepted.
    pub(crate) size: u16,
    /// Whether the checksum is left open.
    pub(crate) open: bool,
    /// Where the transport header begins.
    pub(crate) start: u16,
    /// Where in the transport header the checksum stands.
    pub(crate) offset: u16,
}

impl Header {
    /// Reads the header; none if it is short or of a kind that was not asked for.
    pub(crate) fn read(bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.get(..HEADER)?;
        let short = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let kind = match bytes[1] & !ECN {
            NONE => Super::One,
            TCP_V4 | TCP_V6 => Super::Tcp,
            UDP_SEGMENTS => Super::Udp,
            _ => return None,
        };
        Some(Header {
            kind,
            size: short(4),
            open: bytes[0] & NEEDS_CHECKSUM != 0,
            start: short(6),
            offset: short(8),
        })
    }

    /// Makes the segments that a packet of TCP stands for so small that they pass a way which takes
    /// `longest` bytes.
    pub(crate) fn cut(&mut self, packet: &[u8], longest: u16) {
        let at = usize::from(self.start) + 12;
        if let (Super::Tcp, Some(byte)) = (self.kind, packet.get(at)) {
            let head = self.start + u16::from(byte >> 4) * 4;
            self.size = self.size.min(longest.saturating_sub(head).max(1));
        }
    }

    /// Writes the header of a packet of that version of IP; `length` is that of all its headers.
    pub(crate) fn write(&self, version: u8, length: u16, bytes: &mut [u8]) {
        let kind = match (self.kind, version) {
            (Super::One, _) => NONE,
            (Super::Tcp, 4) => TCP_V4,
            (Super::Tcp, _) => TCP_V6,
            (Super::Udp, _) => UDP_SEGMENTS,
        };
        bytes[0] = if self.open { NEEDS_CHECKSUM } else { 0 };
        bytes[1] = kind;
        let shorts = [length, self.size, self.start, self.offset];
        for (slot, short) in bytes[2..HEADER].chunks_exact_mut(2).zip(shorts) {
            slot.copy_from_slice(&short.to_ne_bytes());
        }
    }
}
