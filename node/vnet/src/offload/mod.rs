//! Super-packets: what the kernel leaves to the reader of a device, and takes from its writer.
//!
//! 1. In front of each packet stands the kernel's header ([`Header`]). A packet of up to 64 kB may
//!    stand for many alike segments, and its checksum may be left open.
//! 2. [`split()`] makes whole segments of what was read: lengths, numbers, checksums.
//! 3. [`Merger`] makes super-packets of segments that were received one after the other, so that
//!    the kernel is entered once for dozens.
//!
//! 4. A stack in this process is given and gives the same packets as a kernel ([`leave_open`]).
//!
//! This, and its counterpart for datagrams, is what makes the data plane fast; sealing is not its
//! bound.

mod checksum;
mod header;
mod merge;
mod open;
mod split;
mod too_big;

pub(crate) use header::{Header, Super};
pub(crate) use merge::Merger;
pub(crate) use open::leave_open;
pub(crate) use split::{Segments, split};
pub(crate) use too_big::too_big;

/// IP protocol numbers.
const TCP: u8 = 6;
/// See above.
const UDP: u8 = 17;

/// Where the transport header begins in a packet whose IP header is a plain one: version 4 without
/// options and not a fragment, or version 6 with the transport directly behind it.
fn plain(packet: &[u8]) -> Option<(usize, u8)> {
    match packet.first()? {
        0x45 if packet.len() >= 20 && packet[6] & 0x3f == 0 && packet[7] == 0 => {
            Some((20, packet[9]))
        }
        first if first >> 4 == 6 && packet.len() >= 40 => Some((40, packet[6])),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
