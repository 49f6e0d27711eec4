//! Removes a lab by its record, also one whose laboratory was killed.
//!
//! 1. A laboratory that still watches over the lab is asked to end; it cleans up by itself.
//! 2. Processes inside the lab's namespaces are asked to end, and killed if they do not.
//! 3. The namespaces are removed, and with them cables, rules and devices. One that is not the one
//!    recorded is left alone.
//! 4. The folder is removed.

use super::netns::{self, Identity};
use super::state::{self, Lock, State};
use super::tools;
use crate::network::Process;
use anyhow::{Context as _, bail};
use nix::sys::signal::Signal;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time the laboratory has to end its lab.
const LAB_TIME: Duration = Duration::from_secs(15);
/// Time processes have that are asked to end.
const PROCESS_TIME: Duration = Duration::from_millis(500);
/// Time they have once they are killed.
const KILL_TIME: Duration = Duration::from_secs(5);

/// The parts removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Namespaces.
    pub machines: usize,
    /// Processes that still ran inside them.
    pub processes: usize,
}

/// Removes the lab `name`.
pub fn down(name: &str) -> anyhow::Result<Removed> {
    tools::check()?;
    let Some(state) = State::read(name)? else {
        bail!("there is no lab `{name}`{}", state::others());
    };
    if let Some(lab) = state.lab.filter(Process::is_alive) {
        lab.signal(Signal::SIGTERM);
        let until = Instant::now() + LAB_TIME;
        while lab.is_alive() && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        if State::read(name)?.is_none() {
            let machines = state.machines.len();
            return Ok(Removed {
                machines,
                processes: 1,
            });
        }
    }
    remove(name, &state.token)
}

/// Removes the lab `name` if it is still the one of `token`.
pub(super) fn remove(name: &str, token: &str) -> anyhow::Result<Removed> {
    let _lock = Lock::take()?;
    let Some(state) = State::read(name)?.filter(|state| state.token == token) else {
        return Ok(Removed::default());
    };
    let mut own = Vec::new();
    for (machine, recorded) in &state.machines {
        let namespace = netns::namespace(name, machine);
        let now = Identity::of(&netns::path(&namespace));
        // A lab killed while it was made has names without identities; they were free when it
        // began.
        match (now, recorded) {
            (Some(now), Some(made)) if now != *made => {}
            (Some(now), _) => own.push((namespace, now)),
            (None, _) => {}
        }
    }
    let inside: BTreeSet<Identity> = own.iter().map(|(_, identity)| *identity).collect();
    let processes = end_processes(&inside)?;
    delete(own.iter().map(|(namespace, _)| namespace.as_str()))?;
    state::remove_folder(name)?;
    Ok(Removed {
        machines: own.len(),
        processes,
    })
}

/// Ends whatever runs in the namespaces; returns how many processes that were.
fn end_processes(namespaces: &BTreeSet<Identity>) -> anyhow::Result<usize> {
    let found = running_in(namespaces)?;
    let start = Instant::now();
    for process in &found {
        process.signal(Signal::SIGTERM);
    }
    let mut left = found.clone();
    while !left.is_empty() {
        thread::sleep(Duration::from_millis(2));
        // Looked for anew: a process may have started another.
        left = running_in(namespaces)?;
        if start.elapsed() > PROCESS_TIME {
            for process in &left {
                process.signal(Signal::SIGKILL);
            }
        }
        if start.elapsed() > KILL_TIME {
            bail!("{} processes could not be ended: {left:?}", left.len());
        }
    }
    Ok(found.len())
}

/// Processes inside any of the namespaces.
pub(super) fn running_in(namespaces: &BTreeSet<Identity>) -> anyhow::Result<Vec<Process>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if Identity::of_process(pid).is_some_and(|identity| namespaces.contains(&identity)) {
            found.extend(Process::look(pid));
        }
    }
    Ok(found)
}

fn delete<'a>(namespaces: impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
    let lines: String = namespaces
        .map(|name| format!("netns del {name}\n"))
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    let program = tools::find("ip").context("there is no program ip")?;
    // One that vanishes meanwhile is no reason to keep the others.
    let mut child = Command::new(program)
        .args(["-force", "-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(lines.as_bytes());
    }
    let output = child.wait_with_output()?;
    let left = lines
        .lines()
        .filter_map(|line| line.strip_prefix("netns del "))
        .filter(|name| netns::path(name).exists());
    let left: Vec<&str> = left.collect();
    if !left.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("could not remove {}: {}", left.join(", "), said.trim());
    }
    Ok(())
}
