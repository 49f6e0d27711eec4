//! Keeps the job's processes at rest while their files are counted: a process that moves a file
//! from a folder still to be counted to one already counted would not be seen holding it.
//!
//! A signal that none can block stops them, and another one lets them go on. Processes stopped
//! before stay so. A parent may notice both, and a wait may end early, so this is not done at every
//! count.
//!
//! A process rests when all its threads do; the first one may have ended before the others. A job
//! can make itself go on, by a timer that sends SIGCONT. So each process that is found to move is
//! stopped again, and after the count all must rest and none may have had a processor meanwhile.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::tree::{self, Stat};

/// How long to wait until all are at rest.
const PATIENCE: Duration = Duration::from_millis(100);
/// SIGSTOP among a process's pending signals.
const STOP: u64 = 1 << (libc::SIGSTOP - 1);

/// How processes rested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rest {
    /// All, all the time. A thread that waits in the kernel and cannot be woken stops before it
    /// does anything else.
    Whole,
    /// Not all yet: some have not had a processor since they were stopped, or are busy in the
    /// kernel.
    Late,
    /// Some were stopped and went on.
    Broken,
}

/// Processes that are at rest for as long as this lives.
#[derive(Debug)]
pub(super) struct Still {
    /// A process that is left alone.
    but: Option<Pid>,
    /// The others, and whether each was stopped by this one.
    found: BTreeMap<Pid, bool>,
    /// How often those that rest had a processor until then.
    runs: BTreeMap<Pid, u64>,
    rest: Rest,
}

