//! From a device to the network: one thread for each attached device. A stack in this process has
//! its thread elsewhere ([`super::user`]), and follows the same rules from 2 on.
//!
//! 1. Read a packet, up to 64 kB, with the kernel's header.
//! 2. The lease's routes say where it goes, or why not. A question to the lease's resolver goes
//!    nowhere: it is answered here ([`crate::names`]).
//! 3. To a rank of this node: written to its device as it is.
//! 4. To a member: split, sealed in runs, sent on the way in use. What can be read without waiting
//!    joins the run, so that a burst of small packets is few calls. The session's lock is not held
//!    while the kernel sends: the receiving thread needs it.
//! 5. A packet that is longer than the way is known to take is answered as a router would.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::sync::Arc;

use boringtun::noise::TunnResult;

use super::Shared;
use super::lease::{FRAME, Lease, Pair};
use super::port::Port;
use super::socket::RUN;
use crate::drops::Drop;
use crate::names;
use crate::offload::{Header, Segments, Super, split, too_big};
use crate::path::{SEAL, Via};
use crate::route::Hop;
use crate::tun::HEADER;
use crate::wire;

/// Segments that are sent at once, whatever else waits.
const ENOUGH: usize = 32;

/// Reads the device until it is closed or the port is stopped.
pub(super) fn run(shared: &Shared, lease: &Arc<Lease>, port: &Port) {
    let Some(device) = port.device() else {
        return;
    };
    let mut buffer = vec![0; HEADER + 65_535];
    let mut work = Work::default();
    while !port.is_stopped() {
        match device.read(&mut buffer) {
            Ok(bytes) if bytes > HEADER => work.take(shared, lease, port, &mut buffer[..bytes]),
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock if work.to.is_some() => work.flush(shared),
                ErrorKind::WouldBlock => port.wait(&device),
                // Or a super-packet of a kind that this kernel has no header for: it is lost.
                ErrorKind::Interrupted | ErrorKind::InvalidInput => {}
                // The device is gone, or its namespace.
                _ => break,
            },
        }
    }
    port.close();
}

/// What was read and is not sent yet, all for one member.
#[derive(Default)]
pub(super) struct Work {
    to: Option<Arc<Pair>>,
    segments: Segments,
    out: Vec<u8>,
}

impl Work {
    /// Rules 2 to 5 for a packet with the kernel's header.
    pub(super) fn take(
        &mut self,
        shared: &Shared,
        lease: &Arc<Lease>,
        port: &Port,
        read: &mut [u8],
    ) {
        let members = lease.members();
        let hop = match members.routes.outgoing(port.rank, &read[HEADER..]) {
            Ok(hop) => hop,
            Err(drop) => return refuse(lease, port, drop, &read[HEADER..]),
        };
        match hop {
            Hop::Own(rank) => {
                let other = lease.port(rank);
                if !other.is_some_and(|other| across(read, &other)) {
                    lease.drops.add(Drop::NoDevice, 1);
                }
            }
            Hop::Member(number) => {
                let Some(pair) = members.by_number(number) else {
                    return lease.drops.add(Drop::NoRoute, 1);
                };
                if self.to.as_ref().is_none_or(|to| !Arc::ptr_eq(to, pair)) {
                    self.flush(shared);
                    self.to = Some(pair.clone());
                }
                if !self.add(pair, port, read) {
                    lease.drops.add(Drop::NotIp, 1);
                }
                if self.segments.len() >= ENOUGH {
                    self.flush(shared);
                }
            }
        }
    }

    /// Rule 4 and 5, up to sealing; whether the packet is well formed.
    fn add(&mut self, pair: &Pair, port: &Port, read: &mut [u8]) -> bool {
        let before = self.segments.len();
        let Some(mut header) = Header::read(read) else {
            return false;
        };
        let packet = &mut read[HEADER..];
        let bound = pair.bound();
        if let Some(bound) = bound.filter(|_| port.may_be_cut()) {
            header.cut(packet, bound);
        }
        if !split(&header, packet, &mut self.segments) {
            return false;
        }
        let longer = |bound: &u16| self.segments.longest(before) > usize::from(*bound);
        if let Some(bound) = bound.filter(longer) {
            self.segments.truncate(before);
            pair.drops.add(Drop::TooBig, 1);
            if let Some(answer) = too_big(packet, bound) {
                port.write(&answer);
            }
        }
        true
    }

