//! The device of a job in its lease's network: made by *init* inside the job's own namespaces,
//! where that takes no privilege, and what the node reads and writes handed to the supervisor.
//!
//! The job can neither change it nor make another one: it has no capability, no `/dev/net/tun`, and
//! neither raw nor packet sockets.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use gridbay_vnet::address::{INTERFACE, V4_PREFIX, V6_PREFIX};
use gridbay_vnet::tun::{self, MTU, QUEUE};
use gridbay_vnet::{fds, veth};

use super::JOB_UID;
use crate::executor::capability::Link;
use crate::executor::job::Interface;

/// Makes the device, and hands it over.
pub(super) fn raise(place: &Interface, link: Link, to: BorrowedFd<'_>) -> io::Result<()> {
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
    fds::send(to, b"d", &[device.as_fd()])
}
