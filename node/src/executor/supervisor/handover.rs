//! The device of a networked job, and the socket at which a job's connections to the web arrive,
//! kept for the nodes that come for them.
//!
//! 1. The sandbox sends them before it reports that it is ready, with a letter for each.
//! 2. The supervisor keeps them for the job's life, and hands copies to whoever connects to the
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
    letters: Vec<u8>,
    fds: Vec<OwnedFd>,
    listener: UnixListener,
    nodes: Vec<UnixStream>,
}

impl Handover {
    /// Takes what there is from the sandbox and opens the socket, by a name relative to the current
    /// directory: names of sockets are short.
    pub(super) fn open(sandbox: &OwnedFd, socket: &Path) -> io::Result<Self> {
        let mut letters = [0; fds::FDS_MAX];
        let (count, fds) = fds::recv(sandbox, &mut letters)?;
        let letters = letters.get(..count).unwrap_or_default().to_vec();
        if letters.is_empty() || letters.len() != fds.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let listener = UnixListener::bind(socket.file_name().unwrap_or_default())?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            letters,
            fds,
            listener,
            nodes: Vec::new(),
        })
    }

    pub(super) fn waits_on(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Hands it all to those that wait for it.
    pub(super) fn serve(&mut self) {
        let fds: Vec<_> = self.fds.iter().map(OwnedFd::as_fd).collect();
        while let Ok((node, _)) = self.listener.accept() {
            if fds::send(&node, &self.letters, &fds).is_ok() {
                self.nodes.push(node);
            }
            if self.nodes.len() > KEPT {
                self.nodes.remove(0);
            }
        }
    }
}
