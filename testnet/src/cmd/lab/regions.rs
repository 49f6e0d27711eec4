//! `lab regions`: validators in four regions of the earth.

use super::super::runtime::{program, with_runtime};
use super::common::{Format, NameArgs};
use crate::lab;
use crate::lab::regions::{self, Options};
use crate::say::{self, Progress};
use clap::Args;
use gridbay_node::cli::Pace;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Debug, Args)]
pub(in super::super) struct RegionsArgs {
    #[command(flatten)]
    lab: NameArgs,
    /// Rounds and slots, as `gridbay found --policy` founds them
    #[arg(long, value_enum, default_value = "wide-area")]
    pace: Pace,
    /// Milliseconds between blocks, as `gridbay found --block-ms` founds it
    #[arg(long, value_name = "MS")]
    block_ms: Option<u64>,
    /// Clients that pay at the same time
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=4_096))]
    clients: u16,
    /// Sealed orders, and as many buys
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    orders: u16,
    /// Seconds of each step of load, and of the cut
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(5..=3_600))]
    seconds: u64,
    /// Leave the nodes' folders in place
    #[arg(long)]
    keep: bool,
    /// Where a lab cannot be built, say why and succeed: for suites that run anywhere
    #[arg(long)]
    if_possible: bool,
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
}

impl RegionsArgs {
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
        let options = Options {
            name: self.lab.name,
            pace: self.pace,
            block_ms: self.block_ms,
            clients: self.clients.into(),
            orders: self.orders.into(),
            time: Duration::from_secs(self.seconds),
            keep: self.keep,
        };
        let report = regions::run(program()?, &options, &Progress::new()).await?;
        say::line(&match self.format {
            Format::Table => report.table(),
            Format::Json => serde_json::to_string_pretty(&report)?,
        });
        let problems = report.problems();
        problems.iter().for_each(|problem| say::note(problem));
        Ok(ExitCode::from(u8::from(!problems.is_empty())))
    }
}
