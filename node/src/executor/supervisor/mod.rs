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

use super::capability::Tier;
use super::folder::Folder;
use super::outcome::{Exit, Finished, KillReason, Status, Usage};
use super::sandbox::sys;

/// The hidden first word.
pub(super) const WORD: &str = "__supervise";
/// A last word: no job outside of namespaces.
pub(super) const ISOLATED: &str = "isolated";

/// Goes on as a supervisor, and does not return, if this process was executed as one.
///
/// To be called first thing in `main`, while the process has a single thread.
pub fn run_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() == Some(OsStr::new(WORD)) {
        let folder = arguments.next().map(PathBuf::from).unwrap_or_default();
        let isolated = arguments.next().as_deref() == Some(OsStr::new(ISOLATED));
        let code = match run(folder, isolated) {
            Ok(()) => 0,
            Err(e) => {
                let _ = writeln!(io::stderr(), "gridbay supervisor: {e}");
                1
            }
        };
        std::process::exit(code);
    }
}

fn run(path: PathBuf, isolated: bool) -> io::Result<()> {
    std::env::set_current_dir(&path)?;
    let folder = Folder::new(path);
    let held = Held::take(&folder)?;
    if sys::clone_process(0)?.is_some() {
        return Ok(());
    }
    setsid()?;
    let finished = supervise(&folder, held.control, isolated).unwrap_or_else(|e| {
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

fn supervise(folder: &Folder, control: File, isolated: bool) -> io::Result<Finished> {
    let launch = folder.read_launch()?;
    if isolated && launch.tier != Tier::Namespaces {
        return Err(io::Error::other("jobs run in namespaces only here"));
    }
    launch.spec.check().map_err(io::Error::other)?;
    watch::run(folder, &launch, control)
}

#[cfg(test)]
mod tests {
    use super::super::capability::Link;
    use super::super::folder::Launch;
    use super::super::job::{JobName, JobSpec};
    use super::*;

    #[test]
    fn one_of_a_launcher_runs_nothing_outside_of_namespaces() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path().to_owned());
        let mark = dir.path().join("ran");
        let words = ["/bin/touch", mark.to_str().unwrap()];
        let launch = Launch {
            spec: JobSpec::new(JobName::new("a").unwrap(), words),
            tier: Tier::Plain,
            link: Link::Tun,
            group: None,
            read_only: Vec::new(),
            floor: 0,
        };
        folder.write_launch(&launch).unwrap();
        let control = File::open("/dev/null").unwrap();
        let refused = supervise(&folder, control, true).unwrap_err();
        assert!(refused.to_string().contains("namespaces only"), "{refused}");
        assert!(!mark.exists());
    }
}
