//! Where a turn takes place: two namespaces, the tool's processes, and the two ends of the traffic.

use super::part::{Report, WORD};
use super::turn::Turn;
use crate::lab::{Lab, exec};
use anyhow::{Context as _, ensure};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Ticks of the kernel's CPU counts in a second.
const TICKS: f64 = 100.0;
/// Until a tool carries the first echo.
const PATIENCE: Duration = Duration::from_secs(15);

/// A process that ends with the turn.
pub(super) struct Process(pub(super) Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Two namespaces with a pair of devices, 192.168.78.1 and 192.168.78.2, that go with it.
pub(super) struct Stage {
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
    names: [String; 2],
}

impl Stage {
    pub(super) fn new(program: &Path, folder: &Path) -> anyhow::Result<Stage> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = |end| format!("gbnet{}-{number}{end}", std::process::id());
        let stage = Stage {
            program: program.to_owned(),
            folder: folder.to_owned(),
            names: [name("a"), name("b")],
        };
        for name in &stage.names {
            ip(&["netns", "add", name])?;
        }
        let [a, b] = &stage.names;
        ip(&[
            "link", "add", "e0", "netns", a, "type", "veth", "peer", "name", "e0", "netns", b,
        ])?;
        for end in [0, 1] {
            let address = format!("{}/24", Stage::address(end));
            stage.ip(end, &["addr", "add", &address, "dev", "e0"])?;
            stage.ip(end, &["link", "set", "e0", "up"])?;
            stage.ip(end, &["link", "set", "lo", "up"])?;
        }
        Ok(stage)
    }

    /// Outer address of an end.
    pub(super) fn address(end: usize) -> IpAddr {
        IpAddr::from([192, 168, 78, end as u8 + 1])
    }

    /// `ip` inside an end.
    pub(super) fn ip(&self, end: usize, words: &[&str]) -> anyhow::Result<()> {
        ip(&[&["-n", &self.names[end]], words].concat())
    }

    /// A program inside an end.
    pub(super) fn inside(&self, end: usize, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[end]]);
        command.arg(program.as_ref());
        command
    }

    /// This program in one of its parts, inside an end.
    pub(super) fn part(&self, end: usize) -> Command {
        let mut command = self.inside(end, &self.program);
        command.arg(WORD);
        command
    }

    /// Traffic from a source to a sink, through the tool's processes. `sink` and `source` are
    /// complete but for the flow's length.
    pub(super) fn traffic(
        &self,
        mut sink: Command,
        mut source: Command,
        tool: &[Process],
        flow: Duration,
    ) -> anyhow::Result<Turn> {
        let _sink = start(&mut sink)?;
        source.arg(flow.as_secs().to_string());
        source.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut source = Process(source.spawn()?);
        let out = source.0.stdout.take().context("the source's output")?;
        let mut lines = BufReader::new(out).lines();
        let mut marks = Vec::new();
        let began = Instant::now();
        for line in &mut lines {
            let line = line?;
            if let Some(report) = line.strip_prefix("report ") {
                let report: Report = serde_json::from_str(report)?;
                ensure!(marks.len() == 2, "the source tells when the flow is");
                let used: f64 = marks[1] - marks[0];
                return Ok(report.turn(used));
            }
            marks.push(tool.iter().map(used).sum::<anyhow::Result<f64>>()?);
            ensure!(
                began.elapsed() < PATIENCE + flow * 3,
                "the source takes too long"
            );
        }
        anyhow::bail!("the source ended without a report")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for name in &self.names {
            ip(&["netns", "del", name]).ok();
        }
    }
}

/// Starts a process without input or output.
pub(super) fn start(command: &mut Command) -> anyhow::Result<Process> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = command.spawn().with_context(|| format!("{command:?}"))?;
    Ok(Process(child))
}

/// The same inside a machine of a lab.
pub(super) fn start_inside(
    lab: &Lab,
    machine: &str,
    command: &mut Command,
) -> anyhow::Result<Process> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(Process(exec::spawn(lab, machine, command)?))
}

/// Runs a program to its end, and returns what it printed.
pub(super) fn printed(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {complaint}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn ip(words: &[&str]) -> anyhow::Result<()> {
    printed(Command::new("ip").args(words)).map(drop)
}

/// Seconds of CPU that a process has used with all its threads.
fn used(process: &Process) -> anyhow::Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.0.id()))?;
    let fields = stat.rsplit(')').next().context("fields")?;
    let fields: Vec<_> = fields.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    let sum = ticks(11).zip(ticks(12)).context("numbers")?;
    Ok((sum.0 + sum.1) / TICKS)
}
