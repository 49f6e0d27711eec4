//! From the network to the devices: one thread for all leases.
//!
//! 1. Receive what is there, up to [`BUFFERS`] runs of datagrams.
//! 2. A datagram's first byte says what it is; index or tag say whose. What belongs to no open
//!    lease is counted, and not answered.
//! 3. Data is opened with the pair's keys; the lease's routes say for which rank it is, or why not.
//! 4. Packets are joined for each device, and written at the end of the batch at the latest.
//! 5. A handshake by a member is answered where it came from. Only data, probes and handshakes that
//!    are authentic count as heard.

use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use boringtun::noise::errors::WireGuardError;
use boringtun::noise::{Packet, TunnResult, handshake};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use quinn_udp::RecvMeta;

use super::lease::{FRAME, Lease, Pair};
use super::port::Same;
use super::relay::Forward;
use super::socket::plain;
use super::{Shared, held, mirror};
use crate::drops::Drop;
use crate::mirror::{ANSWER, QUESTION};
use crate::offload::Merger;
use crate::path::{PONG, PROBE, Ticket, tag_of};
use crate::wire;

/// Runs of datagrams in one batch at the most.
const BUFFERS: usize = 8;
/// Bytes of a run.
const RUN: usize = 65_535;

/// Receives until the engine stops.
pub(super) fn run(shared: &Shared) {
    let mut store = vec![vec![0; RUN]; BUFFERS];
    let mut metas = [RecvMeta::default(); BUFFERS];
    let mut work = Work::new();
    while !shared.is_stopped() {
        let mut buffers: Vec<_> = store.iter_mut().map(|b| IoSliceMut::new(b)).collect();
        let Ok(count) = shared.socket.receive(&mut buffers, &mut metas) else {
            wait(shared);
            continue;
        };
        for (buffer, meta) in store.iter().zip(&metas).take(count) {
            let source = plain(meta.addr);
            if !source.ip().is_loopback() && !shared.lit.load(Relaxed) {
                shared.lit.store(true, Relaxed);
            }
            let whole = &buffer[..meta.len.min(RUN)];
            for frame in whole.chunks(meta.stride.max(1)) {
                work.take(shared, frame, source);
            }
        }
        work.end(shared);
    }
}

fn wait(shared: &Shared) {
    let mut fds = [
        PollFd::new(shared.socket.fd(), PollFlags::POLLIN),
        PollFd::new(shared.wake(), PollFlags::POLLIN),
    ];
    poll(&mut fds, PollTimeout::from(1000_u16)).ok();
}

/// What one batch remembers.
struct Work {
    merger: Merger<Same>,
    plain: Vec<u8>,
    last: Option<(u32, Arc<Pair>)>,
    heard: Option<(usize, SocketAddr)>,
    /// The ticket for the relay that it was heard by, if it was.
    by: Option<Ticket>,
    port: Option<(usize, u32, Same)>,
    forward: Forward,
}

/// Writes to the device.
fn sink(port: &Same, packet: &[u8]) {
    port.0.write(packet);
}

impl Work {
    fn new() -> Work {
        Work {
            merger: Merger::new(),
            plain: vec![0; RUN + FRAME],
            last: None,
            heard: None,
            by: None,
            port: None,
            forward: Forward::default(),
        }
    }

    /// Rule 4; what was looked up is looked up anew in the next batch.
    fn end(&mut self, shared: &Shared) {
        self.merger.flush(&mut sink);
        self.forward.flush(shared);
        self.last = None;
        self.heard = None;
        self.port = None;
    }

