//! The one UDP socket of a node, for all leases.
//!
//! 1. Datagrams of equal length, but for a shorter last one, leave in one call and arrive in one
//!    buffer, where the kernel can do it.
//! 2. The socket never blocks. A full one is waited for, 100 ms at the most; then the datagrams are
//!    lost, as in any full queue.
//! 3. Addresses are plain: one of IPv4 is never written as one of IPv6.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};

use crate::path::Via;
use crate::wire;

/// Datagrams of one run at the most, and their bytes.
pub(super) const RUN: (usize, usize) = (64, 64_000);
/// Milliseconds.
const FULL: u16 = 100;

pub(super) struct Socket {
    udp: UdpSocket,
    state: UdpSocketState,
    /// Whether addresses of IPv4 have to be written as ones of IPv6.
    mapped: bool,
}

impl Socket {
    pub(super) fn bind(address: SocketAddr, buffer: usize) -> io::Result<Socket> {
        let udp = UdpSocket::bind(address)?;
        udp.set_nonblocking(true)?;
        let state = UdpSocketState::new(UdpSockRef::from(&udp))?;
        // Without a capability the kernel cuts these to its limits; both still work.
        state
            .set_recv_buffer_size(UdpSockRef::from(&udp), buffer)
            .ok();
        state
            .set_send_buffer_size(UdpSockRef::from(&udp), buffer)
            .ok();
        let mapped = udp.local_addr()?.is_ipv6();
        Ok(Socket { udp, state, mapped })
    }

    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.udp.as_fd()
    }

    /// Datagrams in one run at the most.
    pub(super) fn run(&self) -> usize {
        self.state.max_gso_segments().clamp(1, RUN.0)
    }

    /// Receives what is there, without waiting.
    pub(super) fn receive(
        &self,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> io::Result<usize> {
        self.state.recv(UdpSockRef::from(&self.udp), buffers, metas)
    }

    /// Sends one datagram on a way, if the socket takes it now: probes and handshakes are sent
    /// again, and who sends them may hold locks.
    pub(super) fn send(&self, via: &Via, frame: &[u8]) {
        let _full = match via.ticket {
            None => self.try_send(via.at, frame, frame.len()),
            Some(ticket) => {
                let whole = [&wire::relay_head(&ticket), frame].concat();
                self.try_send(via.at, &whole, whole.len())
            }
        };
    }

    fn try_send(&self, to: SocketAddr, bytes: &[u8], size: usize) -> io::Result<()> {
        let transmit = Transmit {
            destination: self.written(to),
            ecn: None,
            contents: bytes,
            segment_size: (size < bytes.len()).then_some(size),
            src_ip: None,
        };
        self.state.try_send(UdpSockRef::from(&self.udp), &transmit)
    }

    /// Sends datagrams that lie one behind the other, each of `size` bytes but for the last. Waits
    /// a little where the socket is full.
    pub(super) fn send_run(&self, to: SocketAddr, bytes: &[u8], size: usize) {
        loop {
            match self.try_send(to, bytes, size) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let mut fds = [PollFd::new(self.fd(), PollFlags::POLLOUT)];
                    if poll(&mut fds, PollTimeout::from(FULL)) == Ok(0) {
                        return;
                    }
                }
                // Anything else is a datagram lost on its way.
                _ => return,
            }
        }
    }

    fn written(&self, to: SocketAddr) -> SocketAddr {
        match to.ip() {
            IpAddr::V4(v4) if self.mapped => SocketAddr::new(v4.to_ipv6_mapped().into(), to.port()),
            _ => to,
        }
    }
}

/// An address as everything else here writes it.
pub(super) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