    /// Sends all that waits.
    pub(super) fn flush(&mut self, shared: &Shared) {
        if let Some(pair) = self.to.take() {
            self.send(shared, &pair);
        }
        self.segments.clear();
    }

    fn send(&mut self, shared: &Shared, pair: &Pair) {
        let via = pair.sending(shared.now());
        let mut next = 0;
        while next < self.segments.len() {
            next = match &via {
                Some(via) => self.send_run(shared, pair, via, next),
                None => self.keep(pair, next),
            };
        }
    }

    /// Seals and sends one run from segment `from` on; returns where the next one begins.
    fn send_run(&mut self, shared: &Shared, pair: &Pair, via: &Via, from: usize) -> usize {
        let head = via.ticket.as_ref().map(wire::relay_head);
        let head = head.as_ref().map_or(&[][..], |head| head);
        let first = self.segments.get(from).len();
        let size = head.len() + first + SEAL;
        let most = shared.socket.run().min(RUN.1 / size).max(1);
        let mut to = from + 1;
        while to < self.segments.len()
            && to - from < most
            && self.segments.get(to - 1).len() == first
            && self.segments.get(to).len() <= first
        {
            to += 1;
        }
        self.out.resize((to - from) * size + FRAME, 0);
        let (segments, out) = (&self.segments, &mut self.out);
        let (mut end, mut bytes, mut handshake) = (0, 0, None);
        let sealed = pair.noise(|noise| {
            for index in from..to {
                let packet = segments.get(index);
                let place = end + head.len();
                out[end..place].copy_from_slice(head);
                match noise.encapsulate(packet, &mut out[place..]) {
                    TunnResult::WriteToNetwork(frame) if frame[0] == wire::DATA => {
                        end = place + frame.len();
                        bytes += packet.len();
                    }
                    // There is no session yet: the packet waits, and this begins one.
                    TunnResult::WriteToNetwork(frame) => handshake = Some(frame.to_vec()),
                    _ => {}
                }
            }
        });
        if let Some(frame) = handshake {
            pair.send(shared, &frame);
        }
        if end > 0 && sealed.is_some() {
            shared.socket.send_run(via.at, &self.out[..end], size);
            pair.sent.add((to - from) as u64, bytes as u64);
            if let Some(ticket) = &via.ticket {
                let sent = end - (to - from) * head.len();
                pair.path(shared, |path| path.carried(ticket, sent as u64, 0));
            }
        }
        to
    }

    /// Without a way: what comes before the first handshake waits in the session, the rest is lost.
    fn keep(&mut self, pair: &Pair, from: usize) -> usize {
        let packet = self.segments.get(from);
        self.out.resize(packet.len() + FRAME, 0);
        let out = &mut self.out;
        let kept = pair.noise(|noise| {
            let waits = noise.time_since_last_handshake().is_none();
            if waits {
                noise.encapsulate(packet, out);
            }
            waits
        });
        if kept != Some(true) {
            pair.drops.add(Drop::NoPath, 1);
        }
        from + 1
    }
}

/// A packet that leads nowhere: a question to the lease's resolver is answered, others count.
fn refuse(lease: &Lease, port: &Port, drop: Drop, packet: &[u8]) {
    let members = lease.members();
    let is_member = |address: &IpAddr| members.routes.leads_to(address);
    let asked = Some(packet).filter(|_| drop == Drop::NoRoute);
    let answer = asked.and_then(|packet| names::answer(&lease.plan, is_member, packet));
    match answer {
        Some(answer) if port.write(&answer) => {}
        _ => lease.drops.add(drop, 1),
    }
}

/// A packet between two ranks of this node, whole if the other end takes super-packets of its kind.
fn across(read: &mut [u8], other: &Port) -> bool {
    let Some(header) = Header::read(read) else {
        return false;
    };
    let takes = match header.kind {
        Super::One => other.offloads.tcp || !header.open,
        Super::Tcp => other.offloads.tcp,
        Super::Udp => other.offloads.udp,
    };
    if takes {
        return other.write(read);
    }
    let mut segments = Segments::default();
    let whole = split(&header, &mut read[HEADER..], &mut segments);
    let packets = (0..segments.len()).map(|index| segments.get(index));
    whole
        && packets.fold(true, |all, packet| {
            all & other.write(&[&[0; HEADER], packet].concat())
        })
}
