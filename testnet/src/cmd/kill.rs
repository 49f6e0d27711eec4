//! `kill`: nodes under load are killed at random moments; nothing acknowledged may be lost.

use super::runtime::program;
use crate::kill::{self, Options};
use crate::say::{self, Progress};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Kills nodes under load at random moments and compares what was acknowledged
#[derive(Debug, Args)]
pub(super) struct KillArgs {
    /// Kills in all
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// Decides who is killed when
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Validators; two further nodes buy
    #[arg(short = 'n', long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(4..=16))]
    nodes: u16,
    /// Write the report to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Leave the run's folder, with logs and ledgers, in place also after a good run
    #[arg(long)]
    keep: bool,
    /// Log filter of the nodes
    #[arg(long, default_value = "warn", value_name = "FILTER")]
    log: String,
}

impl KillArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let options = Options {
            program: program()?,
            kills: self.rounds,
            seed: self.seed,
            validators: usize::from(self.nodes),
            log: self.log,
            keep: self.keep,
        };
        let report = kill::run(options, &Progress::new()).await?;
        if let Some(path) = &self.json {
            report.write(path)?;
        }
        for line in report.lines() {
            say::line(&line);
        }
        Ok(ExitCode::from(u8::from(!report.ok)))
    }
}
