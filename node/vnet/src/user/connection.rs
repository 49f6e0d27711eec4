//! A connection from its first segment to its last.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};

use super::BUFFER;
use super::backlog::Backlog;
use super::bridge::{Bridge, Outcome};
use super::desk::Reply;
use super::segment::Flow;
use crate::path::Time;

/// Between two signs of life, and how long the other side may give none. Longer than a path takes
/// to be found anew.
const ALIVE: (u64, u64) = (20, 120);
/// How long a connection that this side has left may stay half closed.
const HALF: Duration = Duration::from_secs(60);
/// How long one is remembered that has ended, so that the other side's last segment finds it.
const LAST: Duration = Duration::from_secs(1);

/// See the module.
pub(super) struct Connection {
    pub(super) handle: SocketHandle,
    pub(super) flow: Flow,
    /// Up to where the other side has acknowledged; none before it did.
    pub(super) acknowledged: Option<u32>,
    pub(super) stage: Stage,
}

/// How far a connection is.
pub(super) enum Stage {
    /// A program waits for it, until a moment.
    Opening(Reply, Time),
    /// The other side began it.
    Arriving(Arc<Backlog>),
    Open(Bridge),
    /// Left by the program that had it. Since when there is nothing more to wait for but the other
    /// side's end.
    Ending(Option<Time>),
}

/// A socket with its buffers.
pub(super) fn socket() -> Socket<'static> {
    let buffer = || SocketBuffer::new(vec![0; BUFFER]);
    let mut socket = Socket::new(buffer(), buffer());
    socket.set_nagle_enabled(false);
    socket.set_timeout(Some(smoltcp::time::Duration::from_secs(ALIVE.1)));
    socket
}

/// The events of a bridge's end, told when they come.
const EVENTS: [EpollFlags; 4] = [
    EpollFlags::EPOLLIN,
    EpollFlags::EPOLLOUT,
    EpollFlags::EPOLLRDHUP,
    EpollFlags::EPOLLET,
];

impl Connection {
    /// Does what is to be done; whether there still is a connection. Its events have its `number`.
    pub(super) fn pump(
        &mut self,
        socket: &mut Socket<'_>,
        number: u64,
        epoll: &Epoll,
        now: Time,
    ) -> bool {
        match &self.stage {
            Stage::Opening(reply, deadline) => {
                if socket.may_send() {
                    self.opened(socket, number, epoll);
                } else if socket.state() == State::Closed || now >= *deadline {
                    let kind = if now >= *deadline {
                        io::ErrorKind::TimedOut
                    } else {
                        io::ErrorKind::ConnectionRefused
                    };
                    reply.send(Err(kind.into())).ok();
                    socket.abort();
                    self.stage = Stage::Ending(None);
                }
            }
            Stage::Arriving(backlog) => {
                if socket.may_send() || socket.can_recv() {
                    self.opened(socket, number, epoll);
                } else if socket.state() == State::Closed {
                    backlog.failed();
                    self.stage = Stage::Ending(None);
                }
            }
            Stage::Open(_) | Stage::Ending(_) => {}
        }
        if let Stage::Open(bridge) = &mut self.stage {
            match bridge.pump(socket) {
                Outcome::Goes if bridge.is_gone() && socket.state() == State::FinWait2 => {
                    self.stage = Stage::Ending(Some(now));
                }
                Outcome::Goes => {}
                Outcome::Done => self.stage = Stage::Ending(None),
                Outcome::Broken => {
                    socket.abort();
                    self.stage = Stage::Ending(None);
                }
            }
        }
        self.lasts(socket, now)
    }

    /// The connection stands: a bridge for whoever waits for it.
    fn opened(&mut self, socket: &mut Socket<'_>, number: u64, epoll: &Epoll) {
        socket.set_keep_alive(Some(smoltcp::time::Duration::from_secs(ALIVE.0)));
        let flags = EVENTS.into_iter().collect();
        let made = Bridge::new().and_then(|(bridge, theirs)| {
            epoll.add(bridge.fd(), EpollEvent::new(flags, number))?;
            Ok((bridge, theirs))
        });
        let old = std::mem::replace(&mut self.stage, Stage::Ending(None));
        let taken = match (old, made) {
            (Stage::Opening(reply, _), Ok((bridge, theirs))) => {
                let taken = reply.send(Ok(theirs)).is_ok();
                taken.then_some(bridge)
            }
            (Stage::Arriving(backlog), Ok((bridge, theirs))) => {
                let taken = backlog.stands(theirs, self.flow.0);
                taken.then_some(bridge)
            }
            (Stage::Opening(reply, _), Err(error)) => {
                reply.send(Err(error)).ok();
                None
            }
            (Stage::Arriving(backlog), Err(_)) => {
                backlog.failed();
                None
            }
            _ => None,
        };
        match taken {
            Some(bridge) => self.stage = Stage::Open(bridge),
            None => socket.abort(),
        }
    }

    /// Whether the stack still has something to do for it.
    fn lasts(&mut self, socket: &mut Socket<'_>, now: Time) -> bool {
        let Stage::Ending(since) = &mut self.stage else {
            return true;
        };
        let bound = match socket.state() {
            // Until the reset has left, if there is one to send.
            State::Closed => return socket.remote_endpoint().is_some(),
            State::TimeWait => LAST,
            State::FinWait2 => HALF,
            _ => return true,
        };
        if socket.can_recv() && socket.state() == State::FinWait2 {
            // Nobody is there to read it.
            socket.abort();
        } else if now > *since.get_or_insert(now) + bound {
            if socket.state() == State::TimeWait {
                return false;
            }
            socket.abort();
        }
        true
    }

    /// The other side, as smoltcp writes it.
    pub(super) fn endpoint(at: SocketAddr) -> smoltcp::wire::IpEndpoint {
        smoltcp::wire::IpEndpoint::new(at.ip().into(), at.port())
    }
}
