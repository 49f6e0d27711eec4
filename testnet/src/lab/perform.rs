//! Performs operations, by as few programs as possible.
//!
//! 1. Operations are cut into stretches: machines and cables come into being by one `ip -batch` for
//!    a whole stretch, from outside; all else happens inside machines.
//! 2. Inside, each machine's operations keep their order, and neighbours for the same tool become
//!    one batch. A few threads take machine after machine, enter its namespace, and run the batches
//!    there.
//! 3. The first failure ends it, with the machine, the tool's words and the line that it complains
//!    of.

use super::netns;
use super::op::{Op, Step};
use super::tools;
use anyhow::{Context as _, anyhow, bail};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::mem::discriminant;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

/// Machines at work at the same time. More than processors, since most of it is waiting for the
/// kernel.
const AT_ONCE: usize = 4;

/// Performs operations in order on the machines of lab `lab`.
pub(super) fn perform(lab: &str, ops: &[Op]) -> anyhow::Result<()> {
    let namespace = |machine: &str| netns::namespace(lab, machine);
    for stretch in ops.chunk_by(|a, b| a.at().is_some() == b.at().is_some()) {
        let steps = |op: &Op| op.steps(namespace);
        if stretch.first().is_some_and(|op| op.at().is_none()) {
            let outside = stretch.iter().flat_map(steps).collect();
            run_all(outside).context("making namespaces and cables")?;
            continue;
        }
        let mut machines: BTreeMap<&str, Vec<Step>> = BTreeMap::new();
        for op in stretch {
            let at = op.at().unwrap_or_default();
            machines.entry(at).or_default().extend(steps(op));
        }
        let machines = machines.into_iter().map(|(machine, steps)| {
            let path = netns::path(&namespace(machine));
            (machine, path, steps)
        });
        in_machines(machines.collect())?;
    }
    Ok(())
}

/// Takes machines from a common pile until it is empty or somebody failed.
fn in_machines(pile: Vec<(&str, PathBuf, Vec<Step>)>) -> anyhow::Result<()> {
    let pile = Mutex::new(pile);
    let take = || pile.lock().ok().and_then(|mut pile| pile.pop());
    let worker = || -> anyhow::Result<()> {
        while let Some((machine, path, steps)) = take() {
            let done = netns::enter(&path).and_then(|()| run_all(steps));
            if done.is_err() {
                // Leaves nothing for the others.
                while take().is_some() {}
            }
            done.with_context(|| format!("machine {machine}"))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(worker)).collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        let ended: Vec<_> = ended.collect();
        for done in ended {
            done.map_err(|_| anyhow!("setting up a machine panicked"))??;
        }
        Ok(())
    })
}

/// Runs steps where this thread is, neighbours of one kind together.
fn run_all(steps: Vec<Step>) -> anyhow::Result<()> {
    for batch in steps.chunk_by(|a, b| discriminant(a) == discriminant(b)) {
        let lines: String = batch.iter().flat_map(|step| [step.text(), "\n"]).collect();
        match batch.first() {
            Some(Step::Ip(_)) => run("ip", &["-batch", "-"], &lines)?,
            Some(Step::Ip6(_)) => run("ip", &["-6", "-batch", "-"], &lines)?,
            Some(Step::Tc(_)) => run("tc", &["-batch", "-"], &lines)?,
            Some(Step::Nft(_)) => run("nft", &["-f", "-"], &lines)?,
            _ => write_settings(batch)?,
        }
    }
    Ok(())
}

fn write_settings(batch: &[Step]) -> anyhow::Result<()> {
    for step in batch {
        if let Step::Setting(key, value) = step {
            let path = Path::new("/proc/sys/net").join(key);
            // A kernel without IPv6 has nothing to switch off.
            if key.starts_with("ipv6") && !path.exists() {
                continue;
            }
            fs::write(&path, value)
                .with_context(|| format!("cannot write {value} to {}", path.display()))?;
        }
    }
    Ok(())
}

/// Runs a tool on lines, which it reads from its input.
fn run(tool: &str, words: &[&str], lines: &str) -> anyhow::Result<()> {
    let program = tools::find(tool).with_context(|| format!("there is no program {tool}"))?;
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {tool}"))?;
    if let Some(mut input) = child.stdin.take() {
        // A tool that gives up early says so by its exit code.
        let _ = input.write_all(lines.as_bytes());
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    bail!("{tool} failed: {}", complaint(said.trim(), lines));
}

/// A tool's words, and the line that it means if it names one (`Command failed -:3`).
fn complaint(said: &str, lines: &str) -> String {
    let number = said.rsplit_once("-:").map(|(_, rest)| rest);
    let digits = number.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    let index = digits.flatten().and_then(|n| n.parse::<usize>().ok());
    match index.and_then(|n| lines.lines().nth(n.checked_sub(1)?)) {
        Some(line) => format!("{said}: {line}"),
        None => said.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_names_its_line() {
        let lines = "link add a\nlink add b\n";
        assert_eq!(
            complaint("Error: no.\nCommand failed -:2", lines),
            "Error: no.\nCommand failed -:2: link add b"
        );
        assert_eq!(complaint("Command failed -:9", lines), "Command failed -:9");
        assert_eq!(complaint("what", lines), "what");
    }
}
