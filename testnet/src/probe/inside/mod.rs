//! What runs inside the job: one attempt, its answer as exit code and one line.

mod calls;
mod files;
mod kernel;
mod limits;
mod proc;
mod processes;
mod raw;
mod sockets;

use super::table::{self, Probe};
use nix::errno::Errno;
use std::ffi::{CString, OsString};
use std::io::{self, Read as _};
use std::process::ExitCode;
use std::time::Duration;

pub(super) use calls::CALLS;
pub(super) use files::FILES;
pub(super) use kernel::KERNEL;
pub(super) use limits::LIMITS;
pub(super) use proc::PROC;
pub(super) use processes::PROCESSES;
pub(super) use sockets::SOCKETS;

/// Exit code of an attempt that was refused; 0 is one that succeeded.
pub(super) const REFUSED: i32 = 77;
/// Exit code where there is nothing to attempt.
pub(super) const ABSENT: i32 = 78;

/// How an attempt went.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It reached what it should not.
    Reached(String),
    /// It was kept from it.
    Refused(String),
    /// This machine has no such thing.
    Absent(String),
}

use Answer::{Absent, Reached, Refused};

/// Runs the probe that the words name, or another part of the stage.
pub(crate) fn run(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let name = words.next().unwrap_or_default();
    if name == table::STAND_STILL {
        match words.next() {
            // Somebody outside, who goes with who started him.
            Some(_mark) => _ = io::stdin().read(&mut [0]),
            // A neighbour: there until it is ended.
            None => std::thread::sleep(Duration::from_secs(3_600)),
        }
        return ExitCode::SUCCESS;
    }
    let found = table::all().find(|probe| name == probe.name);
    let Some(Probe { attempt, .. }) = found else {
        return ExitCode::from(2);
    };
    let (code, line) = match attempt() {
        Reached(line) => (0, line),
        Refused(line) => (REFUSED, line),
        Absent(line) => (ABSENT, line),
    };
    crate::say::line(&line);
    ExitCode::from(u8::try_from(code).unwrap_or(2))
}

/// What the stage tells of itself: a variable.
fn told(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// Of a call that should end at the filter or be forbidden: any other answer comes from behind it.
fn forbidden<T>(result: Result<T, Errno>) -> Answer {
    match result {
        Err(Errno::EPERM | Errno::ENOSYS | Errno::EACCES) => Refused("refused".to_owned()),
        Err(errno) => Reached(format!("the kernel looked at it: {errno}")),
        Ok(_) => Reached("it worked".to_owned()),
    }
}

/// Of an attempt that fails if the job is kept from it, however.
fn fails<T>(result: Result<T, Errno>) -> Answer {
    match result {
        Err(errno) => Refused(errno.to_string()),
        Ok(_) => Reached("it worked".to_owned()),
    }
}

/// As above, of the standard library's attempts.
fn io_fails<T>(result: io::Result<T>) -> Answer {
    match result {
        Err(error) => Refused(error.to_string()),
        Ok(_) => Reached("it worked".to_owned()),
    }
}

/// Of something that a job should find empty, or not at all.
fn empty(result: io::Result<Vec<u8>>) -> Answer {
    match result {
        Err(error) => Refused(error.to_string()),
        Ok(bytes) if bytes.is_empty() => Refused("empty".to_owned()),
        Ok(bytes) => Reached(format!("{} bytes", bytes.len())),
    }
}
