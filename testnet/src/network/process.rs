//! Processes by their identity, not by their number alone: a number can be given to a stranger's
//! process once the first one is gone.

use nix::sys::signal::{Signal, kill};
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

/// The file in a node's data folder that a running node has open.
const LOCK: &str = "lock";

/// A process: number, start time in clock ticks since boot, and command line. All three must match
/// before a signal is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Number.
    pub pid: i32,
    /// Start time, field 22 of `/proc/<pid>/stat`.
    pub started: u64,
    /// Command line.
    pub command: Vec<String>,
}

impl Process {
    /// The process that runs under a number now; `None` if there is none, or only a corpse.
    pub fn look(pid: i32) -> Option<Process> {
        let stat = Stat::read(pid)?;
        let command = read_command(pid)?;
        Some(Process {
            pid,
            started: stat.started,
            command,
        })
    }
    /// Whether this very process still runs.
    pub fn is_alive(&self) -> bool {
        Process::look(self.pid).as_ref() == Some(self)
    }
    /// Processor time that it has used; `None` if it is gone. By its own clock: the figures in
    /// `/proc` are drawn at the kernel's ticks, with which the timers of an idle program coincide.
    pub fn used(&self) -> Option<Duration> {
        let used = clock_getcpuclockid(Pid::from_raw(self.pid)).ok()?.now();
        let this = Stat::read(self.pid).is_some_and(|stat| stat.started == self.started);
        used.ok().filter(|_| this).map(Duration::from)
    }
    /// Processor time that its threads of a name have used, those that ended left out, in clock
    /// ticks; `None` if it is gone.
    pub fn thread_ticks(&self, name: &str) -> Option<u64> {
        let mut ticks = 0;
        for entry in fs::read_dir(format!("/proc/{}/task", self.pid)).ok()? {
            let thread = entry.ok()?.path();
            // A thread that ends while we look is no failure.
            let read = |file: &str| fs::read_to_string(thread.join(file)).unwrap_or_default();
            if read("comm").trim_end() == name {
                ticks += Stat::parse(&read("stat")).map_or(0, |stat| stat.ticks);
            }
        }
        // Only now is it certain whose threads these were.
        self.used().map(|_| ticks)
    }
    /// Sends a signal to this very process; `false` if it is gone.
    pub fn signal(&self, signal: Signal) -> bool {
        self.is_alive() && kill(Pid::from_raw(self.pid), signal).is_ok()
    }
    /// Whether a word of the command line is `path` or lies below it.
    pub(super) fn names(&self, path: &Path) -> bool {
        let below = |word: &String| Path::new(word).starts_with(path);
        self.command.iter().any(below)
    }
    /// Whether it is a `gridbay node up` that has the lock of a data folder in `folders` open.
    pub(super) fn is_node_in(&self, folders: &Path) -> bool {
        let mut words = self.command.windows(2);
        if !words.any(|two| two == ["node", "up"]) {
            return false;
        }
        let Ok(open) = fs::read_dir(format!("/proc/{}/fd", self.pid)) else {
            return false;
        };
        let mut files = open.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        files.any(|file| {
            let folder = file.parent().and_then(Path::parent);
            file.ends_with(LOCK) && folder == Some(folders)
        })
    }
}

/// What `/proc/<pid>/stat` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    parent: i32,
    started: u64,
    /// In its own code and in the kernel for it.
    ticks: u64,
}

impl Stat {
    fn read(pid: i32) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }
    /// `None` for a corpse too. The second field is a name in brackets that can hold anything, so
    /// fields are counted from the last bracket.
    fn parse(text: &str) -> Option<Stat> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        if matches!(fields.first(), Some(&"Z" | &"X")) {
            return None;
        }
        Some(Stat {
            parent: fields.get(1)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
            ticks: fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?,
        })
    }
}

fn read_command(pid: i32) -> Option<Vec<String>> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = bytes.split(|b| *b == 0);
    let mut words: Vec<String> = words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    words.pop_if(|last| last.is_empty());
    Some(words)
}

/// This user's processes, each with its parent's number.
pub(super) fn all_own() -> io::Result<Vec<(Process, i32)>> {
    let owner = nix::unistd::geteuid().as_raw();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else {
            continue;
        };
        // A process that ends while we look is no failure. A job's processes can belong to another
        // user number inside their namespace, which the caller finds through their parents.
        let is_own = entry.metadata().is_ok_and(|meta| meta.uid() == owner);
        if let (Some(stat), Some(command)) = (Stat::read(pid), read_command(pid)) {
            let process = Process {
                pid,
                started: stat.started,
                command: if is_own { command } else { Vec::new() },
            };
            found.push((process, stat.parent));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_thread_counts_by_its_name_alone() {
        let this = Process::look(std::process::id() as i32).unwrap();
        let counted = std::thread::Builder::new().name("spins".to_owned());
        let spins = counted.spawn(move || {
            while this.thread_ticks("spins").unwrap() < 5 {}
            assert_eq!(this.thread_ticks("spin"), Some(0));
            assert!(this.used().unwrap() >= Duration::from_millis(40));
        });
        spins.unwrap().join().unwrap();
    }

    #[test]
    fn stat_is_counted_from_the_last_bracket() {
        let mut fields = vec!["S", "7"];
        fields.extend(["0"; 17]);
        fields.push("4711");
        (fields[11], fields[12]) = ("5", "6");
        let line = format!("12 (a) b (c) {}", fields.join(" "));
        let stat = Stat {
            parent: 7,
            started: 4711,
            ticks: 11,
        };
        assert_eq!(Stat::parse(&line), Some(stat));
        assert_eq!(Stat::parse(&line.replace("S 7", "Z 7")), None);
        assert_eq!(Stat::parse("12 (a) S"), None);
    }

    #[test]
    fn a_process_is_known_by_more_than_its_number() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        // A process that has just begun has no command line for a moment.
        let found = (0..500).find_map(|_| {
            let found = Process::look(child.id() as i32);
            std::thread::sleep(std::time::Duration::from_millis(10));
            found.filter(|found| !found.command.is_empty())
        });
        let found = found.unwrap();
        assert_eq!(found.command, ["sleep", "60"]);
        let mut other = found.clone();
        other.started += 1;
        assert!(found.is_alive() && !other.is_alive());
        assert!(!other.signal(Signal::SIGKILL), "a stranger is left alone");
        assert!(found.signal(Signal::SIGKILL));
        child.wait().unwrap();
        assert!(!found.is_alive());
    }
}
