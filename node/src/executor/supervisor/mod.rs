//! The process that looks after one job, and outlives the node that started it.
//!
//! It is the node's own program, executed again with a hidden first word:
//!
//! 1. The node executes `gridbay __supervise <folder>` with the held lock as standard input, the
//!    writing end of `alive` as standard output, the log as standard error, and no environment.
//! 2. That process opens `control`, forks and exits: the child, in a session of its own, is the
//!    supervisor, and the node has nothing left to wait for. A job can be stopped from here on.
//! 3. The supervisor reads `launch.json`, starts the sandbox, in the job's control group if there
//!    is one, and watches it to its end.
//! 4. When no process of the job is left and its output is complete, it writes the final state and
//!    ends; the lock and `alive` go with it.
//!
//! If the supervisor itself is killed, its sandbox dies with it, and the node finds the job lost.
//! In the plain tier only the job's first process is sure to die then.

mod disk;
mod gauge;
mod handover;
mod nameless;
#[cfg(test)]
mod odd;
mod output;
mod spent;
mod still;
mod tree;
mod walk;
mod watch;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use nix::unistd::setsid;

use super::folder::Folder;
use super::outcome::{Exit, Finished, KillReason, Status, Usage};
use super::sandbox::sys;

/// The hidden first word.
pub(super) const WORD: &str = "__supervise";

/// Goes on as a supervisor, and does not return, if this process was executed as one.
///
/// To be called first thing in `main`, while the process has a single thread.
pub fn run_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() == Some(OsStr::new(WORD)) {
        let folder = arguments.next().map(PathBuf::from).unwrap_or_default();
        let code = match run(folder) {
            Ok(()) => 0,
            Err(e) => {
                let _ = writeln!(io::stderr(), "gridbay supervisor: {e}");
                1
            }
        };
        std::process::exit(code);
    }
}

fn run(path: PathBuf) -> io::Result<()> {
    std::env::set_current_dir(&path)?;
    let folder = Folder::new(path);
    let held = Held::take(&folder)?;
    if sys::clone_process(0)?.is_some() {
        return Ok(());
    }
    setsid()?;
    let finished = supervise(&folder, held.control).unwrap_or_else(|e| {
        let reason = KillReason::Setup(e.to_string());
        Finished {
            started: None,
            exit: Exit::Killed { reason },
            usage: Usage::default(),
        }
    });
    folder.write_state(&Status::Finished(finished))
}

/// Descriptors that must stay open for the supervisor's whole life, and nowhere else.
struct Held {
    _lock: OwnedFd,
    _alive: OwnedFd,
    control: File,
}

impl Held {
    /// Moves lock and `alive` away from the standard streams, which children inherit.
    fn take(folder: &Folder) -> io::Result<Self> {
        let lock = sys::inherited(libc::STDIN_FILENO)?;
        let alive = sys::inherited(libc::STDOUT_FILENO)?;
        let null = File::options().read(true).write(true).open("/dev/null")?;
        sys::dup_onto(null.as_fd(), libc::STDIN_FILENO)?;
        sys::dup_onto(null.as_fd(), libc::STDOUT_FILENO)?;
        // Open for writing too, so that it never comes to an end when the node closes its side.
        let control = File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(folder.control())?;
        Ok(Self {
            _lock: lock,
            _alive: alive,
            control,
        })
    }
}

fn supervise(folder: &Folder, control: File) -> io::Result<Finished> {
    let launch = folder.read_launch()?;
    launch.spec.check().map_err(io::Error::other)?;
    watch::run(folder, &launch, control)
}
