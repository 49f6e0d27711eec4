//! A rank without a device: its connections are this process's.

use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use gridbay_protocol::ids::LeaseId;

use super::api::Attachment;
use super::lease::Lease;
use super::port::Port;
use super::tx::Work;
use super::{Engine, EngineError, Shared};
use crate::drops::Drop;
use crate::user::{Desk, Listener, Stack};

/// A rank of this node that is attached without a device; dropping it detaches: connections break,
/// listeners close.
#[must_use = "dropping it detaches the rank"]
pub struct User {
    attachment: Attachment,
    desk: Arc<Desk>,
}

impl User {
    /// Connects to a rank of the lease; waits until the connection stands or is refused, or the
    /// time is over. What it returns is a stream like any other, blocking at first. Shutting down
    /// its writing side ends the stream to the other side, dropping it with something unread resets
    /// the connection; one that breaks reads as `ConnectionReset`.
    ///
    /// # Errors
    /// `HostUnreachable` where no rank has the address, `ConnectionRefused`, `TimedOut`,
    /// `NotConnected` if the rank is detached or the lease closed, `AddrNotAvailable` if there are
    /// too many connections.
    pub fn connect(&self, to: SocketAddr, within: Duration) -> io::Result<UnixStream> {
        let members = self.attachment.lease.members();
        if self.is_open() && !members.routes.leads_to(&to.ip().to_canonical()) {
            self.attachment.lease.drops.add(Drop::NoRoute, 1);
            return Err(io::ErrorKind::HostUnreachable.into());
        }
        self.desk.connect(to, within)
    }

    /// Listens on a port of both addresses of the rank.
    ///
    /// # Errors
    /// `AddrInUse` if something listens there, `InvalidInput` for port 0, `NotConnected` if the
    /// rank is detached or the lease closed.
    pub fn listen(&self, port: u16) -> io::Result<Listener> {
        self.desk.listen(port)
    }

    /// Whether packets still pass: the lease was not closed.
    pub fn is_open(&self) -> bool {
        self.attachment.is_open()
    }
}

impl Engine {
    /// Attaches one of this node's ranks without a device: programs of this process use its
    /// network through what is returned.
    pub fn attach_user(&self, lease: &LeaseId, rank: u32) -> Result<User, EngineError> {
        let port = Port::stack_of(rank)?;
        let address = self.lease(lease)?.plan.rank(rank);
        let address = address.ok_or(EngineError::NotAttachable(rank))?;
        let desk = Desk::new(port.wake());
        let stack = Stack::new(address, desk.clone())?;
        let closes = desk.clone();
        let attachment = self.plug(lease, port, move |shared, lease, port| {
            run(&shared, &lease, &port, stack);
            port.close();
            closes.close();
        })?;
        Ok(User { attachment, desk })
    }
}

/// Moves the stack until the port is stopped.
fn run(shared: &Shared, lease: &Arc<Lease>, port: &Port, mut stack: Stack) {
    let mut work = Work::default();
    while !port.is_stopped() {
        let packets = port.take();
        let mut out = |packet: &mut [u8]| work.take(shared, lease, port, packet);
        let idle = stack.step(shared.now(), &packets, &mut out);
        work.flush(shared);
        stack.wait(idle);
    }
    let mut out = |packet: &mut [u8]| work.take(shared, lease, port, packet);
    stack.end(shared.now(), &mut out);
    work.flush(shared);
}
