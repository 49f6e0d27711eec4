//! Segments into super-packets.
//!
//! 1. A segment joins the last one of its flow if it follows on it: same addresses, ports and
//!    headers, the next number, no larger than the first. A smaller one, or one that pushes, is the
//!    last.
//! 2. Segments of a flow keep their order; what cannot be joined is written after what waits of its
//!    flow. Flows may overtake one another.
//! 3. The caller flushes after each batch, so nothing waits for a packet to come.
//! 4. Checksums of joined segments are not looked at: all bytes are authentic, so a wrong one would
//!    be the sender's own, and the kernel is told to compute it anew.

use super::checksum::{add, finish, fold, pseudo};
use super::header::{Header, Super};
use super::{TCP, UDP, plain};
use crate::tun::HEADER;

const ACK: u8 = 0x10;
const PSH: u8 = 0x08;
/// Flows that wait at once.
const FLOWS: usize = 16;
/// Datagrams in one super-packet, the kernel's bound.
const DATAGRAMS: usize = 64;
/// Bytes of an IP packet.
const PACKET: usize = 65_535;

/// What is written for a device, with the kernel's header in front.
pub(crate) trait Sink<D> {
    /// Takes one packet.
    fn write(&mut self, device: &D, packet: &[u8]);
}

impl<D, F: FnMut(&D, &[u8])> Sink<D> for F {
    fn write(&mut self, device: &D, packet: &[u8]) {
        self(device, packet);
    }
}

/// A segment's measures.
#[derive(Clone, Copy)]
struct Shape {
    protocol: u8,
    /// Where the transport header begins.
    start: usize,
    /// Length of all headers.
    head: usize,
    /// TCP's number.
    number: u32,
    push: bool,
    joins: bool,
}

impl Shape {
    fn of(packet: &[u8], udp: bool) -> Option<Shape> {
        let (start, protocol) = plain(packet)?;
        let at = &packet[start..];
        match protocol {
            TCP if at.len() >= 20 => {
                let head = start + usize::from(at[12] >> 4) * 4;
                let fits = head >= start + 20 && head < packet.len();
                Some(Shape {
                    protocol,
                    start,
                    head,
                    number: u32::from_be_bytes([at[4], at[5], at[6], at[7]]),
                    push: at[13] & PSH != 0,
                    joins: fits && at[13] & !PSH == ACK,
                })
            }
            UDP if at.len() >= 8 => Some(Shape {
                protocol,
                start,
                head: start + 8,
                number: 0,
                push: false,
                joins: udp && at.len() > 8 && at[6..8] != [0, 0],
            }),
            _ => None,
        }
    }
}

/// What waits of one flow.
struct Flow<D> {
    device: D,
    /// The kernel's header, then the packet.
    buffer: Vec<u8>,
    shape: Shape,
    /// Bytes of the first segment behind its headers.
    size: usize,
    count: usize,
    closed: bool,
}

/// Joins segments for any number of devices.
pub(crate) struct Merger<D> {
    flows: Vec<Flow<D>>,
    spare: Vec<Vec<u8>>,
}

