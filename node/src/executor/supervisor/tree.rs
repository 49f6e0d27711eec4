//! Finding and ending all descendants of this process where no pid namespace does it.
//!
//! The supervisor is a subreaper: a process that loses its parent becomes its child, so it can
//! leave its session and its group, but not this tree.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::executor::sandbox::sys;

/// How long a sweep goes on against processes that keep forking.
const SWEEP: Duration = Duration::from_secs(10);

/// Sends `signal` to all descendants. Answers how many there were.
pub(super) fn signal_all(signal: Signal) -> io::Result<usize> {
    let found = descendants()?;
    for pid in &found {
        // It may have ended since.
        let _ = kill(*pid, signal);
    }
    Ok(found.len())
}

/// Kills and reaps until no descendant is left. False if the time ran out first.
pub(super) fn sweep() -> io::Result<bool> {
    let begin = Instant::now();
    while begin.elapsed() < SWEEP {
        // All are stopped before any is killed: fewer are left to fork in the meantime.
        signal_all(Signal::SIGSTOP)?;
        let found = signal_all(Signal::SIGKILL)?;
        reap();
        if found == 0 {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(false)
}

/// Reaps all children that have ended.
fn reap() {
    while let Ok(Some(_)) = sys::wait_child(false) {}
}

/// All processes below this one, zombies included until they are reaped. Costs a look at each
/// process of the machine.
pub(super) fn descendants() -> io::Result<Vec<Pid>> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|n| n.parse::<i32>().ok()) else {
            continue;
        };
        if let Some(parent) = stat_field(pid, PARENT) {
            children
                .entry(i32::try_from(parent).unwrap_or(0))
                .or_default()
                .push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![Pid::this().as_raw()];
    while let Some(pid) = next.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.push(Pid::from_raw(child));
            next.push(child);
        }
    }
    Ok(found)
}

/// As [`descendants`], by the kernel's own lists of children where it keeps them: costs a look at
/// each process of the tree alone. Processes that are forked, or lose their parents, meanwhile may
/// be missing.
pub(super) fn below() -> io::Result<Vec<Pid>> {
    let own = Pid::this();
    let Some(first) = children(own) else {
        return descendants();
    };
    let (mut found, mut next) = (Vec::new(), first);
    while let Some(pid) = next.pop() {
        found.push(pid);
        next.extend(children(pid).unwrap_or_default());
    }
    Ok(found)
}

/// As [`descendants`], at the cost of [`below`] while the tree stays as it is. One that forks and
/// loses parents meanwhile, so that a process could hide from the lists, looks different twice.
pub(super) fn settled() -> io::Result<Vec<Pid>> {
    let (before, after) = (below()?, below()?);
    match before == after {
        true => Ok(after),
        false => descendants(),
    }
}

/// Children of all threads of a process; `None` if it is gone or the kernel keeps no such lists.
fn children(pid: Pid) -> Option<Vec<Pid>> {
    let mut found = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let list = match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => list,
            // A thread that has just ended has none; the first one is there as long as its process.
            Err(_) if thread.file_name().to_str() != Some(&pid.to_string()) => continue,
            Err(_) => return None,
        };
        let pids = list.split_ascii_whitespace().filter_map(|p| p.parse().ok());
        found.extend(pids.map(Pid::from_raw));
    }
    Some(found)
}

/// Threads of a process, those that have ended included.
pub(super) fn threads(pid: Pid) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let ids = threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.map(Pid::from_raw).collect()
}

/// A thread of a process that has not ended: the first one may have gone before the others.
pub(super) fn living(pid: Pid) -> Option<Pid> {
    let mut threads = threads(pid).into_iter();
    threads.find(|thread| is_alive(pid, *thread))
}

/// Whether a thread of a process has not ended.
pub(super) fn is_alive(pid: Pid, thread: Pid) -> bool {
    Stat::of_thread(pid, thread).is_some_and(|stat| !stat.is_over())
}

/// Number of the parent in `/proc/<pid>/stat`, counted from 1.
const PARENT: usize = 4;
/// Numbers of the processor times in clock ticks, in user and system mode.
pub(super) const OWN: [usize; 2] = [14, 15];
/// Those of children that were waited for.
pub(super) const HEARD: [usize; 2] = [16, 17];
/// Number of the start time in clock ticks since boot.
pub(super) const START: usize = 22;

/// A numeric field of `/proc/<pid>/stat`.
pub(super) fn stat_field(pid: i32, number: usize) -> Option<u64> {
    Stat::of(Pid::from_raw(pid))?.number(number)
}

/// What `/proc/<pid>/stat` says. The second field, a name in parentheses, may hold anything, so
/// counting begins behind its last parenthesis.
pub(super) struct Stat(String);

impl Stat {
    /// Of a process that is there.
    pub(super) fn of(pid: Pid) -> Option<Stat> {
        Stat::read(&format!("/proc/{pid}/stat"))
    }

    /// Of one thread of a process.
    pub(super) fn of_thread(pid: Pid, thread: Pid) -> Option<Stat> {
        Stat::read(&format!("/proc/{pid}/task/{thread}/stat"))
    }

    fn read(path: &str) -> Option<Stat> {
        let stat = fs::read_to_string(path).ok()?;
        Some(Stat(stat.rsplit_once(')')?.1.to_owned()))
    }

    /// A numeric field, counted from 1.
    pub(super) fn number(&self, number: usize) -> Option<u64> {
        let mut fields = self.0.split_ascii_whitespace();
        fields.nth(number.checked_sub(3)?)?.parse().ok()
    }

    /// Whether its first thread has a processor or waits for one.
    pub(super) fn is_running(&self) -> bool {
        self.0.trim_start().starts_with('R')
    }

    /// Whether it was stopped.
    pub(super) fn is_stopped(&self) -> bool {
        self.0.trim_start().starts_with(['T', 't'])
    }

    /// Whether it waits for something in the kernel and no signal wakes it.
    pub(super) fn is_uninterruptible(&self) -> bool {
        self.0.trim_start().starts_with('D')
    }

    /// Whether it has ended, told or not.
    pub(super) fn is_over(&self) -> bool {
        self.0.trim_start().starts_with(['Z', 'X'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_below_this_process() {
        let mut child = std::process::Command::new("sleep")
            .arg("30")
            .spawn()
            .unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(descendants().unwrap().contains(&Pid::from_raw(pid)));
        assert!(below().unwrap().contains(&Pid::from_raw(pid)));
        assert!(settled().unwrap().contains(&Pid::from_raw(pid)));
        assert_eq!(stat_field(pid, PARENT), Some(u64::from(std::process::id())));
        assert!(stat_field(pid, START).unwrap() > 0);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!descendants().unwrap().contains(&Pid::from_raw(pid)));
    }

    #[test]
    fn what_is_over_has_no_living_thread() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        while living(pid).is_some() {
            std::thread::yield_now();
        }
        let there = fs::metadata(format!("/proc/{pid}"));
        assert!(there.is_ok(), "not yet reaped");
        child.wait().unwrap();
        assert!(living(Pid::this()).is_some());
    }
}
