//! The check of callers that open a connection to the interface.

use crate::executor::descent::is_of_a_job;
use nix::errno::Errno;
use nix::sys::socket::{getsockopt, sockopt::PeerPidfd};
use nix::unistd::geteuid;
use tokio::net::{TcpStream, UnixStream};

/// Whether the other end of a connection is welcome.
pub(super) trait Peer {
    /// Looked at once, after accepting.
    fn is_welcome(&self) -> bool;
    /// The process at the other end, if the system tells.
    fn caller(&self) -> Option<Caller>;
}

/// The process at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Number of its user.
    pub(crate) uid: u32,
    /// Its own number; one in another container has none here.
    pub(crate) pid: Option<i32>,
}

impl Peer for UnixStream {
    /// The same user, or root: the mode of the socket says so too, but a mode can be changed. And
    /// no job, whose user may be the node's.
    fn is_welcome(&self) -> bool {
        let ours = geteuid().as_raw();
        let Ok(peer) = self.peer_cred() else {
            return false;
        };
        if peer.uid() != ours && peer.uid() != 0 {
            return false;
        }
        // Another user than the node's jobs have, or a process of another container, which has no
        // number here.
        let pid = peer.pid().filter(|pid| *pid > 0 && peer.uid() == ours);
        let Some(pid) = pid else {
            return true;
        };
        let welcome = match getsockopt(self, PeerPidfd) {
            Ok(process) => !is_of_a_job(pid, Some(&process)),
            // Kernels before 6.5.
            Err(Errno::ENOPROTOOPT | Errno::EOPNOTSUPP) => !is_of_a_job(pid, None),
            Err(_) => false,
        };
        if !welcome {
            tracing::warn!(
                pid,
                "a job, or a process that has ended, called the interface"
            );
        }
        welcome
    }

    fn caller(&self) -> Option<Caller> {
        let peer = self.peer_cred().ok()?;
        Some(Caller {
            uid: peer.uid(),
            pid: peer.pid().filter(|pid| *pid > 0),
        })
    }
}

impl Peer for TcpStream {
    fn is_welcome(&self) -> bool {
        self.peer_addr().is_ok_and(|peer| peer.ip().is_loopback())
    }

    fn caller(&self) -> Option<Caller> {
        None
    }
}
