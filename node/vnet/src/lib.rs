//! The data plane of a lease's private network.
//!
//! The members of a lease, its buyer and the nodes that it won, are one virtual IP network which
//! nobody else is part of. The overlay (libp2p) tells a member who the others are, by which keys
//! they are known and where they may be reached; packets never go through it. They go over one UDP
//! socket per node, sealed by WireGuard's Noise, and enter and leave the jobs through TUN devices.
//!
//! The pure part, which neither reads a clock nor performs I/O:
//!
//! 1. [`address`]: which addresses and names the ranks of a lease have. Derived, so nobody can
//!    claim another's.
//! 2. [`route`]: which packets may pass between ranks; each kind of the others is counted in
//!    [`drops`].
//! 3. [`path`]: how two members reach each other, and when they change the way.
//! 4. [`session`]: to which lease and pair a datagram belongs.
//! 5. [`relay`]: who may send through this node to whom.
//! 6. [`mirror`]: from which address a node's datagrams come, as others see it.
//!
//! The shell, for Linux:
//!
//! 1. [`tun`], [`veth`] and [`fds`]: the supervisor of a job makes the device inside the job's
//!    namespaces and hands its descriptor to the node.
//! 2. [`engine`]: threads carry packets between the devices and the socket.
//! 3. `names`: DNS inside the lease, answered by the node itself.
//! 4. `user`: TCP inside this process, for a rank that has no device.

pub mod address;
pub mod drops;
#[cfg(target_os = "linux")]
pub mod engine;
#[cfg(target_os = "linux")]
pub mod fds;
pub mod keys;
pub mod mirror;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
mod offload;
pub mod packet;
pub mod path;
pub mod relay;
pub mod route;
pub mod session;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
pub mod tun;
#[cfg(target_os = "linux")]
mod user;
#[cfg(target_os = "linux")]
pub mod veth;
#[cfg(target_os = "linux")]
mod wire;
