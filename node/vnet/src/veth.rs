//! A device without `/dev/net/tun`: one end of a virtual cable (veth), whose other end is a packet
//! socket.
//!
//! The supervisor, where [`crate::tun`] has no device to open:
//!
//! 1. [`open`] makes a pair of Ethernet devices: one in the job's network namespace, the other in a
//!    namespace that has nothing else in it, where no process stays. A packet socket there takes
//!    what the job's device sends, and gives it what it receives.
//! 2. The job's device is set up like a TUN ([`crate::tun::configure`]), and the socket handed to
//!    the node, which uses it as it uses a TUN's descriptor: packets of up to 64 kB with the
//!    kernel's header, behind which there is one of Ethernet here.
//!
//! What to know about it:
//!
//! - It takes `veth` and packet sockets of the kernel (`CONFIG_VETH`, `CONFIG_PACKET`), and one
//!   more network namespace for each job. None of them takes privilege.
//! - The socket keeps its own namespace alive, and not the job's. The devices go with the job, and
//!   the socket then says that its network is down.
//! - Its queue is the socket's receive buffer, which counts bytes and drops what is beyond. Without
//!   privilege it is as large as `net.core.rmem_max` allows.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};

use crate::netlink::Netlink;
use crate::sys;
use crate::tun::{HEADER, MTU, Offloads, QUEUE, index};

/// Name of the cable's other end, in its own namespace.
const FAR: &str = "far";
/// Ethernet addresses of the job's end and of the other one.
const NEAR_ADDRESS: [u8; 6] = [0x02, 0x67, 0x62, 0, 0, 1];
/// See above.
const FAR_ADDRESS: [u8; 6] = [0x02, 0x67, 0x62, 0, 0, 2];
/// Bytes of an Ethernet header.
const FRAME: usize = 14;
/// Bytes that may wait to be read: a few dozen super-packets.
const WAITING: usize = 4 << 20;
/// The checksum is left open, see [`crate::offload`].
const OPEN: u8 = 1;

/// Makes a device of that name in the calling thread's network namespace, and returns the socket at
/// the other end of its cable; not blocking, closed on exec. The thread is in its namespace again
/// when this returns.
///
/// # Errors
/// `EOPNOTSUPP` where the kernel has no veth, `EAFNOSUPPORT` where it has no packet sockets,
/// `PermissionDenied` where the namespace is not this user's, `EEXIST` where the name is taken.
pub fn open(name: &str) -> io::Result<OwnedFd> {
    let home = File::open("/proc/thread-self/ns/net")?;
    unshare(CloneFlags::CLONE_NEWNET)?;
    let made = far_end(name, &home);
    setns(&home, CloneFlags::CLONE_NEWNET)?;
    let socket = made?;
    let mut netlink = Netlink::open()?;
    netlink.no_arp(index(name)?)?;
    Ok(socket)
}

/// Makes both ends from the namespace of the other one.
fn far_end(name: &str, home: &File) -> io::Result<OwnedFd> {
    let mut netlink = Netlink::open()?;
    let (far, near) = ((FAR, FAR_ADDRESS), (name, NEAR_ADDRESS));
    netlink.pair(far, near, home.as_fd())?;
    let index = index(FAR)?;
    netlink.no_arp(index)?;
    netlink.no_link_local(index).ok();
    netlink.link(index, MTU, QUEUE)?;
    // Of no protocol at first: it receives nothing before it is bound.
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None)?;
    sys::set_packet_options(socket.as_fd())?;
    setsockopt(&socket, sockopt::RcvBuf, &WAITING)?;
    sys::bind_packet(socket.as_fd(), index)?;
    Ok(socket)
}

/// Whether a received descriptor is such a socket, and what its device leaves to the node and takes
/// from it.
///
/// # Errors
/// If the descriptor is none, or has no header of the kernel's.
pub fn take(socket: impl AsFd) -> io::Result<Offloads> {
    if !sys::is_packet(socket.as_fd())? {
        return Err(io::Error::other(
            "no packet socket with the kernel's header",
        ));
    }
    // Kernels before 6.2 know no super-packets of UDP here, and there is no way to ask.
    Ok(Offloads {
        tcp: true,
        udp: false,
    })
}

/// Reads a packet with the kernel's header, as from a TUN: the number of bytes.
pub(crate) fn read(mut socket: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let (front, packet) = buffer.split_at_mut(HEADER);
    let mut frame = [0; FRAME];
    let mut into = [
        IoSliceMut::new(front),
        IoSliceMut::new(&mut frame),
        IoSliceMut::new(packet),
    ];
    let bytes = socket.read_vectored(&mut into)?;
    shift(front, |at| at.saturating_sub(FRAME as u16));
    Ok(bytes.saturating_sub(FRAME))
}

/// Writes a packet with the kernel's header, as to a TUN.
pub(crate) fn write(mut socket: &File, packet: &[u8]) -> io::Result<()> {
    let Some((front, packet)) = packet.split_first_chunk::<HEADER>() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut front = *front;
    shift(&mut front, |at| at.saturating_add(FRAME as u16));
    let frame = frame(packet);
    let all = [&front[..], &frame, packet].map(IoSlice::new);
    socket.write_vectored(&all).map(drop)
}

/// Moves where the kernel's header says that things stand behind it: the length of all headers, and
/// where the transport header begins. Only of packets whose checksum is left open does it say so.
fn shift(front: &mut [u8], moved: impl Fn(u16) -> u16) {
    if front[0] & OPEN == 0 {
        return;
    }
    for at in [2, 6] {
        let to = moved(u16::from_ne_bytes([front[at], front[at + 1]]));
        front[at..at + 2].copy_from_slice(&to.to_ne_bytes());
    }
}

/// The Ethernet header of a packet to the job's end.
fn frame(packet: &[u8]) -> [u8; FRAME] {
    let kind: [u8; 2] = match packet.first().map(|first| first >> 4) {
        Some(6) => [0x86, 0xdd],
        _ => [0x08, 0x00],
    };
    let mut frame = [0; FRAME];
    frame[..6].copy_from_slice(&NEAR_ADDRESS);
    frame[6..12].copy_from_slice(&FAR_ADDRESS);
    frame[12..].copy_from_slice(&kind);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_framed_for_the_jobs_end() {
        let v4 = frame(&[0x45, 0]);
        assert_eq!((&v4[..6], &v4[12..]), (&NEAR_ADDRESS[..], &[8, 0][..]));
        assert_eq!(frame(&[0x60])[12..], [0x86, 0xdd]);
    }

    #[test]
    fn only_what_is_left_open_moves() {
        let whole = [0, 0, 40, 0, 0, 0, 20, 0, 16, 0];
        let mut front = whole;
        shift(&mut front, |at| at + 14);
        assert_eq!(front, whole);
        front[0] = OPEN;
        let open = front;
        let short = |bytes: &[u8]| u16::from_ne_bytes([bytes[0], bytes[1]]);
        shift(&mut front, |at| at + 14);
        assert_eq!(short(&front[2..]), short(&whole[2..]) + 14);
        assert_eq!(short(&front[6..]), short(&whole[6..]) + 14);
        assert_eq!((front[1], &front[8..]), (0, &whole[8..]));
        shift(&mut front, |at| at - 14);
        assert_eq!(front, open);
    }

    #[test]
    fn what_is_no_packet_socket_is_refused() {
        let (end, _other) = std::os::unix::net::UnixStream::pair().expect("a pair");
        assert!(take(&end).is_err());
        assert!(take(File::open("/dev/null").expect("opens")).is_err());
    }
}
