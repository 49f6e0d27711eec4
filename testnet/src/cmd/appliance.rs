//! `appliance`: boots the image in virtual machines and tries what it promises.

use crate::appliance::Image;
use crate::appliance::trial::{self, Choice, Form, Tally};
use crate::say::{self, Progress};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// Boots the appliance's image in virtual machines, and tries it
#[derive(Debug, Args)]
pub(super) struct ApplianceArgs {
    /// The folder that appliance/build wrote
    #[arg(long, value_name = "DIR", default_value = "target/appliance/base")]
    image: PathBuf,
    /// A few trials, for some minutes
    #[arg(long, conflicts_with = "all")]
    quick: bool,
    /// All trials instead of those that fit into ten minutes
    #[arg(long)]
    all: bool,
    /// Instead those whose name contains one of these, one after the other
    #[arg(long, value_name = "PART", value_delimiter = ',', conflicts_with_all = ["quick", "all"])]
    only: Vec<String>,
    /// Decides the moments of power cuts, and what they lose [default: by the clock]
    #[arg(long)]
    seed: Option<u64>,
}

impl ApplianceArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let image = Image::open(&self.image)?;
        let program = std::env::current_exe()?;
        let progress = Progress::new();
        let choice = Choice {
            form: match (self.quick, self.all) {
                (true, _) => Form::Quick,
                (false, false) => Form::Usual,
                (false, true) => Form::All,
            },
            only: self.only,
            seed: self.seed.unwrap_or_else(by_the_clock),
        };
        let tally = trial::run(image, program, choice, &progress).await?;
        let Tally {
            passed,
            failed,
            left_out,
        } = tally;
        say::line(&match left_out {
            0 => format!("{passed} passed, {failed} failed"),
            _ => format!("{passed} passed, {failed} failed, {left_out} left out"),
        });
        Ok(ExitCode::from(u8::from(failed > 0)))
    }
}

fn by_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}
