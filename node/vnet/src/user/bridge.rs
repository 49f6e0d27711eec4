//! Between a connection of the stack and the program that has it: a pair of Unix sockets.
//!
//! 1. The program's end of data (`shutdown` or `close`) ends the stream to the other side once all
//!    before it is sent, and the other side's end is the program's.
//! 2. A program that closes its end while there is something it has not read, or while more comes,
//!    resets the connection.
//! 3. A connection that breaks reads as `ConnectionReset`, after what came before: a Unix socket
//!    says that when the other end is closed with something unread in it. So there is always one
//!    byte unread in ours: the last one, which is looked at without being taken; before the first,
//!    one that the pair begins with. It is taken when the connection ends well.

use std::io::{self, IoSliceMut, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;

use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{MsgFlags, recv};
use smoltcp::socket::tcp::{Socket, State};

use crate::sys;

/// Bytes that must be free before more is taken from the program, so that what is sent is not
/// made of crumbs.
const CHUNK: usize = 1 << 16;

/// See the module.
pub(super) struct Bridge {
    end: UnixStream,
    /// There may be something to read.
    readable: bool,
    /// There may be room to write.
    writable: bool,
    /// The program writes no more.
    quiet: bool,
    /// The program has closed its end.
    gone: bool,
    broken: bool,
    /// The program's end of data was passed on.
    sent_end: bool,
    /// The other side's end of data was passed on.
    got_end: bool,
}

/// How a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Goes,
    /// Both directions have ended.
    Done,
    /// It broke at the program's end, or at the other side's.
    Broken,
}

impl Bridge {
    /// A bridge, and the program's end of it.
    pub(super) fn new() -> io::Result<(Bridge, UnixStream)> {
        let (end, theirs) = UnixStream::pair()?;
        (&theirs).write_all(&[0])?;
        end.set_nonblocking(true)?;
        let bridge = Bridge {
            end,
            readable: true,
            writable: true,
            quiet: false,
            gone: false,
            broken: false,
            sent_end: false,
            got_end: false,
        };
        Ok((bridge, theirs))
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }

    /// What has happened at the program's end.
    pub(super) fn event(&mut self, flags: EpollFlags) {
        self.readable = true;
        self.writable = true;
        self.quiet |= flags.intersects(EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP);
        self.gone |= flags.contains(EpollFlags::EPOLLHUP);
        self.broken |= flags.contains(EpollFlags::EPOLLERR);
    }

    /// Whether nobody is there any more to read.
    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Moves what can be moved.
    pub(super) fn pump(&mut self, socket: &mut Socket<'_>) -> Outcome {
        if self.broken || self.inward(socket).is_err() || self.outward(socket).is_err() {
            return Outcome::Broken;
        }
        if self.got_end && self.sent_end {
            (&self.end).read_exact(&mut [0]).ok();
            return Outcome::Done;
        }
        if socket.state() == State::Closed {
            return Outcome::Broken;
        }
        Outcome::Goes
    }

    /// From the stack to the program.
    fn inward(&mut self, socket: &mut Socket<'_>) -> io::Result<()> {
        while self.writable && socket.can_recv() {
            let mut end = &self.end;
            let written = socket.recv(|bytes| match end.write(bytes) {
                Ok(count) => (count, Ok(count)),
                Err(error) => (0, Err(error)),
            });
            match written.map_err(io::Error::other)? {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                result => {
                    result?;
                }
            }
        }
        let ended = !socket.may_recv() && !socket.can_recv() && has_ended(socket.state());
        if ended && !self.got_end {
            self.got_end = true;
            self.end.shutdown(Shutdown::Write)?;
        }
        Ok(())
    }

    /// From the program to the stack.
    fn outward(&mut self, socket: &mut Socket<'_>) -> io::Result<()> {
        let free = |socket: &Socket<'_>| socket.send_capacity() - socket.send_queue();
        while self.readable && socket.may_send() && free(socket) >= CHUNK {
            let taken = socket.send(|room| match self.take(room) {
                Ok(count) => (count, Ok(count)),
                Err(error) => (0, Err(error)),
            });
            let count = taken.map_err(io::Error::other)??;
            self.readable = count > 0;
        }
        if self.quiet && !self.readable && !self.sent_end && socket.may_send() {
            self.sent_end = true;
            socket.close();
        }
        Ok(())
    }

    /// Takes what the program wrote, all but the last byte of which leaves the socket.
    fn take(&self, room: &mut [u8]) -> io::Result<usize> {
        let fresh = sys::waiting(self.fd())?.saturating_sub(1);
        let wanted = fresh.min(room.len());
        if wanted == 0 {
            return Ok(0);
        }
        let mut old = [0];
        let mut into = [
            IoSliceMut::new(&mut old),
            IoSliceMut::new(&mut room[..wanted - 1]),
        ];
        let count = (&self.end).read_vectored(&mut into)?;
        let last = &mut room[count.saturating_sub(1)..count];
        recv(self.end.as_raw_fd(), last, MsgFlags::MSG_PEEK)?;
        Ok(count)
    }
}

/// Whether the other side's end of data has come.
fn has_ended(state: State) -> bool {
    matches!(
        state,
        State::CloseWait | State::LastAck | State::Closing | State::TimeWait
    )
}
