//! System calls as an attacker makes them: by number, past every library.
#![allow(
    unsafe_code,
    reason = "a probe calls what no library offers; it runs in a process of its own that does nothing else, \
              and every pointer passed lives through the call"
)]

use nix::errno::Errno;
use nix::libc;
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::FromRawFd as _;
use std::time::Duration;

/// An argument.
pub(super) enum Arg<'a> {
    /// A number.
    N(u64),
    /// A text that the kernel reads.
    T(&'a CStr),
    /// Memory that the kernel reads or writes.
    M(&'a mut [u8]),
}

/// Makes a call.
pub(super) fn call(number: libc::c_long, args: &mut [Arg<'_>]) -> Result<i64, Errno> {
    let mut words = [0_u64; 6];
    for (word, arg) in words.iter_mut().zip(args) {
        *word = match arg {
            Arg::N(number) => *number,
            Arg::T(text) => text.as_ptr() as u64,
            Arg::M(memory) => memory.as_mut_ptr() as u64,
        };
    }
    let [a, b, c, d, e, f] = words;
    // SAFETY: pointers among the words are borrowed until here; any other effect of a call on this
    // process ends with it.
    Errno::result(unsafe { libc::syscall(number, a, b, c, d, e, f) })
}

/// A child that runs `work` and ends with its code; its process id.
pub(super) fn child(flags: libc::c_int, work: impl FnOnce() -> i32) -> Result<i32, Errno> {
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    let none: libc::c_long = 0;
    // SAFETY: without CLONE_VM and a stack of its own this is fork, of a process with one thread.
    let pid =
        Errno::result(unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) })?;
    if pid == 0 {
        let code = work();
        // SAFETY: takes an integer and does not return.
        unsafe { libc::_exit(code) }
    }
    i32::try_from(pid).map_err(|_| Errno::EOVERFLOW)
}

/// The file of a descriptor that a call has just made.
pub(super) fn file(fd: i64) -> File {
    // SAFETY: nobody else owns it; a number that is none makes every use of it fail.
    unsafe { File::from_raw_fd(i32::try_from(fd).unwrap_or(i32::MAX)) }
}

/// Waits for a child: its exit code, or minus the signal that ended it.
pub(super) fn wait(pid: i32) -> i32 {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the answer.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    match libc::WIFEXITED(status) {
        true => libc::WEXITSTATUS(status),
        false => -libc::WTERMSIG(status),
    }
}

/// Keeps a processor busy until this process has used so much of it.
pub(super) fn spin(until: Duration) {
    let mut used = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    loop {
        // SAFETY: `used` is a valid place for the answer.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut used) };
        let spent = Duration::new(
            u64::try_from(used.tv_sec).unwrap_or(0),
            u32::try_from(used.tv_nsec).unwrap_or(0),
        );
        if spent >= until {
            return;
        }
    }
}
