//! The system calls that neither the standard library nor `nix` offers as safe functions.
//!
//! Every function here is safe to call from the rest of the crate; a comment beside each block says
//! why. Those that fork or that undo process-wide state are meant for the supervisor, which is a
//! freshly executed process with a single thread.

#![allow(
    unsafe_code,
    reason = "system calls of the sandbox; each block states why it is sound"
)]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::time::ClockId;
use nix::unistd::Pid;

use super::report::Ending;

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn check_long(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Forks, with new namespaces for the child if `flags` name some. `None` in the child.
///
/// Refuses in a process with more than one thread, where the child could find locks held for ever.
pub(crate) fn clone_process(flags: libc::c_int) -> io::Result<Option<Pid>> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other(
            "refusing to fork a process with several threads",
        ));
    }
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    let none: libc::c_long = 0;
    // SAFETY: without CLONE_VM and with no new stack this is fork: the child goes on with a copy of
    // this process, which has only the calling thread. All pointer arguments are null.
    let pid = check_long(unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) })?;
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    Ok((pid != 0).then(|| Pid::from_raw(pid)))
}

/// Reaps a child that has ended, if `block` waiting for one. `None`: none has.
pub(crate) fn wait_child(block: bool) -> io::Result<Option<(Pid, Ending)>> {
    let mut status = 0;
    let options = if block { 0 } else { libc::WNOHANG };
    // SAFETY: `status` is a valid place for the answer.
    let pid = check(unsafe { libc::waitpid(-1, &raw mut status, options) })?;
    let ending = if libc::WIFEXITED(status) {
        Ending::Exited(libc::WEXITSTATUS(status))
    } else {
        Ending::Signaled(libc::WTERMSIG(status))
    };
    Ok((pid != 0).then(|| (Pid::from_raw(pid), ending)))
}

/// Ends the process at once, without running destructors or exit handlers.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` takes an integer and does not return.
    unsafe { libc::_exit(code) }
}

/// Closes every descriptor above 2 but those in `keep`.
///
/// For a child that goes on with nothing of its parent's but what it was given. The caller must own
/// nothing else that it will use or close later: hence only for use right after a fork, before the
/// child has opened anything, in code that ends in `exit_now` or `execve`.
pub(crate) fn close_all_but(keep: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut keep: Vec<RawFd> = keep
        .iter()
        .map(AsRawFd::as_raw_fd)
        .filter(|fd| *fd > 2)
        .collect();
    keep.sort_unstable();
    let mut first: libc::c_uint = 3;
    for fd in keep {
        let fd = libc::c_uint::try_from(fd).map_err(io::Error::other)?;
        if fd > first {
            close_range(first, fd - 1)?;
        }
        first = fd + 1;
    }
    close_range(first, libc::c_uint::MAX)
}

fn close_range(first: libc::c_uint, last: libc::c_uint) -> io::Result<()> {
    // SAFETY: takes integers only. That no value of this process still owns one of the descriptors
    // is the contract of `close_all_but`.
    check_long(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) }).map(drop)
}

/// Puts `/dev/null` in the place of standard input, output and error.
pub(crate) fn silence_stdio() -> io::Result<()> {
    let null = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    for target in 0..=2 {
        dup_onto(null.as_fd(), target)?;
    }
    Ok(())
}

/// Makes `target` (0, 1 or 2) another name for `fd`.
pub(crate) fn dup_onto(fd: BorrowedFd<'_>, target: RawFd) -> io::Result<()> {
    debug_assert!(
        (0..=2).contains(&target),
        "only the standard streams are replaced"
    );
    // SAFETY: the source is open; the standard streams are not owned by any value.
    check(unsafe { libc::dup2(fd.as_raw_fd(), target) }).map(drop)
}

/// The descriptor that this process was given as standard input or output, as an owned copy.
pub(crate) fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: fcntl copies a descriptor or fails; the copy is new and belongs to the caller.
    let copy = check(unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) })?;
    // SAFETY: `copy` was just made and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Makes reads and writes on `fd` return instead of waiting.
pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Waits until one of `fds` can be read or has been closed at the other end, or for `timeout`
/// (`None`: for ever). The answer has one flag per descriptor.
pub(crate) fn poll_readable(
    fds: &[BorrowedFd<'_>],
    timeout: Option<Duration>,
) -> io::Result<Vec<bool>> {
    let asked = fds.iter().map(|fd| PollFd::new(*fd, PollFlags::POLLIN));
    let mut polled: Vec<PollFd<'_>> = asked.collect();
    // Rounded up, so that a deadline has passed when the wait for it returns.
    let millis = |time: Duration| time.as_nanos().div_ceil(1_000_000);
    let timeout = timeout.map(|t| PollTimeout::try_from(millis(t)).unwrap_or(PollTimeout::MAX));
    match poll(&mut polled, timeout) {
        Err(Errno::EINTR) => Ok(vec![false; fds.len()]),
        Err(error) => Err(error.into()),
        Ok(_) => {
            let said = |fd: &PollFd<'_>| fd.revents() != Some(PollFlags::empty());
            Ok(polled.iter().map(said).collect())
        }
    }
}

/// `CLOCK_REALTIME` since 1970 and `CLOCK_MONOTONIC`, read one after the other.
pub(crate) fn clocks() -> (Duration, Duration) {
    (
        clock(ClockId::CLOCK_REALTIME),
        clock(ClockId::CLOCK_MONOTONIC),
    )
}

/// Time since boot, suspended or not: the clock of processes' starts.
pub(crate) fn since_boot() -> Duration {
    clock(ClockId::CLOCK_BOOTTIME)
}

/// These clocks exist on every Linux.
fn clock(id: ClockId) -> Duration {
    id.now().map_or(Duration::ZERO, Duration::from)
}

/// Raises this process's nice level, and that of all it starts, by so many; it cannot be lowered
/// again without privilege.
pub(crate) fn lower_priority(levels: u8) -> io::Result<()> {
    if levels == 0 {
        return Ok(());
    }
    let who = libc::PRIO_PROCESS;
    // SAFETY: both calls take integers. A level of -1 looks like an error, so it is taken as none.
    let now = unsafe { libc::getpriority(who, 0) }.max(0);
    let level = (now + libc::c_int::from(levels)).min(19);
    // SAFETY: as above.
    check(unsafe { libc::setpriority(who, 0, level) }).map(drop)
}

/// Whether the kernel shares processors out among sessions first, so that nice levels count only
/// within one.
pub(crate) fn groups_by_session() -> bool {
    let setting = std::fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled");
    setting.is_ok_and(|text| text.trim() == "1")
}

/// Gives up every capability, for this process and whatever it executes.
pub(crate) fn drop_capabilities() -> io::Result<()> {
    let zero: libc::c_ulong = 0;
    for capability in zero..64 {
        // SAFETY: this option takes integers.
        match check(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, zero, zero, zero) }) {
            Ok(_) => {}
            // EINVAL: past the last capability of this kernel. EPERM: there was none to drop.
            Err(e) if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::EPERM)) => break,
            Err(e) => return Err(e),
        }
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header: [u32; 2] = [VERSION_3, 0];
    let none = [0_u32; 6];
    // SAFETY: header {version, pid 0 = self} and two triples of masks, as version 3 demands.
    check_long(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) }).map(drop)
}

/// Adds mount attributes (`libc::MOUNT_ATTR_*`) to the mount at `path`, if `recursive` also to all
/// below it. Unlike a remount this never has to repeat attributes that the mount already has.
pub(crate) fn restrict_mount(path: &Path, attributes: u64, recursive: bool) -> io::Result<()> {
    let path = c_path(path)?;
    let change = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: path is zero-terminated, `change` is valid for reads of the size that is passed.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const change,
            size_of::<libc::mount_attr>(),
        )
    })
    .map(drop)
}

/// From now on SIGTERM to this process is passed on to every other process that it may signal:
/// for process 1 of a pid namespace, to all processes in it.
pub(crate) fn forward_term() -> io::Result<()> {
    extern "C" fn forward(_: libc::c_int) {
        // SAFETY: kill and access to errno are async-signal-safe.
        unsafe {
            let errno = libc::__errno_location();
            let saved = *errno;
            libc::kill(-1, libc::SIGTERM);
            *errno = saved;
        }
    }
    set_handler(libc::SIGTERM, forward as *const () as libc::sighandler_t)
}

/// Gives back their default action to all signals, as a program expects to find them.
pub(crate) fn default_signals() {
    for signal in 1..=64 {
        // Refused for the few signals that cannot be caught: those have it anyway.
        let _ = set_handler(signal, libc::SIG_DFL);
    }
}

fn set_handler(signal: libc::c_int, handler: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: all zeros is a valid sigaction: no flags, an empty mask. The handler is SIG_DFL or a
    // function that calls async-signal-safe functions only.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_RESTART;
        check(libc::sigaction(
            signal,
            &raw const action,
            std::ptr::null_mut(),
        ))
        .map(drop)
    }
}

/// Replaces this process by a program. Returns only if that failed.
pub(crate) fn execute(program: &CStr, argv: &[CString], env: &[CString]) -> io::Error {
    match nix::unistd::execve(program, argv, env) {
        Err(errno) => errno.into(),
        Ok(never) => match never {},
    }
}

/// A path as the kernel takes it.
fn c_path(path: &Path) -> io::Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    #[test]
    fn poll_tells_readable_from_silent() {
        let (quiet, _keep) = nix::unistd::pipe().unwrap();
        let (ready, writer) = nix::unistd::pipe().unwrap();
        File::from(writer).write_all(b"x").unwrap();
        let flags = poll_readable(&[quiet.as_fd(), ready.as_fd()], None).unwrap();
        assert_eq!(flags, [false, true]);
    }

    #[test]
    fn a_process_with_threads_is_not_forked() {
        let (tell, wait) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || wait.recv());
        assert!(clone_process(0).is_err());
        drop(tell);
        let _ = other.join();
    }
}
