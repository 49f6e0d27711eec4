//! The device of a job in its lease's network, and the socket for its connections to the web. They
//! are made by *init* inside the job's own namespaces, where that takes no privilege, and what the
//! node reads and writes is handed to the supervisor.
//!
//! The job can neither change it nor make another one: it has no capability, no `/dev/net/tun`, and
//! neither raw nor packet sockets.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use gridbay_vnet::address::{INTERFACE, V4_PREFIX, V6_PREFIX};
use gridbay_vnet::tun::{self, MTU, QUEUE};
use gridbay_vnet::{fds, veth};

use super::JOB_UID;
use super::proxy::PROXY_PORT;
use crate::executor::capability::Link;
use crate::executor::folder::{DEVICE, WEB};
use crate::executor::job::Interface;

/// A socket that listens on the job's loopback. It is closed when the job's program is executed.
pub(super) fn listen() -> io::Result<OwnedFd> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    listener.set_nonblocking(true)?;
    Ok(listener.into())
}

/// Hands over what there is.
pub(super) fn hand_over(
    device: Option<&OwnedFd>,
    web: Option<&OwnedFd>,
    to: BorrowedFd<'_>,
) -> io::Result<()> {
    let both = [(DEVICE, device), (WEB, web)];
    let there = both
        .into_iter()
        .filter_map(|(letter, fd)| Some((letter, fd?.as_fd())));
    let (letters, fds): (Vec<u8>, Vec<_>) = there.unzip();
    if letters.is_empty() {
        return Ok(());
    }
    fds::send(to, &letters, &fds)
}

/// Makes the device.
pub(super) fn raise(place: &Interface, link: Link) -> io::Result<OwnedFd> {
    let device = match link {
        Link::Tun => tun::open(INTERFACE)?,
        Link::Veth => veth::open(INTERFACE)?,
    };
    tun::configure(&tun::Interface {
        name: INTERFACE,
        v4: Some((place.v4, V4_PREFIX)),
        v6: Some((place.v6, V6_PREFIX)),
        mtu: MTU,
        queue: QUEUE,
    })?;
    // Not every kernel has it, and few jobs want it.
    let _ = tun::allow_ping(JOB_UID);
    Ok(device)
}
