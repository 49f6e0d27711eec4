//! The system calls of this crate that have no safe wrapper.
//!
//! Every function here is safe to call; a comment beside each block says why.

#![allow(
    unsafe_code,
    reason = "ioctls of the TUN driver and of streams, packet sockets, and received descriptors; each block \
              states why it is sound"
)]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

const TUNSETIFF: libc::Ioctl = 0x4004_54ca as libc::Ioctl;
const TUNSETOWNER: libc::Ioctl = 0x4004_54cc as libc::Ioctl;
const TUNSETOFFLOAD: libc::Ioctl = 0x4004_54d0 as libc::Ioctl;
const TUNGETIFF: libc::Ioctl = 0x8004_54d2_u32 as libc::Ioctl;
const TUNSETVNETHDRSZ: libc::Ioctl = 0x4004_54d8 as libc::Ioctl;

/// From Linux 4.20 on.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;

/// The kernel's `struct ifreq`, as far as the TUN driver uses it.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: u16,
    rest: [u8; 22],
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Takes over a descriptor that a message has just brought.
pub(crate) fn adopt(fd: RawFd) -> OwnedFd {
    // SAFETY: the kernel made the descriptor for this process, and nothing else knows its number.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Makes the device of that name behind a descriptor of `/dev/net/tun`. A name has at most 15
/// bytes.
pub(crate) fn set_interface(fd: BorrowedFd<'_>, name: &str, flags: u16) -> io::Result<()> {
    let mut request = empty_request();
    if name.is_empty() || name.len() >= request.name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    request.flags = flags;
    // SAFETY: the driver reads and writes one `ifreq`, which `request` is as large as.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), TUNSETIFF, &mut request) })
}

/// Name and flags of the device behind a descriptor.
pub(crate) fn interface(fd: BorrowedFd<'_>) -> io::Result<(String, u16)> {
    let mut request = empty_request();
    // SAFETY: the driver writes one `ifreq`, which `request` is as large as.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), TUNGETIFF, &mut request) })?;
    let name = request.name.iter().take_while(|byte| **byte != 0);
    let name: Vec<u8> = name.copied().collect();
    Ok((String::from_utf8_lossy(&name).into_owned(), request.flags))
}

/// Bytes of the header in front of each packet.
pub(crate) fn set_header(fd: BorrowedFd<'_>, bytes: libc::c_int) -> io::Result<()> {
    // SAFETY: the driver reads one `int`.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), TUNSETVNETHDRSZ, &bytes) })
}

/// Which work the kernel may leave to the reader; a bit set of `TUN_F_`.
pub(crate) fn set_offload(fd: BorrowedFd<'_>, bits: u32) -> io::Result<()> {
    // SAFETY: the argument is a number, not an address.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), TUNSETOFFLOAD, libc::c_ulong::from(bits)) })
}

/// Which user may open further queues of the device.
pub(crate) fn set_owner(fd: BorrowedFd<'_>, uid: u32) -> io::Result<()> {
    // SAFETY: the argument is a number, not an address.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), TUNSETOWNER, libc::c_ulong::from(uid)) })
}

/// Bytes that wait in a stream's receive queue.
pub(crate) fn waiting(fd: BorrowedFd<'_>) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the kernel writes one `int`.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD, &mut bytes) })?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Has a packet socket take and give the kernel's header in front of each packet, and nothing that
/// left by its device.
pub(crate) fn set_packet_options(fd: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    for option in [libc::PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING] {
        let (at, size) = (&raw const on, size_of_val(&on) as libc::socklen_t);
        // SAFETY: the kernel reads one `int`.
        check(unsafe {
            libc::setsockopt(fd.as_raw_fd(), libc::SOL_PACKET, option, at.cast(), size)
        })?;
    }
    Ok(())
}

/// Binds a packet socket to a device of its namespace, for packets of any kind.
pub(crate) fn bind_packet(fd: BorrowedFd<'_>, index: u32) -> io::Result<()> {
    let at = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index as libc::c_int,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let size = size_of_val(&at) as libc::socklen_t;
    // SAFETY: the kernel reads one `sockaddr_ll`.
    check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const at).cast(), size) })
}

/// Whether a descriptor is a packet socket with the kernel's header.
pub(crate) fn is_packet(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let domain = option(fd, libc::SOL_SOCKET, libc::SO_DOMAIN)?;
    Ok(domain == libc::AF_PACKET && option(fd, libc::SOL_PACKET, libc::PACKET_VNET_HDR)? != 0)
}

fn option(fd: BorrowedFd<'_>, level: libc::c_int, name: libc::c_int) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut size = size_of_val(&value) as libc::socklen_t;
    let at = (&raw mut value).cast();
    // SAFETY: the kernel writes at most the `int` whose size it is told.
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, at, &mut size) })?;
    Ok(value)
}

fn empty_request() -> Request {
    Request {
        name: [0; libc::IFNAMSIZ],
        flags: 0,
        rest: [0; 22],
    }
}
