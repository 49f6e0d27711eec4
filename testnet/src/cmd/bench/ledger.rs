//! `bench ledger`.

use super::{Format, verdict};
use crate::bench::ledger;
use crate::cmd::runtime::program;
use crate::say::Progress;
use anyhow::Context as _;
use clap::Args;
use gridbay_protocol::limits::BLOCK_ENTRIES;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Payments through the API of every validator, in steps up to what the ledger carries
#[derive(Debug, Args)]
pub(in crate::cmd) struct LedgerArgs {
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// Validators, 1 to 16
    #[arg(short = 'n', long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=16))]
    validators: u16,
    /// Payments a second, 1 to 100,000, of steps in which nobody waits for answers
    #[arg(
        long,
        value_name = "RATE,...",
        value_delimiter = ',',
        default_values_t = [250, 500, 1_000, 2_000, 4_000],
        value_parser = clap::value_parser!(u64).range(1..=100_000)
    )]
    rates: Vec<u64>,
    /// Clients, 1 to 4,096 over all nodes, of steps in which each waits for its answer: instead of
    /// rates
    #[arg(
        long,
        value_name = "CLIENTS,...",
        value_delimiter = ',',
        conflicts_with = "rates",
        value_parser = clap::value_parser!(u16).range(1..=4_096)
    )]
    clients: Vec<u16>,
    /// Payments in a request, 1 to 500
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=500))]
    list: u16,
    /// Clients, 128 at the most, that order beside the payments of each step, by turns with a
    /// sealed bid and a buy
    #[arg(long, value_name = "CLIENTS", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=128))]
    mix: u16,
    /// Milliseconds between blocks, 100 to 60,000, as `gridbay found --block-ms` founds it
    #[arg(long, value_name = "MS", default_value_t = 250,
        value_parser = clap::value_parser!(u64).range(100..=60_000))]
    block_ms: u64,
    /// Entries that a member may put into the ledger, a height on average, as `gridbay found
    /// --member-entries` founds it: long steps near saturation need more than the default
    #[arg(long, value_name = "ENTRIES",
        value_parser = clap::value_parser!(u32).range(1..=BLOCK_ENTRIES as i64))]
    member_entries: Option<u32>,
    /// Seconds of each step, 3,600 at the most
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// Write the curve of the steps, times over payments a second, as a picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Fail if the best step makes fewer payments than so many percent of what checking signatures
    /// allows on this machine
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
    least: Option<u8>,
    /// Leave the run's folder, with logs and ledgers, in place
    #[arg(long)]
    keep: bool,
}

impl LedgerArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let clients: Vec<usize> = self.clients.iter().map(|n| usize::from(*n)).collect();
        let options = ledger::Options {
            program: program()?,
            validators: self.validators.into(),
            rates: match clients.is_empty() {
                true => self.rates,
                false => Vec::new(),
            },
            clients,
            list: self.list.into(),
            mix: self.mix.into(),
            block_ms: self.block_ms,
            member_entries: self.member_entries,
            time: Duration::from_secs(self.seconds),
            keep: self.keep,
        };
        // Before the steps, which take minutes.
        let picture = self.svg.as_ref().map(|file| {
            let made = File::create(file);
            made.with_context(|| file.display().to_string())
        });
        let picture = picture.transpose()?;
        let figures = ledger::run(options, &Progress::new()).await?;
        self.format.show(&figures.table(), &figures)?;
        if let Some(mut picture) = picture {
            picture.write_all(ledger::curve(&figures).as_bytes())?;
        }
        let mut problems = figures.problems();
        problems.extend(self.least.and_then(|least| figures.is_slow(least)));
        Ok(verdict(&problems))
    }
}