    fn take(&mut self, shared: &Shared, frame: &[u8], source: SocketAddr) {
        match frame.first() {
            Some(&wire::DATA) => self.data(shared, frame, source),
            Some(&(wire::RESPONSE | wire::COOKIE)) => match self.pair(shared, frame) {
                Some(pair) => self.handshake(shared, &pair, frame, source),
                None => shared.drops.add(Drop::UnknownSession, 1),
            },
            Some(&wire::HELLO) => self.hello(shared, frame, source),
            Some(&(PROBE | PONG)) => probe(shared, frame, source),
            Some(&wire::RELAYED) => self.forward.take(shared, frame, source),
            Some(&(QUESTION | ANSWER)) => mirror::take(shared, frame, source),
            Some(&wire::INITIATION) => shared.drops.add(Drop::Outsider, 1),
            _ => shared.drops.add(Drop::Malformed, 1),
        }
    }

    /// The pair that a frame's index names.
    fn pair(&mut self, shared: &Shared, frame: &[u8]) -> Option<Arc<Pair>> {
        let index = wire::index(frame)?;
        if let Some((last, pair)) = &self.last
            && *last == index
        {
            return Some(pair.clone());
        }
        let pair = held(shared.sessions.read()).by_index(index)?;
        self.last = Some((index, pair.clone()));
        Some(pair)
    }

    /// Rule 3.
    fn data(&mut self, shared: &Shared, frame: &[u8], source: SocketAddr) {
        let Some(pair) = self.pair(shared, frame) else {
            shared.drops.add(Drop::UnknownSession, 1);
            return;
        };
        let plain = &mut self.plain;
        let opened = pair.noise(|noise| match noise.decapsulate(None, frame, plain) {
            TunnResult::WriteToTunnelV4(packet, _) => Ok(packet.len()),
            TunnResult::WriteToTunnelV6(packet, _) => Ok(packet.len()),
            TunnResult::Err(error) => Err(reason(&error, Drop::Forged)),
            _ => Ok(0),
        });
        match opened {
            None => shared.drops.add(Drop::UnknownSession, 1),
            Some(Err(drop)) => pair.drops.add(drop, 1),
            Some(Ok(bytes)) => {
                self.hear(shared, &pair, source);
                if bytes == 0 {
                    flush_queue(shared, &pair);
                } else {
                    pair.received.add(1, bytes as u64);
                    if let Some(ticket) = &self.by {
                        pair.path(shared, |path| path.carried(ticket, 0, frame.len() as u64));
                    }
                    self.deliver(&pair, bytes);
                }
            }
        }
    }

    fn deliver(&mut self, pair: &Arc<Pair>, bytes: usize) {
        let lease = &pair.lease;
        let packet = &self.plain[..bytes];
        let rank = match lease.members().routes.incoming(pair.number, packet) {
            Ok(rank) => rank,
            Err(drop) => {
                pair.drops.add(drop, 1);
                return;
            }
        };
        let known = self.port.as_ref();
        let known = known.filter(|(number, of, _)| *number == pair.number && *of == rank);
        let port = match known {
            Some((_, _, port)) => port.clone(),
            None => match lease.port(rank).filter(|port| port.is_open()) {
                Some(port) => Same(port),
                None => {
                    lease.drops.add(Drop::NoDevice, 1);
                    return;
                }
            },
        };
        let udp = port.0.offloads.udp;
        self.merger.push(&port, udp, packet, &mut sink);
        self.port = Some((pair.number, rank, port));
    }

    /// Rule 5, once in a batch for each source.
    fn hear(&mut self, shared: &Shared, pair: &Pair, source: SocketAddr) {
        let heard = Some((pair.number, source));
        if self.heard != heard {
            self.heard = heard;
            self.by = pair.path(shared, |path| {
                path.heard(source, shared.now());
                path.via(source).ticket
            });
        }
    }

    /// A handshake that someone begins.
    fn hello(&mut self, shared: &Shared, frame: &[u8], source: SocketAddr) {
        let found = wire::read_hello(frame);
        let found = found.and_then(|(tag, initiation)| {
            let lease = held(shared.sessions.read()).by_lease_tag(&tag)?;
            Some((lease, initiation))
        });
        match found {
            None => shared.drops.add(Drop::Outsider, 1),
            Some((lease, initiation)) => match initiator(shared, &lease, initiation, source) {
                Ok(pair) => self.handshake(shared, &pair, initiation, source),
                Err(drop) => lease.drops.add(drop, 1),
            },
        }
    }

