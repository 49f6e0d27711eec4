//! Where programs leave what they want of the stack's thread.

use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::sys::eventfd::EventFd;

use super::backlog::{Backlog, Listener};

/// Beyond the time that a command may take, before its answer is given up.
const MARGIN: Duration = Duration::from_secs(5);

/// How a connection is answered.
pub(super) type Reply = Sender<io::Result<UnixStream>>;

/// What a program wants.
pub(super) enum Command {
    Connect {
        to: SocketAddr,
        within: Duration,
        reply: Reply,
    },
    Listen {
        port: u16,
        backlog: Arc<Backlog>,
        reply: Sender<io::Result<()>>,
    },
    /// A listener is gone.
    Ignore { port: u16, backlog: Arc<Backlog> },
}

/// See the module.
pub(crate) struct Desk {
    commands: Mutex<Option<Vec<Command>>>,
    wake: Arc<EventFd>,
}

impl Desk {
    /// A desk whose commands are told of by `wake`.
    pub(crate) fn new(wake: Arc<EventFd>) -> Arc<Desk> {
        let commands = Mutex::new(Some(Vec::new()));
        Arc::new(Desk { commands, wake })
    }

    pub(super) fn wake(&self) -> &EventFd {
        &self.wake
    }

    /// Leaves a command; if the desk is closed it is dropped, and with it whoever waits.
    pub(super) fn leave(&self, command: Command) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(commands) = commands.as_mut() {
            commands.push(command);
            self.wake.write(1).ok();
        }
    }

    /// What was left since the last call.
    pub(super) fn take(&self) -> Vec<Command> {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Takes no more commands.
    pub(crate) fn close(&self) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        *commands = None;
    }

    /// Connects, see [`crate::engine::User::connect`].
    pub(crate) fn connect(&self, to: SocketAddr, within: Duration) -> io::Result<UnixStream> {
        let (reply, answer) = channel();
        self.leave(Command::Connect { to, within, reply });
        match answer.recv_timeout(within.saturating_add(MARGIN)) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => Err(io::ErrorKind::TimedOut.into()),
            Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Listens, see [`crate::engine::User::listen`].
    pub(crate) fn listen(self: &Arc<Desk>, port: u16) -> io::Result<Listener> {
        let (reply, answer) = channel();
        let backlog = Arc::new(Backlog::default());
        self.leave(Command::Listen {
            port,
            backlog: backlog.clone(),
            reply,
        });
        match answer.recv() {
            Ok(result) => result?,
            Err(_) => return Err(io::ErrorKind::NotConnected.into()),
        }
        Ok(Listener::new(port, backlog, self.clone()))
    }
}
