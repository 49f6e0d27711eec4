//! A port that is listened on, and the connections that wait to be taken.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::desk::{Command, Desk};

/// Connections that wait to be taken at the most; further ones have to try again.
const MOST: usize = 128;

/// What the stack's thread and a listener share.
#[derive(Default)]
pub(super) struct Backlog {
    waiting: Mutex<Waiting>,
    ready: Condvar,
}

#[derive(Default)]
struct Waiting {
    connections: VecDeque<(UnixStream, SocketAddr)>,
    /// Connections that were begun, and are neither among those nor given up.
    begun: usize,
    closed: bool,
}

impl Backlog {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for a connection that begins; whether there is some.
    pub(super) fn begin(&self) -> bool {
        let mut waiting = self.waiting();
        let room = !waiting.closed && waiting.connections.len() + waiting.begun < MOST;
        waiting.begun += usize::from(room);
        room
    }

    /// One that began stands; whether somebody may still take it.
    pub(super) fn stands(&self, connection: UnixStream, from: SocketAddr) -> bool {
        let mut waiting = self.waiting();
        waiting.begun -= 1;
        if waiting.closed {
            return false;
        }
        waiting.connections.push_back((connection, from));
        self.ready.notify_one();
        true
    }

    /// One that began does not stand.
    pub(super) fn failed(&self) {
        self.waiting().begun -= 1;
    }

    /// Nobody listens any more, or there is nothing to listen to.
    pub(super) fn close(&self) {
        let mut waiting = self.waiting();
        waiting.closed = true;
        waiting.connections.clear();
        self.ready.notify_all();
    }

    fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        let mut waiting = self.waiting();
        loop {
            if let Some(connection) = waiting.connections.pop_front() {
                return Ok(connection);
            }
            if waiting.closed {
                return Err(io::ErrorKind::NotConnected.into());
            }
            let woken = self.ready.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A port of a rank without a device that is listened on; dropping it closes the port.
pub struct Listener {
    port: u16,
    backlog: Arc<Backlog>,
    desk: Arc<Desk>,
}

impl Listener {
    pub(super) fn new(port: u16, backlog: Arc<Backlog>, desk: Arc<Desk>) -> Listener {
        Listener {
            port,
            backlog,
            desk,
        }
    }

    /// Waits for a connection; returns it and where it comes from.
    ///
    /// # Errors
    /// `NotConnected` once the listener or the rank is closed.
    pub fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.backlog.accept()
    }

    /// Closes the port now, and ends what waits in [`Listener::accept`].
    pub fn close(&self) {
        self.backlog.close();
        self.desk.leave(Command::Ignore {
            port: self.port,
            backlog: self.backlog.clone(),
        });
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.close();
    }
}
