//! `lab matrix`, `lab roam` and `lab leases`: pairs of nodes behind every kind of network.

use super::super::runtime::{program, with_runtime};
use super::common::{Format, NameArgs};
use crate::lab::leases;
use crate::lab::matrix::programs::Programs;
use crate::lab::matrix::{self, Pair};
use crate::lab::{self, Impairment, Kind, Lab, Topology, impair, roam};
use crate::say::{self, Progress};
use anyhow::bail;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;

/// Until a peer is ready, and until two have any path.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
pub(in super::super) struct MeetArgs {
    #[command(flatten)]
    lab: NameArgs,
    /// Networks and hosts, as TOML; without it every kind twice
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Only pairs of these kinds, as cone,symmetric
    #[arg(long, value_delimiter = ',')]
    kinds: Vec<Kind>,
    /// Each public link waits so long in each direction, as 15ms
    #[arg(long)]
    delay: Option<String>,
    /// Seconds that a relayed pair has to find a direct path
    #[arg(long, default_value_t = 20)]
    settle: u64,
    /// Keep what peers print on standard error here
    #[arg(long, value_name = "FOLDER")]
    logs: Option<PathBuf>,
    /// Where a lab cannot be built, say why and succeed: for suites that run anywhere
    #[arg(long)]
    if_possible: bool,
}

#[derive(Debug, Args)]
pub(in super::super) struct LeasesArgs {
    #[command(flatten)]
    meet: MeetArgs,
    /// Seconds that two symmetric networks speak over a relay before it is killed; 0 leaves this
    /// out
    #[arg(long, default_value_t = 20)]
    hold: u64,
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
}

impl LeasesArgs {
    /// Lets pairs of a lease's nodes meet.
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (hold, format) = (self.hold, self.format);
        with_runtime(self.meet.run(move |lab, pairs, programs, progress| {
            let (program, settle) = (&programs.program, programs.settle);
            let report = leases::run(lab, program, pairs, settle, hold, progress)?;
            let lines = match format {
                Format::Table => report.lines(),
                Format::Json => serde_json::to_string_pretty(&report)?,
            };
            Ok((lines, report.ok()))
        }))
    }
}

/// The table for people, and whether all went well.
type Verdict = (String, bool);

impl MeetArgs {
    /// Lets pairs meet.
    pub(super) fn matrix(self) -> anyhow::Result<ExitCode> {
        with_runtime(self.run(|lab, pairs, programs, progress| {
            let report = matrix::run(lab, pairs, programs, progress)?;
            Ok((report.lines(), report.ok()))
        }))
    }
    /// Lets pairs speak while their addresses change.
    pub(super) fn roam(mut self) -> anyhow::Result<ExitCode> {
        if self.kinds.is_empty() {
            self.kinds = roam::telling_kinds();
        }
        with_runtime(self.run(|lab, pairs, programs, progress| {
            let report = roam::run(lab, pairs, programs, progress)?;
            Ok((report.lines(), report.ok()))
        }))
    }
    async fn run<W>(self, work: W) -> anyhow::Result<ExitCode>
    where
        W: FnOnce(&Lab, &[Pair], &Programs, &Progress) -> anyhow::Result<Verdict> + Send + 'static,
    {
        tokio::task::yield_now().await;
        if self.if_possible
            && let Err(error) = lab::check()
        {
            say::line(&format!("NOT CHECKED: {error:#}"));
            return Ok(ExitCode::SUCCESS);
        }
        let topology = match &self.topology {
            Some(path) => lab::read_topology(path)?,
            None => Topology::pairs(),
        };
        let mut pairs = matrix::pairs(&topology);
        if !self.kinds.is_empty() {
            let wanted = |kind: Kind| self.kinds.contains(&kind);
            pairs.retain(|p| wanted(p.waiting.1) && wanted(p.dialing.1));
        }
        if pairs.is_empty() {
            bail!("the topology has no pair of these kinds behind different routers");
        }
        let progress = Progress::new();
        let lab = Lab::up(&self.lab.name, topology, program()?, &progress)?;
        if let Some(delay) = &self.delay {
            let slow = Impairment {
                delay: impair::delay(delay)?,
                ..Impairment::default()
            };
            let links = lab.topology().links();
            let links: Vec<_> = links.map(|l| (l.name.to_owned(), slow)).collect();
            lab.impair(&links)?;
        }
        let programs = Programs {
            program: program()?,
            words: vec![lab::program::WORD.into()],
            patience: PATIENCE,
            settle: Duration::from_secs(self.settle),
            logs: self.logs,
        };
        // On a thread of its own, so that an interrupt need not wait for it.
        let (sender, receiver) = oneshot::channel();
        let name = self.lab.name;
        thread::spawn(move || {
            let done = program()
                .and_then(|program| Lab::open(&name, program))
                .and_then(|lab| work(&lab, &pairs, &programs, &progress));
            // Nobody waits any more after an interrupt.
            let _ = sender.send(done);
        });
        let (lines, well) = receiver.await??;
        drop(lab);
        say::line(&lines);
        Ok(ExitCode::from(u8::from(!well)))
    }
}
