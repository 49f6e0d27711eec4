//! The job's processes at rest while their files are counted: who moves a file from where the count
//! has yet to go to where it has been would not be seen holding it.
//!
//! They are stopped by a signal that none can block, and go on by another one. Who was stopped
//! before stays so. A parent can be told of both, and a wait can end early: so it is not done at every count.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::tree::{self, Stat};

/// How long to wait until all are at rest. Who is not by then waits for something in the kernel, and
/// stops before it does anything else.
const PATIENCE: Duration = Duration::from_millis(100);

/// Processes that are at rest for as long as this lives.
#[derive(Debug)]
pub(super) struct Still {
    /// Who was found, and whether the rest is this one's doing.
    found: BTreeMap<Pid, bool>,
}

impl Still {
    /// Stops all descendants of this process but one, also those that are made meanwhile.
    pub(super) fn of(but: Option<Pid>) -> std::io::Result<Still> {
        let mut still = Still {
            found: BTreeMap::new(),
        };
        let begin = Instant::now();
        while still.stop(but)? && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(still)
    }

    /// Answers whether any was not at rest.
    fn stop(&mut self, but: Option<Pid>) -> std::io::Result<bool> {
        let mut moved = false;
        for pid in tree::below()? {
            if but == Some(pid) {
                continue;
            }
            let Some(stat) = Stat::of(pid) else {
                continue;
            };
            let (stopped, over) = (stat.is_stopped(), stat.is_over());
            let stop = || !stopped && !over && kill(pid, Signal::SIGSTOP).is_ok();
            self.found.entry(pid).or_insert_with(stop);
            moved |= !stopped && !over;
        }
        Ok(moved)
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        for (pid, ours) in &self.found {
            if *ours {
                // It may have been killed.
                let _ = kill(*pid, Signal::SIGCONT);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    fn busy() -> (Child, Pid) {
        let script = "while :; do :; done";
        let child = Command::new("/bin/sh").args(["-c", script]).spawn();
        let child = child.unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        (child, pid)
    }

    fn until_stopped(pid: Pid, wanted: bool) {
        let begin = Instant::now();
        while Stat::of(pid).unwrap().is_stopped() != wanted {
            assert!(begin.elapsed() < PATIENCE * 600, "{pid} {wanted}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn all_rest_and_go_on_but_those_that_rested_before() {
        let (mut goes, going) = busy();
        let (mut rests, resting) = busy();
        let (mut other, spared) = busy();
        kill(resting, Signal::SIGSTOP).unwrap();
        until_stopped(resting, true);
        let still = Still::of(Some(spared)).unwrap();
        until_stopped(going, true);
        until_stopped(spared, false);
        drop(still);
        until_stopped(going, false);
        until_stopped(resting, true);
        for child in [&mut goes, &mut rests, &mut other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
