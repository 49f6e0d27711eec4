//! The system calls of this crate that have no safe wrapper.
//!
//! Every function here is safe to call; a comment beside each block says why.

#![allow(
    unsafe_code,
    reason = "ioctls of the TUN driver and of streams, and received descriptors; each block states why it is sound"
)]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

const TUNSETIFF: libc::Ioctl = 0x4004_54ca as libc::Ioctl;
const TUNSETOWNER: libc::Ioctl = 0x4004_54cc as libc::Ioctl;
const TUNSETOFFLOAD: libc::Ioctl = 0x4004_54d0 as libc::Ioctl;
const TUNGETIFF: libc::Ioctl = 0x8004_54d2_u32 as libc::Ioctl;
const TUNSETVNETHDRSZ: libc::Ioctl = 0x4004_54d8 as libc::Ioctl;

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

fn empty_request() -> Request {
    Request {
        name: [0; libc::IFNAMSIZ],
        flags: 0,
        rest: [0; 22],
    }
}
