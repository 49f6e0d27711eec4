//! What a stack in this process leaves to the reader of its packets, as a kernel does.

use super::checksum::{fold, pseudo};
use super::header::{Header, Super};
use super::{TCP, plain};
use crate::tun::{HEADER, MTU};

/// Writes the kernel's header in front of a packet of the stack's: one of TCP has no checksum yet,
/// and stands for segments that are no longer than a device's packets, and have no more than `most`
/// bytes behind their headers. Other packets are complete.
pub(crate) fn leave_open(bytes: &mut [u8], most: u16) {
    let Some((front, packet)) = bytes.split_at_mut_checked(HEADER) else {
        return;
    };
    front.fill(0);
    let Some((start, TCP)) = plain(packet) else {
        return;
    };
    let Some(at) = packet.get_mut(start..).filter(|at| at.len() >= 20) else {
        return;
    };
    let head = start + usize::from(at[12] >> 4) * 4;
    let body = packet.len().saturating_sub(head);
    let partial = fold(pseudo(packet, TCP, packet.len() - start));
    packet[start + 16..start + 18].copy_from_slice(&partial);
    let header = Header {
        kind: if body > 0 { Super::Tcp } else { Super::One },
        size: (MTU as usize - head).min(usize::from(most)) as u16,
        open: true,
        start: start as u16,
        offset: 16,
    };
    header.write(packet[0] >> 4, head as u16, front);
}
