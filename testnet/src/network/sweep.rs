//! The leftovers of a run: every process that belongs to its folder.
//!
//! 1. A node or a supervisor of a job is known by its hidden first word and by a path of the run's
//!    folder among its words; a node that somebody started again by hand, by its lock in there.
//! 2. All descendants of these (a job's own processes) belong to the run too.
//! 3. [`clear`] looks and kills until nothing is found any more.

use super::process::{Process, all_own};
use crate::network::word::NODE_WORD;
use nix::sys::signal::Signal;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// First word of a job's supervisor, as the executor sets it.
const SUPERVISOR_WORD: &str = "__supervise";
/// How long [`clear`] goes on.
const PATIENCE: Duration = Duration::from_secs(5);

/// The part of a process in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A node, or a command that speaks to one.
    Node,
    /// Looks after a job.
    Supervisor,
    /// A job's own.
    Job,
}

/// All processes of the run in `folder` (absolute, as nodes were given it).
pub fn find(folder: &Path) -> io::Result<Vec<(Process, Part)>> {
    Ok(belonging(&all_own()?, folder))
}

/// Kills all processes of the run; returns those that could not be killed in time.
pub(crate) fn clear(folder: &Path) -> io::Result<Vec<Process>> {
    let until = Instant::now() + PATIENCE;
    loop {
        let found = find(folder)?;
        if found.is_empty() || Instant::now() > until {
            return Ok(found.into_iter().map(|(process, _)| process).collect());
        }
        for (process, _) in &found {
            process.signal(Signal::SIGKILL);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn belonging(all: &[(Process, i32)], folder: &Path) -> Vec<(Process, Part)> {
    let part = |process: &Process| match process.command.get(1).map(String::as_str) {
        Some(NODE_WORD) if process.names(folder) => Some(Part::Node),
        Some(SUPERVISOR_WORD) if process.names(folder) => Some(Part::Supervisor),
        Some(_) if process.is_node_in(&folder.join("nodes")) => Some(Part::Node),
        _ => None,
    };
    let mut found: Vec<(Process, Part)> = Vec::new();
    for (process, _) in all {
        found.extend(part(process).map(|part| (process.clone(), part)));
    }
    let mut known: BTreeSet<i32> = found.iter().map(|(process, _)| process.pid).collect();
    loop {
        let before = known.len();
        for (process, parent) in all {
            if known.contains(parent) && known.insert(process.pid) {
                found.push((process.clone(), Part::Job));
            }
        }
        if known.len() == before {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, command: &[&str]) -> Process {
        Process {
            pid,
            started: 1,
            command: command.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    #[test]
    fn a_run_owns_its_nodes_its_supervisors_and_their_descendants() {
        let all = [
            (process(6, &["sh"]), 5),
            (process(5, &["sh"]), 3),
            (
                process(
                    2,
                    &["lab", NODE_WORD, "node", "up", "--data", "/r/a/nodes/v1"],
                ),
                1,
            ),
            (
                process(3, &["lab", SUPERVISOR_WORD, "/r/a/nodes/v1/jobs/x"]),
                1,
            ),
            (
                process(4, &["lab", SUPERVISOR_WORD, "/r/ab/nodes/v1/jobs/x"]),
                1,
            ),
            (process(7, &["vi", "/r/a/nodes/v1/gridbay.toml"]), 1),
            (process(8, &["lab", "up"]), 1),
        ];
        let mut found: Vec<(i32, Part)> = belonging(&all, Path::new("/r/a"))
            .into_iter()
            .map(|(process, part)| (process.pid, part))
            .collect();
        found.sort_by_key(|(pid, _)| *pid);
        let expected = [
            (2, Part::Node),
            (3, Part::Supervisor),
            (5, Part::Job),
            (6, Part::Job),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn nothing_is_found_for_a_run_that_never_was() {
        let found = find(Path::new("/nowhere/at/all")).unwrap();
        assert_eq!(found, []);
    }
}
