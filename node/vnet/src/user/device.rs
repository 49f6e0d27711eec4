//! The stack's device: packets as the engine has them.
//!
//! 1. In: whole packets or super-packets, already authentic; their checksums are not looked at.
//! 2. Out: segments of the usual size, or super-packets of [`RUN`] segments, which are what one
//!    system call sends. Checksums of TCP are left open.
//! 3. The stack takes packets of any length, and would tell the other side so; what it tells is
//!    changed to the usual size.

use std::num::NonZeroUsize;

use smoltcp::phy::{Checksum, Device, DeviceCapabilities, Medium, PacketMeta, RxToken, TxToken};
use smoltcp::time::Instant;

use super::segment::tell_size;
use crate::offload::leave_open;
use crate::tun::{HEADER, MTU};

/// Segments of a super-packet.
const RUN: usize = 44;
/// Bytes of the headers of IP and TCP.
const HEADS: (usize, usize) = (40, 60);

/// What takes the packets that leave, each with the kernel's header in front.
pub(super) type Out<'a> = &'a mut dyn FnMut(&mut [u8]);

/// The device for one poll of the stack.
pub(super) struct Wire<'a> {
    /// The packet that comes in.
    pub(super) packet: Option<&'a [u8]>,
    pub(super) out: Out<'a>,
    /// Where outgoing packets are put together.
    pub(super) buffer: &'a mut Vec<u8>,
}

/// An incoming packet.
pub(super) struct Incoming<'a>(&'a [u8]);

/// A place for an outgoing packet.
pub(super) struct Outgoing<'a> {
    out: &'a mut dyn FnMut(&mut [u8]),
    buffer: &'a mut Vec<u8>,
    /// Bytes of a segment at the most.
    size: u16,
}

impl RxToken for Incoming<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, work: F) -> R {
        work(self.0)
    }
}

impl TxToken for Outgoing<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, work: F) -> R {
        self.buffer.resize(HEADER + length, 0);
        // Not all of a header is written.
        let heads = self.buffer.len().min(HEADER + 128);
        self.buffer[..heads].fill(0);
        let result = work(&mut self.buffer[HEADER..]);
        tell_size(&mut self.buffer[HEADER..]);
        leave_open(self.buffer, self.size);
        (self.out)(self.buffer);
        result
    }

    fn set_meta(&mut self, meta: PacketMeta) {
        self.size = meta.segmentation_offload_size.map_or(u16::MAX, Into::into);
    }
}

impl Device for Wire<'_> {
    type RxToken<'b>
        = Incoming<'b>
    where
        Self: 'b;
    type TxToken<'b>
        = Outgoing<'b>
    where
        Self: 'b;

    fn receive(&mut self, now: Instant) -> Option<(Incoming<'_>, Outgoing<'_>)> {
        let packet = self.packet.take()?;
        Some((Incoming(packet), self.transmit(now)?))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Outgoing<'_>> {
        Some(Outgoing {
            out: self.out,
            buffer: self.buffer,
            size: u16::MAX,
        })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mtu = MTU as usize;
        let run = |heads: usize| NonZeroUsize::new(heads + RUN * (mtu - heads));
        let mut device = DeviceCapabilities::default();
        device.medium = Medium::Ip;
        // What is longer than this would be dropped, super-packets of IPv6 included.
        device.max_transmission_unit = usize::from(u16::MAX);
        device.checksum.ipv4 = Checksum::Tx;
        device.checksum.tcp = Checksum::None;
        device.checksum.icmpv4 = Checksum::Tx;
        device.checksum.icmpv6 = Checksum::Tx;
        device.segmentation.tcpv4 = run(HEADS.0);
        device.segmentation.tcpv6 = run(HEADS.1);
        device
    }
}