    /// A part of a handshake for a pair; answered where it came from.
    fn handshake(&mut self, shared: &Shared, pair: &Pair, frame: &[u8], source: SocketAddr) {
        let plain = &mut self.plain;
        let address = Some(source.ip());
        let answer = pair.noise(|noise| match noise.decapsulate(address, frame, plain) {
            TunnResult::WriteToNetwork(bytes) => Ok(bytes.len()),
            TunnResult::Err(error) => Err(reason(&error, Drop::Outsider)),
            _ => Ok(0),
        });
        match answer {
            None => shared.drops.add(Drop::UnknownSession, 1),
            Some(Err(drop)) => pair.drops.add(drop, 1),
            Some(Ok(bytes)) => {
                let via = pair.path(shared, |path| {
                    path.heard(source, shared.now());
                    path.via(source)
                });
                if bytes > 0 {
                    shared.socket.send(&via, &self.plain[..bytes]);
                }
                flush_queue(shared, pair);
            }
        }
    }
}

/// Sends what waited for a session.
fn flush_queue(shared: &Shared, pair: &Pair) {
    let mut frame = vec![0; 9_216 + FRAME];
    while let Some(bytes @ 1..) = pair.noise(|noise| {
        match noise
            .time_since_last_handshake()
            .map(|_| noise.decapsulate(None, &[], &mut frame))
        {
            Some(TunnResult::WriteToNetwork(bytes)) => bytes.len(),
            _ => 0,
        }
    }) {
        pair.send(shared, &frame[..bytes]);
    }
}

/// The member that a handshake is by.
fn initiator(
    shared: &Shared,
    lease: &Lease,
    initiation: &[u8],
    source: SocketAddr,
) -> Result<Arc<Pair>, Drop> {
    let mut cookie = [0; FRAME];
    let limiter = &lease.limiter;
    match limiter.verify_packet(Some(source.ip()), initiation, &mut cookie) {
        Ok(Packet::HandshakeInit(packet)) => {
            let public = lease.public.into();
            let half = handshake::parse_handshake_anon(&lease.secret.x25519(), &public, &packet);
            let half = half.map_err(|_| Drop::Outsider)?;
            let members = lease.members();
            let pair = members.by_public(&half.peer_static_public);
            pair.cloned().ok_or(Drop::Outsider)
        }
        Err(TunnResult::WriteToNetwork(bytes)) => {
            shared.socket.send_run(source, bytes, bytes.len());
            Err(Drop::Flood)
        }
        Err(TunnResult::Err(WireGuardError::UnderLoad)) => Err(Drop::Flood),
        _ => Err(Drop::Outsider),
    }
}

/// A probe or its answer.
fn probe(shared: &Shared, frame: &[u8], source: SocketAddr) {
    let tag = tag_of(frame);
    let pair = tag.and_then(|tag| held(shared.sessions.read()).by_probe(&tag));
    match pair {
        None => shared.drops.add(Drop::UnknownSession, 1),
        Some(pair) => {
            let now = shared.now();
            if !pair.path(shared, |path| path.message(frame, source, now)) {
                pair.drops.add(Drop::Outsider, 1);
            }
        }
    }
}

/// What an error of the session means; `else_` if nothing more is known.
fn reason(error: &WireGuardError, else_: Drop) -> Drop {
    match error {
        WireGuardError::DuplicateCounter
        | WireGuardError::InvalidCounter
        | WireGuardError::WrongTai64nTimestamp => Drop::Replay,
        WireGuardError::NoCurrentSession | WireGuardError::WrongIndex => Drop::UnknownSession,
        WireGuardError::InvalidPacket => Drop::NotIp,
        WireGuardError::UnderLoad => Drop::Flood,
        _ => else_,
    }
}
