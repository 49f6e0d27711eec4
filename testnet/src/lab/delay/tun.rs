//! A TUN device: this program reads the packets that the kernel routes into it, and the kernel
//! routes on those that it writes.
//!
//! Packets come with the kernel's own note in front of them (virtio's header), which says what a
//! super-packet of up to 64 kB stands for and which checksums are still to be filled in. Written
//! back with the same note a super-packet stays whole, so a bulk transfer costs one read and one
//! write per 64 kB.
//!
//! The two calls that make the device have no safe wrapper; they are this module's exception.
#![allow(
    unsafe_code,
    reason = "TUNSETIFF and TUNSETOFFLOAD have no safe wrapper; both get memory of the right size"
)]

use anyhow::{Context as _, bail};
use nix::libc;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Duration;

/// Bytes of the kernel's note in front of each packet.
pub(super) const NOTE: usize = 10;
/// Bytes of a packet with its note at the most.
pub(super) const PACKET_MAX: usize = NOTE + 65_536;

const SET_INTERFACE: libc::c_ulong = 0x4004_54ca;
const SET_OFFLOAD: libc::c_ulong = 0x4004_54d0;
/// `IFF_TUN | IFF_NO_PI | IFF_VNET_HDR`.
const FLAGS: u16 = 0x0001 | 0x1000 | 0x4000;
/// Checksums left open and TCP super-packets; then, where the kernel knows them, UDP's as well.
const OFFLOADS: [libc::c_ulong; 2] = [0x01 | 0x02 | 0x04 | 0x20 | 0x40, 0x01 | 0x02 | 0x04];

/// The kernel's `struct ifreq`, as far as it matters.
#[repr(C)]
struct Request {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

/// An open device; it vanishes with its owner.
#[derive(Debug)]
pub(super) struct Tun(File);

impl Tun {
    /// Makes the device in this thread's namespace.
    pub(super) fn open(name: &str) -> anyhow::Result<Tun> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .context("cannot open /dev/net/tun; hint: modprobe tun")?;
        let mut request = Request {
            name: [0; 16],
            flags: FLAGS,
            rest: [0; 22],
        };
        if name.len() >= request.name.len() {
            bail!("`{name}` is too long for a device");
        }
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: the descriptor is open, and the request is as large as the kernel's.
        let made = unsafe { libc::ioctl(file.as_raw_fd(), SET_INTERFACE, &raw mut request) };
        if made != 0 {
            return Err(io::Error::last_os_error()).context("cannot make a TUN device");
        }
        let accepts = |offload: &libc::c_ulong| {
            // SAFETY: the descriptor is open, and this call takes a number.
            unsafe { libc::ioctl(file.as_raw_fd(), SET_OFFLOAD, *offload) == 0 }
        };
        // A kernel that accepts neither hands out single packets.
        let _ = OFFLOADS.iter().any(accepts);
        Ok(Tun(file))
    }
    /// Waits for a packet, or for so long.
    pub(super) fn wait(&self, most: Option<Duration>) -> io::Result<()> {
        let mut fds = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut fds, most.map(TimeSpec::from_duration), None) {
            Ok(_) | Err(nix::Error::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
    /// A packet with its note; `None` if there is none now.
    pub(super) fn read<'a>(&mut self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        match self.0.read(buffer) {
            Ok(n) => Ok(Some(&buffer[..n])),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
    /// Gives a packet with its note back; `false` if the kernel does not take it.
    pub(super) fn write(&mut self, packet: &[u8]) -> bool {
        self.0.write(packet).is_ok()
    }
}
