//! `demo`: the whole market in one run.

use super::runtime::{plan, program};
use crate::demo;
use crate::network::RunFolder;
use crate::say::Progress;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Shows a whole market at work and checks that all came out right
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Write orders, accounts and checks to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Leave the run's folder, with logs and ledgers, in place
    #[arg(long)]
    keep: bool,
    /// Log filter of the nodes
    #[arg(long, default_value = "info", value_name = "FILTER")]
    log: String,
}

impl DemoArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let progress = Progress::new();
        let name = format!("demo-{}", std::process::id());
        let folder = RunFolder::create(&name)?;
        progress.tell(&format!("run folder {}", folder.path().display()));
        let plan = plan(&name, demo::VALIDATORS, demo::BUYERS, &self.log);
        let report = demo::run(program()?, folder, plan, self.keep, &progress).await?;
        report.show();
        if let Some(path) = &self.json {
            report.write(path)?;
        }
        Ok(ExitCode::from(u8::from(!report.ok())))
    }
}
