//! `lab cluster`: whole nodes behind NATs, and a lease's network between them.

use super::super::runtime::{program, with_runtime};
use super::common::{Format, NameArgs};
use crate::lab::cluster::{self, Options};
use crate::lab::{self, Kind};
use crate::parallel;
use crate::say::{self, Progress};
use clap::{Args, ValueEnum};
use std::process::ExitCode;

/// A part of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Ways and programs, behind NATs that can be punched through.
    Programs,
    /// A relay that is paid, between NATs that can not.
    Relay,
    /// Streams, where nothing leaves but TCP to port 443.
    Strict,
}

#[derive(Debug, Args)]
pub(in super::super) struct ClusterArgs {
    #[command(flatten)]
    lab: NameArgs,
    /// Only this part
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Keys of the MPI sort, as a power of two
    #[arg(long, default_value_t = parallel::KEYS.0, value_parser = clap::value_parser!(u32).range(10..=26))]
    keys: u32,
    /// How often they are sorted
    #[arg(long, default_value_t = parallel::KEYS.1, value_parser = clap::value_parser!(u32).range(1..=64))]
    times: u32,
    /// Seconds on a paid relay before it is killed, and over streams
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    hold: u64,
    /// Networks of these kinds meet the ones with TCP to port 443 alone; `all` for each of them
    #[arg(long, value_delimiter = ',', default_value = "cone")]
    kinds: Vec<String>,
    /// Leave the nodes' folders in place
    #[arg(long)]
    keep: bool,
    /// Log filter of the nodes
    #[arg(long, default_value = "info")]
    log: String,
    /// Where a lab cannot be built, say why and succeed: for suites that run anywhere
    #[arg(long)]
    if_possible: bool,
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
}

impl ClusterArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        with_runtime(self.go())
    }

    async fn go(self) -> anyhow::Result<ExitCode> {
        tokio::task::yield_now().await;
        if self.if_possible
            && let Err(error) = lab::check()
        {
            say::line(&format!("NOT CHECKED: {error:#}"));
            return Ok(ExitCode::SUCCESS);
        }
        let wanted = |part: Part| self.only.is_none_or(|only| only == part);
        let options = Options {
            keys: wanted(Part::Programs).then_some((self.keys, self.times)),
            hold: if wanted(Part::Relay) { self.hold } else { 0 },
            strict: if wanted(Part::Strict) { self.hold } else { 0 },
            kinds: others(&self.kinds)?,
            name: self.lab.name,
            keep: self.keep,
            log: self.log,
        };
        let report = cluster::run(program()?, &options, &Progress::new()).await?;
        let lines = match self.format {
            Format::Table => report.lines(),
            Format::Json => serde_json::to_string_pretty(&report)?,
        };
        say::line(&lines);
        Ok(ExitCode::from(u8::from(!report.ok())))
    }
}

/// The kinds that are named, without the one that they are to meet: two of it are there.
fn others(named: &[String]) -> anyhow::Result<Vec<Kind>> {
    let mut kinds = match named {
        [all] if all == "all" => Kind::ALL.to_vec(),
        named => named
            .iter()
            .map(|name| name.parse())
            .collect::<Result<_, _>>()
            .map_err(anyhow::Error::msg)?,
    };
    kinds.retain(|kind| *kind != Kind::Tcp443);
    Ok(kinds)
}
