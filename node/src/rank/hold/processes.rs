//! The processes of a program: all those of its session, as the kernel counts them.

use std::fs;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};

/// Looks for processes to end, which may start others meanwhile.
const ROUNDS: u32 = 50;

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pid: i32,
    session: i32,
    /// Of the processors, with that of children that are gone.
    ticks: u64,
}

/// All that are to be seen.
pub(super) fn all() -> Vec<Process> {
    let Ok(folder) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let entries = folder.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbers = entries.filter_map(|name| name.parse().ok());
    let stat = |pid: i32| fs::read_to_string(format!("/proc/{pid}/stat")).ok();
    numbers.filter_map(|pid| parsed(&stat(pid)?)).collect()
}

/// A line of `/proc/<pid>/stat`; `None` for one that has ended.
fn parsed(line: &str) -> Option<Process> {
    let pid = line.split(' ').next()?.parse().ok()?;
    // The name may have anything in it, also brackets.
    let (_, rest) = line.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    let spent = (11..15).filter_map(number).fold(0, u64::saturating_add);
    Some(Process {
        pid,
        session: fields.get(3)?.parse().ok()?,
        ticks: spent,
    })
}

/// How many processes a session has, and the processors' time that they took.
pub(super) fn of(all: &[Process], session: Pid) -> (u32, Duration) {
    let own = all.iter().filter(|p| p.session == session.as_raw());
    let (count, ticks) = own.fold((0, 0_u64), |(n, t), p| (n + 1, t.saturating_add(p.ticks)));
    let second = sysconf(SysconfVar::CLK_TCK).ok().flatten();
    let second = second.and_then(|n| u64::try_from(n).ok()).unwrap_or(100);
    (
        count,
        Duration::from_millis(ticks.saturating_mul(1_000) / second.max(1)),
    )
}

/// Sends a signal to all processes of a session.
pub(super) fn signal(session: Pid, signal: Signal) {
    let own = all().into_iter().filter(|p| p.session == session.as_raw());
    for process in own {
        // One that ended meanwhile has no use for it.
        let _gone = kill(Pid::from_raw(process.pid), signal);
    }
}

/// Ends all processes of a session.
pub(super) fn end(session: Pid) {
    for _ in 0..ROUNDS {
        if !all().iter().any(|p| p.session == session.as_raw()) {
            return;
        }
        signal(session, Signal::SIGKILL);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_is_no_field() {
        let line = "12 (a) b) (c) S 3 12 7 0 -1 4194304 1 2 0 0 10 20 5 6 20 0 1 0 100 200 3";
        let process = parsed(line).unwrap();
        let expected = Process {
            pid: 12,
            session: 7,
            ticks: 41,
        };
        assert_eq!(process, expected);
        assert_eq!(parsed("12 (a) Z 3 12 7 0"), None);
    }

    #[test]
    fn this_process_is_among_all() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(all().iter().any(|p| p.pid == own));
    }
}
