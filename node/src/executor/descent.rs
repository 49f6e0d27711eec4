//! Finds out whether a process is part of a job: the node's interface refuses such callers.
//!
//! Jobs have no way to the node's socket: in namespaces it is not in their view, in the plain tier
//! the filter refuses them sockets. This is the wall behind these walls, in case one has a hole.
//!
//! 1. A descriptor of the process that connected is taken, where the kernel gives one (6.5): while
//!    it is held, and the process found alive at the end, its number meant that process throughout.
//! 2. A process is a job's if a supervisor is among its ancestors. A supervisor adopts the orphans
//!    of its tree, so ancestry holds as long as the supervisor lives.
//! 3. It is one, whoever its ancestors are, if it bears the marks that a job cannot shed: more
//!    filters than this node, no way to new privileges, and a place before the node when memory
//!    runs out.
//! 4. A process that cannot be judged is not welcome: one that has gone away needs no answer.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};

use super::sandbox::{confine::OOM_ABOVE, sys};
use super::supervisor;

/// Ancestors that are looked at; no honest process has that many.
const MOST: usize = 256;

/// Whether the process with this number is part of a job, or cannot be judged. `process` is its
/// descriptor.
pub fn is_of_a_job(pid: i32, process: Option<&OwnedFd>) -> bool {
    let innocent = has_honest_ancestors(pid) == Some(true) && bears_no_mark(pid) == Some(true);
    let alive = process.is_none_or(|fd| !ended(fd));
    !(innocent && alive)
}

/// A descriptor of an ended process can be read from.
fn ended(process: &OwnedFd) -> bool {
    let flags = sys::poll_readable(&[process.as_fd()], Some(std::time::Duration::ZERO));
    flags.map_or(true, |flags| flags.contains(&true))
}

/// Walks up; each step counts only if the child still names the same parent after the parent was
/// looked at: then the number meant the parent meanwhile. A parent that is there and cannot be seen
/// is another user's, so neither it nor who is above it is a supervisor of this node. `None`: it
/// ended on the way.
fn has_honest_ancestors(pid: i32) -> Option<bool> {
    let mut at = pid;
    if is_supervisor(at)? {
        return Some(false);
    }
    for _ in 0..MOST {
        let parent = parent_of(at)?;
        if parent == 0 {
            return Some(true);
        }
        let found = is_supervisor(parent);
        match (parent_of(at)? == parent, found) {
            // Its own parent died under our hands: look again.
            (false, _) => {}
            (true, Some(true)) => return Some(false),
            (true, Some(false)) => at = parent,
            (true, None) => return Some(true),
        }
    }
    Some(false)
}

fn status_field(pid: i32, name: &str) -> Option<i64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().parse().ok()
}

fn parent_of(pid: i32) -> Option<i32> {
    i32::try_from(status_field(pid, "PPid:")?).ok()
}

/// By its second word, which it was started with.
fn is_supervisor(pid: i32) -> Option<bool> {
    let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let second = words.split(|byte| *byte == 0).nth(1);
    Some(second == Some(supervisor::WORD.as_bytes()))
}

fn bears_no_mark(pid: i32) -> Option<bool> {
    let own = i32::try_from(std::process::id()).ok()?;
    // Kernels before 5.9 do not count filters: there any filter counts.
    let filters = |pid| status_field(pid, "Seccomp_filters:").or(status_field(pid, "Seccomp:"));
    let fenced = filters(pid)? > filters(own)? && status_field(pid, "NoNewPrivs:")? == 1;
    let order = |pid: i32| -> Option<i32> {
        let text = fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).ok()?;
        text.trim().parse().ok()
    };
    let before = order(pid)? >= (order(own)? + OOM_ABOVE).min(1_000);
    Some(!(fenced && before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn pid_of(child: &std::process::Child) -> i32 {
        i32::try_from(child.id()).unwrap()
    }

    #[test]
    fn who_descends_from_a_supervisor_is_of_a_job() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(!is_of_a_job(own, None));
        // Its second word makes a supervisor; the shell's child is below it.
        let script = "sleep 60 & echo $!; wait";
        let mut parent = Command::new("sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let line = first_line(&mut parent);
        let child: i32 = line.trim().parse().unwrap();
        assert!(!is_of_a_job(child, None), "a user's own program");
        end(parent, child);

        let dir = tempfile::tempdir().unwrap();
        let mut parent = named_supervisor(dir.path(), script);
        let line = first_line(&mut parent);
        let child: i32 = line.trim().parse().unwrap();
        assert!(is_of_a_job(pid_of(&parent), None));
        assert!(is_of_a_job(child, None));
        end(parent, child);
        assert!(is_of_a_job(child, None), "who is gone is not welcome");
    }

    /// A shell that reads `script` from a file called as the word.
    fn named_supervisor(dir: &std::path::Path, script: &str) -> std::process::Child {
        fs::write(dir.join(supervisor::WORD), script).unwrap();
        let mut shell = Command::new("sh");
        let shell = shell.arg(supervisor::WORD).current_dir(dir);
        shell.stdout(Stdio::piped()).spawn().unwrap()
    }

    fn first_line(child: &mut std::process::Child) -> String {
        use std::io::{BufRead as _, BufReader};
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        line
    }

    fn end(mut parent: std::process::Child, child: i32) {
        use nix::sys::signal::{Signal, kill};
        kill(nix::unistd::Pid::from_raw(child), Signal::SIGKILL).unwrap();
        // The shell reaps its child, then ends.
        parent.wait().unwrap();
    }
}
