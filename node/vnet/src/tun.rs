//! TUN devices: made by a job's supervisor inside the job's namespaces, used by the node outside.
//!
//! The supervisor, after it has unshared its user and network namespaces and before the job starts:
//!
//! 1. [`open`] makes the device in the calling thread's network namespace.
//! 2. [`configure`] gives it addresses, MTU and queue and sets it up; [`loopback_up`] does that for
//!    `lo`; [`allow_ping`] lets the job's group send ICMP echoes without a capability.
//! 3. [`crate::fds::send`] hands the descriptor to the node, and the supervisor closes its own
//!    copy. None of these starts a thread, and they allocate next to nothing.
//!
//! The node, with the descriptor that it received: [`take`], which needs no capability.
//!
//! What to know about such devices:
//!
//! - A descriptor keeps alive the namespace that it was opened in. The device does not go away with
//!   the job while the node holds the descriptor, and a blocked read says nothing. So the node
//!   needs another sign that the job has ended.
//! - A job that sees `/dev/net/tun` could open another queue of a device without an owner. [`take`]
//!   gives it one that no job has; the job must not see `/dev/net/tun` either.
//! - `SIOCSIFTXQLEN` needs a capability of the initial user namespace; netlink does not.
//! - The queue ([`Interface::queue`]) is the only one, counts packets up to 64 kB each, and drops
//!   what is beyond. 32 keeps the round trip short under load, 128 takes bursts of small datagrams.

use std::fs::{self, OpenOptions};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;

use crate::address::{Plan, V4_PREFIX, V6_PREFIX};
use crate::netlink::Netlink;
use crate::sys;

/// Bytes of the kernel's header in front of each packet.
pub(crate) const HEADER: usize = 10;
/// Bytes of an inner packet, which leave room for the outer headers on a path of 1500.
pub const MTU: u32 = 1420;
/// Packets that wait in a device, see the module.
pub const QUEUE: u32 = 32;

/// `IFF_TUN | IFF_NO_PI | IFF_VNET_HDR`.
const FLAGS: u16 = 0x0001 | 0x1000 | 0x4000;
/// `nobody`, to whom no job belongs.
const OWNER: u32 = 65_534;
/// Checksums left open, and super-packets of TCP over IPv4 and IPv6.
const TCP: u32 = 0x01 | 0x02 | 0x04;
/// Super-packets of UDP over IPv4 and IPv6, which kernels know from 6.2 on.
const UDP: u32 = 0x20 | 0x40;

/// How [`configure`] sets up a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Name of the device, at most 15 bytes.
    pub name: &'a str,
    /// Address and length of its prefix.
    pub v4: Option<(Ipv4Addr, u8)>,
    /// Address and length of its prefix.
    pub v6: Option<(Ipv6Addr, u8)>,
    /// Bytes of a packet at the most, 1280 or more where there is an IPv6 address.
    pub mtu: u32,
    /// Packets that wait at the most.
    pub queue: u32,
}

impl<'a> Interface<'a> {
    /// The device of a rank, with the usual MTU and queue; none if there is no such rank.
    pub fn of(name: &'a str, plan: &Plan, rank: u32) -> Option<Interface<'a>> {
        let address = plan.rank(rank)?;
        Some(Interface {
            name,
            v4: Some((address.v4, V4_PREFIX)),
            v6: Some((address.v6, V6_PREFIX)),
            mtu: MTU,
            queue: QUEUE,
        })
    }
}

/// Makes a device in the calling thread's network namespace; not blocking, closed on exec.
///
/// # Errors
/// `NotFound` or `ENOTTY` where there is no `/dev/net/tun`, `PermissionDenied` where it is not open
/// to this user or the namespace is not this user's, `EBUSY` where the name is taken.
pub fn open(name: &str) -> io::Result<OwnedFd> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")?;
    sys::set_interface(file.as_fd(), name, FLAGS)?;
    Ok(file.into())
}

/// Sets up a device of the calling thread's network namespace. Returns whether it has its IPv6
/// address: a kernel without IPv6 gives it none, and that is no error.
pub fn configure(interface: &Interface<'_>) -> io::Result<bool> {
    let index = index(interface.name)?;
    let mut netlink = Netlink::open()?;
    netlink.no_link_local(index).ok();
    netlink.link(index, interface.mtu, interface.queue)?;
    if let Some((address, prefix)) = interface.v4 {
        netlink.address(index, &address.octets(), prefix)?;
    }
    let Some((address, prefix)) = interface.v6 else {
        return Ok(false);
    };
    Ok(netlink.address(index, &address.octets(), prefix).is_ok())
}

/// Sets up `lo` of the calling thread's network namespace.
pub fn loopback_up() -> io::Result<()> {
    Netlink::open()?.up(index("lo")?)
}

/// Lets the group, as the namespace's owner sees it, send ICMP echoes without a capability.
pub fn allow_ping(gid: u32) -> io::Result<()> {
    fs::write(
        "/proc/sys/net/ipv4/ping_group_range",
        format!("{gid} {gid}"),
    )
}

/// What a device leaves to the node and takes from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offloads {
    /// Super-packets of TCP.
    pub tcp: bool,
    /// Super-packets of UDP.
    pub udp: bool,
}

/// Prepares a received descriptor for use: header, offloads, and an owner that no job has.
///
/// # Errors
/// If the descriptor is no TUN with the kernel's header.
pub fn take(device: impl AsFd) -> io::Result<Offloads> {
    let fd = device.as_fd();
    let (name, flags) = sys::interface(fd)?;
    if flags & FLAGS != FLAGS {
        return Err(io::Error::other(format!("{name}: flags {flags:#x}")));
    }
    sys::set_header(fd, HEADER as libc::c_int)?;
    let udp = sys::set_offload(fd, TCP | UDP).is_ok();
    let tcp = udp || sys::set_offload(fd, TCP).is_ok();
    // Fails with EPERM where it has been done already.
    sys::set_owner(fd, OWNER).ok();
    Ok(Offloads { tcp, udp })
}

/// Number of a device of the calling thread's network namespace.
pub(crate) fn index(name: &str) -> io::Result<u32> {
    Ok(nix::net::if_::if_nametoindex(name)?)
}
