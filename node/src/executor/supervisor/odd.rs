//! Children that behave like hostile jobs, for tests.
//!
//! They are forked from a process with several threads, so they make system calls alone.

#![allow(
    unsafe_code,
    reason = "no safe function makes such processes; each block states why it is sound"
)]

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use super::tree::Stat;

static ALONE: Mutex<()> = Mutex::new(());

/// For tests that stop all children of this process: one at a time.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child that ends with this.
pub(super) struct Child {
    pub(super) pid: Pid,
}

impl Child {
    /// The first thread has ended, another one sleeps.
    pub(super) fn without_leader() -> Child {
        // Large, and written to: memory that it holds.
        let mut stack = vec![1_u128; 1 << 19];
        let top = stack.as_mut_ptr_range().end.cast::<libc::c_void>();
        let flags = libc::CLONE_VM
            | libc::CLONE_FS
            | libc::CLONE_FILES
            | libc::CLONE_SIGHAND
            | libc::CLONE_THREAD
            | libc::CLONE_SYSVSEM;
        let child = Child::of(|| {
            // SAFETY: the stack lives as long as the child; the new thread only makes system calls.
            unsafe {
                libc::clone(sleep, top, flags, std::ptr::null_mut());
                libc::syscall(libc::SYS_exit, 0);
            }
        });
        while !Stat::of(child.pid).unwrap().is_over() {
            std::thread::yield_now();
        }
        drop(stack);
        child
    }

    /// Timers send it SIGCONT, which it handles, every other millisecond. They are many, for a
    /// signal that SIGSTOP finds pending is lost, and its timer with it.
    pub(super) fn that_goes_on() -> Child {
        let child = Child::of(|| {
            let timers: [libc::c_int; 64] = std::array::from_fn(|_| timer());
            loop {
                for (at, timer) in (1..).zip(timers) {
                    set(timer, at * 2_000_000);
                }
                // SAFETY: all zeros are a valid value; the handler does nothing.
                unsafe {
                    let mut action: libc::sigaction = std::mem::zeroed();
                    action.sa_sigaction = nothing as *const () as libc::sighandler_t;
                    libc::sigaction(libc::SIGCONT, &raw const action, std::ptr::null_mut());
                    libc::pause();
                }
            }
        });
        while !child.handles() {
            std::thread::yield_now();
        }
        child
    }

    /// It has so many mappings of a file's first page.
    pub(super) fn that_maps(file: &File, many: usize) -> Child {
        let fd = file.as_raw_fd();
        let child = Child::of(|| {
            let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
            for _ in 0..many {
                // SAFETY: a new mapping, of which nothing is read.
                unsafe { libc::mmap(std::ptr::null_mut(), 4096, read, shared, fd, 0) };
            }
        });
        let maps = format!("/proc/{}/maps", child.pid);
        let mapped = |text: String| text.matches("(deleted)").count();
        while mapped(std::fs::read_to_string(&maps).unwrap()) < many {
            std::thread::yield_now();
        }
        child
    }

    /// Forks.
    fn of(acts: impl FnOnce()) -> Child {
        // SAFETY: the child makes system calls only and never returns.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            acts();
            sleep(std::ptr::null_mut());
        }
        assert!(pid > 0);
        Child {
            pid: Pid::from_raw(pid),
        }
    }

    /// Whether it handles SIGCONT.
    fn handles(&self) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
        caught & 1 << (libc::SIGCONT - 1) != 0
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = kill(self.pid, Signal::SIGKILL);
        let _ = waitpid(self.pid, Some(WaitPidFlag::__WALL));
    }
}

/// A timer that sends SIGCONT.
fn timer() -> libc::c_int {
    let mut timer = 0;
    // SAFETY: all zeros are a valid value of this plain C structure, which outlives the call.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGCONT;
        let (call, clock) = (libc::SYS_timer_create, libc::CLOCK_MONOTONIC);
        libc::syscall(call, clock, &raw const event, &raw mut timer);
    }
    timer
}

/// Sets a timer off after so many nanoseconds, once.
fn set(timer: libc::c_int, nanos: libc::c_long) {
    // SAFETY: as above.
    unsafe {
        let mut time: libc::itimerspec = std::mem::zeroed();
        time.it_value.tv_nsec = nanos;
        let none = std::ptr::null_mut::<libc::itimerspec>();
        let call = libc::SYS_timer_settime;
        libc::syscall(call, timer, 0, &raw const time, none);
    }
}

extern "C" fn nothing(_: libc::c_int) {}

extern "C" fn sleep(_: *mut libc::c_void) -> libc::c_int {
    loop {
        // SAFETY: takes no arguments.
        unsafe { libc::pause() };
    }
}
