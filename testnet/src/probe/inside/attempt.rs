//! One attempt of a job: its place in the table, its answer, and how results of calls become one.

use gridbay_node::executor::Limits;
use nix::errno::Errno;
use std::ffi::CString;
use std::io;

/// Exit code of an attempt that was refused; 0 is one that succeeded.
pub(crate) const REFUSED: i32 = 77;
/// Exit code where the job keeps what nobody can take from it.
pub(crate) const KEPT: i32 = 79;
/// Exit code of a probe that cannot make its attempt: it says nothing of the fence.
pub(crate) const BROKEN_PROBE: u8 = 2;

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

pub(super) use Answer::{Kept, Reached, Refused};

/// One thing that a job tries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Its name, unique.
    pub(crate) name: &'static str,
    /// The attempt, made inside.
    pub(crate) attempt: fn() -> Answer,
    /// The bounds that it tries, if it does: then it may be ended by them.
    pub(crate) limits: Option<fn(&mut Limits)>,
}

/// A probe within the ordinary limits.
pub(crate) const fn probe(name: &'static str, attempt: fn() -> Answer) -> Probe {
    Probe {
        name,
        attempt,
        limits: None,
    }
}

/// A probe of limits.
pub(crate) const fn limit(
    name: &'static str,
    limits: fn(&mut Limits),
    attempt: fn() -> Answer,
) -> Probe {
    Probe {
        name,
        attempt,
        limits: Some(limits),
    }
}

/// A variable by which the stage tells about itself;
/// [`run`](super::run) has found it there.
pub(super) fn told(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

pub(super) fn text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// Of a call that should end at the filter or be forbidden: any other answer comes from behind it.
pub(super) fn forbidden<T>(result: Result<T, Errno>) -> Answer {
    match result {
        Err(Errno::EPERM | Errno::ENOSYS | Errno::EACCES) => Refused("refused".to_owned()),
        Err(errno) => Reached(format!("the kernel looked at it: {errno}")),
        Ok(_) => Reached("it worked".to_owned()),
    }
}

/// Of an attempt that fails if the job is kept from it, however.
pub(super) fn fails<T>(result: Result<T, Errno>) -> Answer {
    match result {
        Err(errno) => Refused(errno.to_string()),
        Ok(_) => Reached("it worked".to_owned()),
    }
}

/// As above, of the standard library's attempts.
pub(super) fn io_fails<T>(result: io::Result<T>) -> Answer {
    match result {
        Err(error) => Refused(error.to_string()),
        Ok(_) => Reached("it worked".to_owned()),
    }
}

/// Of something that a job should find empty, or not at all.
pub(super) fn empty(result: io::Result<Vec<u8>>) -> Answer {
    match result {
        Err(error) => Refused(error.to_string()),
        Ok(bytes) if bytes.is_empty() => Refused("empty".to_owned()),
        Ok(bytes) => Reached(format!("{} bytes", bytes.len())),
    }
}
