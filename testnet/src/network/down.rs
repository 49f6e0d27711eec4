//! Ends a run from another process, by its record.
//!
//! 1. A laboratory that still watches over the run is asked to end; it cleans up by itself.
//! 2. Nodes that are left, those that somebody started again by hand among them, are asked to end,
//!    and killed if they do not.
//! 3. Other processes of the run's folder (supervisors, jobs) are killed.
//! 4. The folder is removed.
//!
//! A process is sent a signal only if number, start time and command line are those with which it
//! was recorded or found.

use super::folder::RunFolder;
use super::process::Process;
use super::record::RunRecord;
use super::sweep::{self, Part};
use anyhow::bail;
use nix::sys::signal::Signal;
use std::thread;
use std::time::{Duration, Instant};

/// Time the laboratory has to end its nodes.
const LAB_TIME: Duration = Duration::from_secs(15);
/// Time the nodes have.
const NODE_TIME: Duration = Duration::from_secs(4);

/// Ends the run in `folder`; returns how many of its processes still ran.
pub fn down(folder: &RunFolder, keep: bool) -> anyhow::Result<usize> {
    let mut running = sweep::find(folder.path())?.len();
    // A run whose record was never written, or is damaged, can still be swept.
    if let Ok(record) = RunRecord::read(folder) {
        let lab: Vec<Process> = record.lab.into_iter().collect();
        running += lab.iter().filter(|lab| lab.is_alive()).count();
        end(&lab, LAB_TIME);
    }
    let found = sweep::find(folder.path())?;
    let nodes = found.iter().filter(|(_, part)| *part == Part::Node);
    let nodes: Vec<Process> = nodes.map(|(node, _)| node.clone()).collect();
    end(&nodes, NODE_TIME);
    // Once its node is gone, nothing tells that a child of it belongs to the run.
    for (process, _) in &found {
        process.signal(Signal::SIGKILL);
    }
    let left = sweep::clear(folder.path())?;
    if !left.is_empty() {
        bail!("{} processes could not be ended: {left:?}", left.len());
    }
    if !keep {
        folder.remove()?;
    }
    Ok(running)
}

/// Asks processes to end and waits for them.
fn end(processes: &[Process], patience: Duration) {
    let until = Instant::now() + patience;
    for process in processes {
        process.signal(Signal::SIGTERM);
    }
    while processes.iter().any(Process::is_alive) && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::NodeRecord;
    use super::*;
    use crate::network::word::NODE_WORD;
    use std::process::{Child, Command, Stdio};

    /// A stand-in for a node: a shell whose words are those of a node.
    fn stand_in(data: &std::path::Path) -> Child {
        let script = data.join("sleep.sh");
        std::fs::create_dir_all(data).unwrap();
        std::fs::write(&script, "sleep 60; :").unwrap();
        let link = data.join(NODE_WORD);
        std::os::unix::fs::symlink(&script, &link).unwrap();
        Command::new("sh")
            .current_dir(data)
            .arg(NODE_WORD)
            .arg(data)
            .spawn()
            .unwrap()
    }

    #[test]
    fn down_ends_what_is_left_and_spares_a_stranger_with_a_recorded_number() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunFolder::create_in(dir.path(), "a").unwrap();
        let mut node = stand_in(&folder.data("v1"));
        let mut stranger = Command::new("sleep").arg("60").spawn().unwrap();
        let mut forged = Process::look(stranger.id() as i32).unwrap();
        forged.started += 1;
        let record = RunRecord {
            version: "0".into(),
            name: "a".into(),
            lab: None,
            nodes: vec![NodeRecord {
                name: "v1".into(),
                role: "validator".into(),
                node: String::new(),
                listen: vec![],
                socket: "".into(),
                data: "".into(),
                log: "".into(),
                process: Some(forged),
            }],
        };
        record.write(&folder).unwrap();
        // Reaps the stand-in as init would.
        let reaper = thread::spawn(move || node.wait());
        // The shell and the sleep that it started.
        while sweep::find(folder.path()).unwrap().len() < 2 {
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(down(&folder, false).unwrap(), 2);
        reaper.join().unwrap().unwrap();
        assert!(!folder.path().exists());
        assert!(stranger.try_wait().unwrap().is_none(), "the stranger lives");
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }

    #[test]
    fn down_ends_a_node_that_was_started_again_by_hand() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunFolder::create_in(dir.path(), "a").unwrap();
        let data = folder.data("v1");
        std::fs::create_dir_all(&data).unwrap();
        let mut by_hand = Command::new("sh");
        // As with `gridbay node up` in the data folder: no word names the run.
        let ends = "trap 'exit 7' TERM; exec 9>lock; read word";
        by_hand.args(["-c", ends, "node", "up"]);
        by_hand.current_dir(&data).stdin(Stdio::piped());
        let mut by_hand = by_hand.spawn().unwrap();
        let _open = by_hand.stdin.take();
        // Somebody who only looks at the lock.
        let mut stranger = Command::new("sh");
        stranger.args(["-c", "exec 9>lock; read word"]);
        stranger.current_dir(&data).stdin(Stdio::piped());
        let mut stranger = stranger.spawn().unwrap();
        let reaper = thread::spawn(move || by_hand.wait());
        while sweep::find(folder.path()).unwrap().is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(down(&folder, false).unwrap(), 1);
        let ended = reaper.join().unwrap().unwrap();
        assert_eq!(ended.code(), Some(7), "it was asked, not killed");
        assert!(!folder.path().exists());
        assert!(stranger.try_wait().unwrap().is_none(), "the stranger lives");
        drop(stranger.stdin.take());
        stranger.wait().unwrap();
    }
}
