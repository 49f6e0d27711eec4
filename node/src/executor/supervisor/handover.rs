//! The device of a networked job, kept for the nodes that come for it.
//!
//! 1. The sandbox sends the device before it reports that it is ready.
//! 2. The supervisor keeps it for the job's life, and hands a copy to whoever connects to the
//!    socket in the job's folder: the node, and that node again after a restart. The folder is the
//!    node's user's own; the job does not see it.
//! 3. It keeps the connection. Its end says that the job has ended, which a device of which
//!    somebody holds a copy would not say itself.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use gridbay_vnet::fds;

/// Connections that are kept: a node, and one that takes its place.
const KEPT: usize = 2;

/// See the module.
#[derive(Debug)]
pub(super) struct Handover {
    device: OwnedFd,
    listener: UnixListener,
    nodes: Vec<UnixStream>,
}

impl Handover {
    /// Takes the device from the sandbox and opens the socket, by a name relative to the current
    /// directory: names of sockets are short.
    pub(super) fn open(sandbox: &OwnedFd, socket: &Path) -> io::Result<Self> {
        let (_, mut devices) = fds::recv(sandbox, &mut [0])?;
        let device = devices.pop().ok_or(io::ErrorKind::UnexpectedEof)?;
        let listener = UnixListener::bind(socket.file_name().unwrap_or_default())?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            device,
            listener,
            nodes: Vec::new(),
        })
    }

    pub(super) fn waits_on(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Hands the device to those that wait for it.
    pub(super) fn serve(&mut self) {
        while let Ok((node, _)) = self.listener.accept() {
            if fds::send(&node, b"d", &[self.device.as_fd()]).is_ok() {
                self.nodes.push(node);
            }
            if self.nodes.len() > KEPT {
                self.nodes.remove(0);
            }
        }
    }
}