impl<D: Clone + PartialEq> Merger<D> {
    pub(crate) fn new() -> Merger<D> {
        Merger {
            flows: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Takes a whole packet for a device, which takes super-packets of UDP only if `udp` says so.
    pub(crate) fn push(&mut self, device: &D, udp: bool, packet: &[u8], sink: &mut impl Sink<D>) {
        let Some(shape) = Shape::of(packet, udp) else {
            self.alone(device, packet, sink);
            return;
        };
        let same = |flow: &Flow<D>| flow.device == *device && flow.is_of(packet, &shape);
        if let Some(at) = self.flows.iter().position(same) {
            if shape.joins && self.flows[at].join(packet, &shape) {
                return;
            }
            self.write(at, sink);
        }
        if !shape.joins {
            self.alone(device, packet, sink);
            return;
        }
        if self.flows.len() == FLOWS {
            self.write(0, sink);
        }
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.resize(HEADER, 0);
        buffer.extend_from_slice(packet);
        self.flows.push(Flow {
            device: device.clone(),
            buffer,
            shape,
            size: packet.len() - shape.head,
            count: 1,
            closed: shape.push,
        });
    }

    /// Writes all that waits.
    pub(crate) fn flush(&mut self, sink: &mut impl Sink<D>) {
        while !self.flows.is_empty() {
            self.write(0, sink);
        }
    }

    fn alone(&mut self, device: &D, packet: &[u8], sink: &mut impl Sink<D>) {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.resize(HEADER, 0);
        buffer.extend_from_slice(packet);
        sink.write(device, &buffer);
        self.spare.push(buffer);
    }

    fn write(&mut self, at: usize, sink: &mut impl Sink<D>) {
        let mut flow = self.flows.remove(at);
        if flow.count > 1 {
            flow.complete();
        }
        sink.write(&flow.device, &flow.buffer);
        self.spare.push(flow.buffer);
    }
}

impl<D> Flow<D> {
    /// Same protocol, addresses and ports.
    fn is_of(&self, packet: &[u8], shape: &Shape) -> bool {
        let mine = &self.buffer[HEADER..];
        let start = shape.start;
        let addresses = if start == 20 { 12..20 } else { 8..40 };
        self.shape.protocol == shape.protocol
            && self.shape.start == start
            && mine[addresses.clone()] == packet[addresses]
            && mine[start..start + 4] == packet[start..start + 4]
    }

    /// Rule 1.
    fn join(&mut self, packet: &[u8], shape: &Shape) -> bool {
        let body = &packet[shape.head..];
        let mine = &self.buffer[HEADER..];
        let fits = !self.closed
            && shape.head == self.shape.head
            && body.len() <= self.size
            && mine.len() + body.len() <= PACKET
            && self.same_headers(mine, packet, shape);
        // Not before: headers of another length would be counted wrongly.
        if !fits {
            return false;
        }
        let next = match shape.protocol {
            TCP => {
                let sent = (mine.len() - shape.head) as u32;
                shape.number == self.shape.number.wrapping_add(sent)
            }
            _ => self.count < DATAGRAMS,
        };
        if !next {
            return false;
        }
        self.buffer.extend_from_slice(body);
        self.count += 1;
        self.closed = body.len() < self.size || shape.push;
        self.shape.push |= shape.push;
        true
    }

    /// Traffic class, hop limit and flags of IP; acknowledged number and options of TCP.
    fn same_headers(&self, mine: &[u8], packet: &[u8], shape: &Shape) -> bool {
        let at = shape.start;
        let ip = if at == 20 {
            mine[1] == packet[1] && mine[6..9] == packet[6..9]
        } else {
            mine[..4] == packet[..4] && mine[7] == packet[7]
        };
        let tcp = || {
            mine[at + 8..at + 13] == packet[at + 8..at + 13]
                && mine[at + 20..shape.head] == packet[at + 20..shape.head]
        };
        ip && (shape.protocol == UDP || tcp())
    }

    /// Lengths, checksums and the kernel's header of a super-packet.
    fn complete(&mut self) {
        let Shape {
            protocol,
            start,
            head,
            push,
            ..
        } = self.shape;
        let (front, packet) = self.buffer.split_at_mut(HEADER);
        let length = packet.len();
        let version = packet[0] >> 4;
        if version == 4 {
            packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            packet[10..12].fill(0);
            let sum = finish(add(0, &packet[..20]));
            packet[10..12].copy_from_slice(&sum);
        } else {
            packet[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
        }
        let (kind, offset) = if protocol == TCP {
            packet[start + 13] |= if push { PSH } else { 0 };
            (Super::Tcp, 16)
        } else {
            let bytes = ((length - start) as u16).to_be_bytes();
            packet[start + 4..start + 6].copy_from_slice(&bytes);
            (Super::Udp, 6)
        };
        let partial = fold(pseudo(packet, protocol, length - start));
        packet[start + offset..start + offset + 2].copy_from_slice(&partial);
        let header = Header {
            kind,
            size: self.size as u16,
            open: true,
            start: start as u16,
            offset: offset as u16,
        };
        header.write(version, head as u16, front);
    }
}
