//! TCP inside this process, for a rank that has no device.
//!
//! Where a job has no network namespace of its own, and on the buyer's machine, a rank is a stack
//! (smoltcp) with the rank's two addresses. Programs of this process connect and listen; each
//! connection is one end of a pair of Unix sockets, so everything that takes a descriptor can use
//! it. The stack has TCP and answers pings; it has no UDP.
//!
//! 1. One thread moves all connections of a rank. It waits for packets, for what programs wrote,
//!    for commands and for the stack's clock, and does all that is to be done then.
//! 2. To and from the engine go the same packets as through a device, super-packets of up to 60 kB
//!    included ([`device`]): the stack is entered once for dozens of segments.
//! 3. What a connection holds is bounded in both directions ([`BUFFER`]): a program that does not
//!    read closes the window, a network that does not take makes the program's writes wait.
//! 4. An end that is cut off reads as an error and never as an end of data ([`bridge`]).

mod acks;
mod backlog;
mod bridge;
mod connection;
mod desk;
mod device;
mod segment;
mod stack;

pub use backlog::Listener;
pub(crate) use desk::Desk;
pub(crate) use stack::Stack;

/// Bytes of a connection's buffers, one for each direction. Memory that was never used is not
/// taken from the system, and a buffer that runs empty begins at its start again: an idle
/// connection holds a few pages.
const BUFFER: usize = 1 << 20;
/// Connections of a rank at the most.
const CONNECTIONS: usize = 4096;
