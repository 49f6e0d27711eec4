//! `top`: a screen that follows the nodes of a network.

use super::runtime::DEFAULT_RUN;
use crate::network::RunFolder;
use crate::top::Run;
use clap::Args;
use gridbay_node::top::{NoScreen, show};
use std::process::ExitCode;

/// Follows the nodes of a local network on a screen
#[derive(Debug, Args)]
pub(super) struct TopArgs {
    /// Name of the run
    #[arg(long, default_value = DEFAULT_RUN)]
    name: String,
}

impl TopArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        RunFolder::open(&self.name)?;
        match show(Run::new(&self.name)).await {
            Err(error @ NoScreen::NoTerminal) => {
                anyhow::bail!("{error}; for other places: gridbay-testnet status")
            }
            shown => shown?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
