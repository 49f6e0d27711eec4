//! Terminals: those that programs are given, and the user's own.

#![allow(
    unsafe_code,
    reason = "orders to terminals, which nix offers as no safe functions; each block states why"
)]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::fcntl::OFlag;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::setsid;
use serde::{Deserialize, Serialize};

/// Rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Size {
    /// Rows.
    pub(crate) rows: u16,
    /// Columns.
    pub(crate) columns: u16,
}

impl Size {
    /// As four bytes.
    pub(crate) fn to_bytes(self) -> [u8; 4] {
        let ([a, b], [c, d]) = (self.rows.to_be_bytes(), self.columns.to_be_bytes());
        [a, b, c, d]
    }

    /// Of four bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Size> {
        let [a, b, c, d] = bytes.try_into().ok()?;
        Some(Size {
            rows: u16::from_be_bytes([a, b]),
            columns: u16::from_be_bytes([c, d]),
        })
    }

    /// Of a terminal; `None` if it is none.
    pub(crate) fn of(terminal: &impl AsFd) -> Option<Size> {
        let mut size = zero();
        let fd = terminal.as_fd().as_raw_fd();
        // SAFETY: the descriptor is open, `size` is a valid place for the answer.
        let done = unsafe { libc::ioctl(fd, libc::TIOCGWINSZ, &raw mut size) };
        (done == 0).then_some(Size {
            rows: size.ws_row,
            columns: size.ws_col,
        })
    }

    /// Gives it to a terminal; its programs are told.
    pub(crate) fn set(self, terminal: &impl AsFd) -> io::Result<()> {
        let mut size = zero();
        (size.ws_row, size.ws_col) = (self.rows, self.columns);
        let fd = terminal.as_fd().as_raw_fd();
        // SAFETY: the descriptor is open, `size` is valid and only read.
        match unsafe { libc::ioctl(fd, libc::TIOCSWINSZ, &raw const size) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn zero() -> libc::winsize {
    libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// A new terminal: the end that its keeper holds, and the end for programs. No program inherits
/// either unless it is given it.
pub(crate) fn pair(size: Size) -> io::Result<(File, File)> {
    let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let keeper = posix_openpt(flags)?;
    grantpt(&keeper)?;
    unlockpt(&keeper)?;
    let name = ptsname_r(&keeper)?;
    let programs = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOCTTY)
        .open(name)?;
    size.set(&programs)?;
    let keeper = keeper.as_fd().try_clone_to_owned()?;
    Ok((File::from(keeper), programs))
}

/// Makes a command the first process of a session of its own, whose terminal, if it has one, is its
/// standard input.
pub(crate) fn lead_session(command: &mut Command, has_terminal: bool) {
    let lead = move || {
        setsid()?;
        // SAFETY: the order takes integers only; 0 is open by now.
        if has_terminal && unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    };
    // SAFETY: two system calls, neither of which allocates or takes a lock.
    unsafe { command.pre_exec(lead) };
}

/// The user's terminal while each key goes to a program at once. Its former state comes back when
/// this is dropped, also where a thread panics.
pub(crate) struct Raw<T: AsFd> {
    terminal: T,
    former: Termios,
}

impl<T: AsFd> Raw<T> {
    /// Takes a terminal.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn new(terminal: T) -> io::Result<Raw<T>> {
        let former = tcgetattr(&terminal)?;
        let mut raw = former.clone();
        cfmakeraw(&mut raw);
        tcsetattr(&terminal, SetArg::TCSADRAIN, &raw)?;
        Ok(Raw { terminal, former })
    }
}

impl<T: AsFd> Drop for Raw<T> {
    fn drop(&mut self) {
        // A terminal that is gone has no state.
        let _gone = tcsetattr(&self.terminal, SetArg::TCSADRAIN, &self.former);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_a_size_and_gets_its_state_back() {
        let size = Size {
            rows: 33,
            columns: 111,
        };
        let (keeper, programs) = pair(size).unwrap();
        assert_eq!(Size::of(&programs), Some(size));
        assert_eq!(Size::from_bytes(&size.to_bytes()), Some(size));
        let before = tcgetattr(&programs).unwrap();
        let raw = Raw::new(programs.try_clone().unwrap()).unwrap();
        let meanwhile = tcgetattr(&programs).unwrap();
        assert_ne!(before.local_flags, meanwhile.local_flags);
        drop(raw);
        let after = tcgetattr(&programs).unwrap();
        assert_eq!(before.local_flags, after.local_flags);
        drop(keeper);
        assert!(Size::of(&File::open("/dev/null").unwrap()).is_none());
    }
}
