//! What a rank's packets are read from and written to: the descriptor of a TUN, or the socket at
//! the other end of a cable ([`crate::veth`]).

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::{SFlag, fstat};

use crate::tun::{self, Offloads};
use crate::veth;

/// See the module.
pub(super) struct Device {
    file: File,
    /// It is a socket, whose packets have an Ethernet header.
    framed: bool,
}

impl Device {
    /// A received descriptor, prepared for use.
    pub(super) fn take(device: OwnedFd) -> io::Result<(Device, Offloads)> {
        let kind = SFlag::from_bits_truncate(fstat(&device)?.st_mode);
        let framed = kind & SFlag::S_IFMT == SFlag::S_IFSOCK;
        let offloads = if framed {
            veth::take(&device)?
        } else {
            tun::take(&device)?
        };
        let flags = OFlag::from_bits_truncate(fcntl(&device, FcntlArg::F_GETFL)?);
        fcntl(&device, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        let file = File::from(device);
        Ok((Device { file, framed }, offloads))
    }

    /// Reads a packet with the kernel's header: the number of bytes.
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.framed {
            veth::read(&self.file, buffer)
        } else {
            (&self.file).read(buffer)
        }
    }

    /// Writes a packet with the kernel's header.
    pub(super) fn write(&self, packet: &[u8]) -> io::Result<()> {
        if self.framed {
            veth::write(&self.file, packet)
        } else {
            (&self.file).write(packet).map(drop)
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