impl Still {
    /// Stops all descendants of this process but one, also those that are made meanwhile.
    pub(super) fn of(but: Option<Pid>) -> io::Result<Still> {
        let mut still = Still {
            but,
            found: BTreeMap::new(),
            runs: BTreeMap::new(),
            rest: Rest::Late,
        };
        let begin = Instant::now();
        loop {
            still.rest = still.stop()?;
            if still.rest == Rest::Whole || begin.elapsed() >= PATIENCE {
                return Ok(still);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// How all have rested until now.
    pub(super) fn rest(&self) -> io::Result<Rest> {
        if self.rest != Rest::Whole {
            return Ok(self.rest);
        }
        let all = self.others()?.into_iter();
        Ok(all.map(|pid| self.since(pid)).max().unwrap_or(Rest::Whole))
    }

    fn others(&self) -> io::Result<Vec<Pid>> {
        let mut all = tree::below()?;
        all.retain(|pid| self.but != Some(*pid));
        Ok(all)
    }

    /// Stops those that do not rest, again if need be. Answers how all rest.
    fn stop(&mut self) -> io::Result<Rest> {
        let mut rest = Rest::Whole;
        self.runs.clear();
        for pid in self.others()? {
            let threads = Threads::of(pid);
            let told = self.found.get(&pid) == Some(&true);
            rest = rest.max(threads.rest(told));
            let stops = threads.moves || threads.waits;
            let sent = stops && kill(pid, Signal::SIGSTOP).is_ok();
            *self.found.entry(pid).or_default() |= sent;
            if threads.is_at_rest() {
                self.runs.insert(pid, threads.runs);
            }
        }
        Ok(rest)
    }

    /// How a process has rested since all did.
    fn since(&self, pid: Pid) -> Rest {
        let threads = Threads::of(pid);
        if threads.living.is_none() {
            return Rest::Whole;
        }
        match (self.found.get(&pid), self.runs.get(&pid)) {
            (None, _) => Rest::Late,
            (Some(_), Some(runs)) if !threads.is_at_rest() || *runs != threads.runs => Rest::Broken,
            // It waited in the kernel then.
            (Some(told), _) => threads.rest(*told),
        }
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

/// The activity of a process's threads.
#[derive(Debug, Default)]
struct Threads {
    /// One that has not ended.
    living: Option<Pid>,
    /// Whether one runs, or sleeps and can be woken.
    moves: bool,
    /// Whether one waits in the kernel.
    waits: bool,
    /// Whether one was stopped by a signal.
    stopped: bool,
    /// How often those that are left had a processor.
    runs: u64,
    /// Whether SIGSTOP has yet to reach the process.
    pending: bool,
}

impl Threads {
    fn of(pid: Pid) -> Threads {
        let mut all = Threads::default();
        for thread in tree::threads(pid) {
            let Some(stat) = Stat::of_thread(pid, thread).filter(|stat| !stat.is_over()) else {
                continue;
            };
            all.living = Some(thread);
            all.waits |= stat.is_uninterruptible();
            all.stopped |= stat.is_stopped();
            all.moves |= !stat.is_stopped() && !stat.is_uninterruptible();
            let status = fs::read_to_string(format!("/proc/{pid}/task/{thread}/status"));
            all.take(&status.unwrap_or_default());
        }
        all
    }

    fn take(&mut self, status: &str) {
        for (name, value) in status.lines().filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name {
                "ShdPnd" => {
                    let signals = u64::from_str_radix(value, 16).unwrap_or(0);
                    self.pending |= signals & STOP != 0;
                }
                "voluntary_ctxt_switches" | "nonvoluntary_ctxt_switches" => {
                    self.runs = self.runs.saturating_add(value.parse().unwrap_or(0));
                }
                _ => {}
            }
        }
    }

    fn is_at_rest(&self) -> bool {
        self.living.is_some() && !self.moves && !self.waits
    }

    /// How it rests, if it was told to or not. A signal that is no longer pending, of which no
    /// thread has stopped, was undone by another one.
    fn rest(&self, told: bool) -> Rest {
        match self.moves {
            false => Rest::Whole,
            true if told && !self.pending && !self.stopped => Rest::Broken,
            true => Rest::Late,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::odd;
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
        while Threads::of(pid).is_at_rest() != wanted {
            assert!(begin.elapsed() < PATIENCE * 600, "{pid} {wanted}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn all_rest_and_go_on_but_those_that_rested_before() {
        let _alone = odd::alone();
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

    #[test]
    fn a_process_whose_first_thread_has_ended_rests_too() {
        let _alone = odd::alone();
        let child = odd::Child::without_leader();
        assert!(Stat::of(child.pid).unwrap().is_over());
        assert!(!Threads::of(child.pid).is_at_rest());
        let still = Still::of(None).unwrap();
        until_stopped(child.pid, true);
        drop(still);
        until_stopped(child.pid, false);
    }

    #[test]
    fn a_process_that_makes_itself_go_on_breaks_the_rest() {
        let _alone = odd::alone();
        let _child = odd::Child::that_goes_on();
        let breaks = || {
            let still = Still::of(None).unwrap();
            // As long as a count may take.
            std::thread::sleep(Duration::from_millis(20));
            still.rest().unwrap() == Rest::Broken
        };
        let began = Instant::now();
        // On a busy machine all of the child's timers may have run out before it is stopped.
        while !breaks() {
            assert!(began.elapsed() < Duration::from_secs(20));
        }
    }

    #[test]
    fn what_has_yet_to_stop_is_late() {
        let one = |text: &str, stopped| {
            let mut threads = Threads {
                living: Some(Pid::this()),
                moves: true,
                stopped,
                ..Threads::default()
            };
            threads.take(text);
            threads
        };
        let pending = "SigPnd:\t0000000000000000\nShdPnd:\t0000000000040000\n";
        let none = "ShdPnd:\t0000000000000000\nnonvoluntary_ctxt_switches:\t7\n";
        assert_eq!(one(pending, false).rest(true), Rest::Late);
        assert_eq!(one(none, true).rest(true), Rest::Late);
        assert_eq!(one(none, false).rest(false), Rest::Late);
        assert_eq!(one(none, false).rest(true), Rest::Broken);
        assert_eq!(one(none, false).runs, 7);
    }
}
