//! The data plane of a lease's private network.
//!
//! The members of a lease, its buyer and the nodes that it won, are one virtual IP network which
//! nobody else is part of. The overlay (libp2p) tells a member who the others are, by which keys
//! they are known and where they may be reached; packets never go through it. They go over one UDP
//! socket per node, sealed by WireGuard's Noise, and enter and leave the jobs through TUN devices.
//!
//! 1. [`address`]: which addresses and names the ranks of a lease have. Derived, so nobody can
//!    claim another's.
//! 2. [`tun`] and [`fds`]: the supervisor of a job makes the device inside the job's namespaces and
//!    hands its descriptor to the node.

pub mod address;
#[cfg(target_os = "linux")]
pub mod fds;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
pub mod tun;
