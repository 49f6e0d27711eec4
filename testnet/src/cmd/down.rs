//! `down`: ends a network that was left running, or whose laboratory was killed.

use super::runtime::DEFAULT_RUN;
use crate::network::{self, RunFolder};
use crate::say;
use clap::Args;
use std::process::ExitCode;

/// Ends a local network and removes its folder
#[derive(Debug, Args)]
pub(super) struct DownArgs {
    /// Name of the run
    #[arg(long, default_value = DEFAULT_RUN)]
    name: String,
    /// Leave the run's folder in place
    #[arg(long)]
    keep: bool,
}

impl DownArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let folder = RunFolder::open(&self.name)?;
        let running = network::down(&folder, self.keep)?;
        say::line(&format!("{}: {running} processes ended", self.name));
        Ok(ExitCode::SUCCESS)
    }
}
