//! The program inside the job: one attempt, its answer as exit code and one line.

mod calls;
mod disk;
mod files;
mod hidden;
mod kernel;
mod limits;
mod proc;
mod processes;
mod raw;
mod sockets;

use super::table::{self, Probe, env};
use nix::errno::Errno;
use std::ffi::{CString, OsString};
use std::io::{self, Read as _};
use std::process::ExitCode;
use std::time::Duration;

pub(super) use calls::CALLS;
pub(super) use disk::PROBES as DISK;
pub(super) use files::FILES;
pub(super) use hidden::HIDDEN;
pub(super) use kernel::KERNEL;
pub(super) use limits::LIMITS;
pub(super) use proc::PROC;
pub(super) use processes::PROCESSES;
pub(super) use sockets::SOCKETS;

/// Exit code of an attempt that was refused; 0 is one that succeeded.
pub(super) const REFUSED: i32 = 77;
/// Exit code where the job keeps what nobody can take from it.
pub(super) const KEPT: i32 = 79;
/// Exit code of a probe that cannot make its attempt: it says nothing of the fence.
pub(super) const BROKEN_PROBE: u8 = 2;

/// How an attempt went.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It reached what it should not.
    Reached(String),
    /// It was kept from it.
    Refused(String),
    /// It has it, without privilege nobody can take it away, and another probe tries what it opens.
    Kept(String),
}

use Answer::{Kept, Reached, Refused};

/// Runs the probe that the words name, or another part of the stage.
pub(crate) fn run(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let name = words.next().unwrap_or_default();
    if name == table::STAND_STILL {
        match words.next() {
            // A process outside, which ends with the one that started it.
            Some(_mark) => _ = io::stdin().read(&mut [0]),
            // A neighbour: there until it is ended.
            None => std::thread::sleep(Duration::from_secs(3_600)),
        }
        return ExitCode::SUCCESS;
    }
    let found = table::all().find(|probe| name == probe.name);
    let Some(Probe { attempt, .. }) = found else {
        return ExitCode::from(BROKEN_PROBE);
    };
    if let Some(name) = untold() {
        crate::say::line(&format!("broken probe: {name} was not told"));
        return ExitCode::from(BROKEN_PROBE);
    }
    let (code, line) = match attempt() {
        Reached(line) => (0, line),
        Refused(line) => (REFUSED, line),
        Kept(line) => (KEPT, line),
    };
    crate::say::line(&line);
    ExitCode::from(u8::try_from(code).unwrap_or(2))
}

/// A variable that the stage should have told and did not: without it attempts fail by themselves.
fn untold() -> Option<&'static str> {
    let empty = |name: &&str| told(name).is_empty();
    let no_number = |name: &&str| told(name).parse::<u16>().is_ok_and(|n| n == 0);
    let odd = |name: &&str| told(name).parse::<u32>().is_err() || no_number(name);
    let missing = env::ALL.iter().find(|name| empty(name));
    missing
        .or_else(|| env::NUMBERS.iter().find(|name| odd(name)))
        .copied()
}

/// A variable by which the stage tells about itself; [`untold`] has found it there.
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
