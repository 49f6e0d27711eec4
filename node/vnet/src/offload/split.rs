//! Super-packets into segments.

use super::checksum::{add, finish, pseudo};
use super::header::{Header, Super};
use super::{TCP, UDP};

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// Packets one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Segments {
    /// The longest of those from `first` on; 0 if there are none.
    pub(crate) fn longest(&self, first: usize) -> usize {
        let lengths = (first..self.len()).map(|index| self.get(index).len());
        lengths.max().unwrap_or(0)
    }

    /// Forgets those from `first` on.
    pub(crate) fn truncate(&mut self, first: usize) {
        let end = first.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.bytes.truncate(end);
        self.ends.truncate(first);
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// One of them; must be there.
    pub(crate) fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    /// Appends a packet of two pieces, and returns it to be completed.
    fn add(&mut self, head: &[u8], body: &[u8]) -> &mut [u8] {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(head);
        self.bytes.extend_from_slice(body);
        self.ends.push(self.bytes.len());
        &mut self.bytes[start..]
    }
}

/// Appends the segments that a packet stands for, each complete; whether it is well formed.
///
/// What the header says comes from the kernel, and what it is about from a job: nothing is taken on
/// trust.
pub(crate) fn split(header: &Header, packet: &mut [u8], into: &mut Segments) -> bool {
    let start = usize::from(header.start);
    if header.kind == Super::One {
        if header.open && !close(packet, start, usize::from(header.offset)) {
            return false;
        }
        into.add(packet, &[]);
        return true;
    }
    let version = packet.first().map_or(0, |byte| byte >> 4);
    let least = if version == 4 { 20 } else { 40 };
    let (protocol, head) = match header.kind {
        Super::Tcp => (TCP, start + tcp_length(packet, start)),
        _ => (UDP, start + 8),
    };
    let odd = !matches!(version, 4 | 6) || start < least || header.size == 0;
    if odd || head <= start || head >= packet.len() {
        return false;
    }
    let (head, body) = packet.split_at(head);
    let count = body.len().div_ceil(usize::from(header.size));
    for (index, piece) in body.chunks(usize::from(header.size)).enumerate() {
        let segment = into.add(head, piece);
        outer(segment, index);
        let at = &mut segment[start..];
        let offset = if protocol == TCP {
            tcp(at, index, count, usize::from(header.size));
            16
        } else {
            let length = (at.len() as u16).to_be_bytes();
            at[4..6].copy_from_slice(&length);
            6
        };
        seal(segment, start, offset, protocol);
    }
    true
}

/// Completes a checksum that was left open over what stands in its place.
fn close(packet: &mut [u8], start: usize, offset: usize) -> bool {
    let Some(place) = start
        .checked_add(offset)
        .filter(|at| at + 2 <= packet.len())
    else {
        return false;
    };
    let sum = finish(add(0, &packet[start..]));
    packet[place..place + 2].copy_from_slice(&nonzero(sum));
    true
}

/// Length of a TCP header, 0 if it is none.
fn tcp_length(packet: &[u8], start: usize) -> usize {
    let length = packet
        .get(start + 12)
        .map_or(0, |byte| usize::from(byte >> 4) * 4);
    if length < 20 { 0 } else { length }
}

/// Length, number and checksum of the IP header.
fn outer(segment: &mut [u8], index: usize) {
    if segment[0] >> 4 == 6 {
        let length = ((segment.len() - 40) as u16).to_be_bytes();
        segment[4..6].copy_from_slice(&length);
        return;
    }
    let length = (segment.len() as u16).to_be_bytes();
    segment[2..4].copy_from_slice(&length);
    let number = u16::from_be_bytes([segment[4], segment[5]]).wrapping_add(index as u16);
    segment[4..6].copy_from_slice(&number.to_be_bytes());
    segment[10..12].fill(0);
    let bytes = (usize::from(segment[0] & 15) * 4).clamp(20, segment.len());
    let sum = finish(add(0, &segment[..bytes]));
    segment[10..12].copy_from_slice(&sum);
}

/// Sequence number and flags of one of several segments.
fn tcp(at: &mut [u8], index: usize, count: usize, size: usize) {
    let first = u32::from_be_bytes([at[4], at[5], at[6], at[7]]);
    let number = first.wrapping_add((index * size) as u32);
    at[4..8].copy_from_slice(&number.to_be_bytes());
    if index + 1 < count {
        at[13] &= !(FIN | PSH);
    }
    if index > 0 {
        at[13] &= !CWR;
    }
}

fn seal(segment: &mut [u8], start: usize, offset: usize, protocol: u8) {
    let place = start + offset;
    segment[place..place + 2].fill(0);
    let sum = pseudo(segment, protocol, segment.len() - start);
    let sum = finish(add(sum, &segment[start..]));
    segment[place..place + 2].copy_from_slice(&nonzero(sum));
}

/// Zero means that there is none, for UDP; the other zero means the same sum.
fn nonzero(sum: [u8; 2]) -> [u8; 2] {
    if sum == [0, 0] { [0xff, 0xff] } else { sum }
}
