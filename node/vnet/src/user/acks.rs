//! One acknowledgement of much as several of less.
//!
//! The other end's kernel is handed super-packets, and acknowledges each once. The stack's
//! congestion control counts acknowledgements, not bytes: it opens its window by one segment for
//! each. So on the way into the stack, one that acknowledges many segments is preceded by some that
//! acknowledge part of them, as if it had been sent by an end without super-packets.

use super::segment::{FIN, Segment};

/// Bytes that one acknowledgement stands for.
const PIECE: u32 = 1380;
/// Acknowledgements that one becomes at the most: the window still doubles within a round trip
/// while it is small, and grows by a third when it is large.
const PIECES: u32 = 16;
const PSH: u8 = 0x08;

/// Appends the packets that come before one which acknowledges up to `to`, when `from` was
/// acknowledged before.
pub(super) fn before(packet: &[u8], segment: &Segment, from: u32, to: u32) -> Vec<Vec<u8>> {
    let bytes = to.wrapping_sub(from);
    // An older one, or one of what was never sent: the stack's to judge.
    if bytes > u32::MAX / 2 {
        return Vec::new();
    }
    let pieces = (bytes / PIECE).clamp(1, PIECES);
    let head = &packet[..segment.body];
    let step = bytes / pieces;
    let part = |piece: u32| {
        let mut part = head.to_vec();
        let length = head.len() as u16;
        if part[0] >> 4 == 4 {
            part[2..4].copy_from_slice(&length.to_be_bytes());
        } else {
            part[4..6].copy_from_slice(&(length - 40).to_be_bytes());
        }
        let at = &mut part[segment.start..];
        at[8..12].copy_from_slice(&from.wrapping_add(piece * step).to_be_bytes());
        // The end comes after the content, so with the whole.
        at[13] &= !(PSH | FIN);
        part
    };
    (1..pieces).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(ack: u32) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet[9] = 6;
        packet[28..32].copy_from_slice(&ack.to_be_bytes());
        packet[32] = 0x50;
        packet[33] = 0x18 | FIN;
        packet.extend(b"content");
        packet
    }

    fn numbers(from: u32, to: u32) -> Vec<u32> {
        let packet = packet(to);
        let segment = Segment::read(&packet).expect("a segment");
        let parts = before(&packet, &segment, from, to);
        let read = |part: &Vec<u8>| {
            let segment = Segment::read(part).expect("a segment");
            assert_eq!((part.len(), part[33]), (40, 0x10), "without content or end");
            segment.acknowledges.expect("a number")
        };
        parts.iter().map(read).collect()
    }

    #[test]
    fn much_is_acknowledged_in_parts() {
        assert_eq!(numbers(u32::MAX - 1379, 2760), [0, 1380]);
        let many = numbers(0, 62_100);
        assert_eq!((many.len(), many[0], many[14]), (15, 3881, 58_215));
    }

    #[test]
    fn little_and_what_is_old_stays_whole() {
        for (from, to) in [(5, 5), (0, 2000), (4000, 10)] {
            assert_eq!(numbers(from, to), [0; 0], "{from} {to}");
        }
    }
}
