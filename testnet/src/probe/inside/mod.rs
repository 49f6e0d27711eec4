//! The program inside the job: one attempt, its answer as exit code and one line.

mod attempt;
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

pub(super) use attempt::{BROKEN_PROBE, KEPT, Probe, REFUSED};

use super::{env, table};
use attempt::{Kept, Reached, Refused, told};
use std::ffi::OsString;
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
