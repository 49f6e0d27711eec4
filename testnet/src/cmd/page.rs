//! `page`: does what pages tell, and compares what comes of it.

use super::runtime::program;
use crate::page::walk;
use crate::say::{self, Progress};
use anyhow::Context as _;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Does what pages tell their readers, in a folder of its own, and compares what is printed
#[derive(Debug, Args)]
pub(super) struct PageArgs {
    /// Pages with blocks marked `console`
    #[arg(required = true, value_name = "PAGE")]
    pages: Vec<PathBuf>,
    /// Where a command prints something else than its page shows, write that into the page
    #[arg(long)]
    write: bool,
}

impl PageArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let program = program()?;
        let programs = program.parent().context("this program lies nowhere")?;
        let progress = Progress::new();
        let mut failed = 0;
        for page in &self.pages {
            let name = page.display();
            match walk(page, programs, self.write, &progress).await {
                Ok(walked) => {
                    let (passed, seconds) = (walked.passed, walked.seconds);
                    say::line(&format!("{name}: {passed} commands in {seconds:.0} s"));
                    for line in walked.differ {
                        say::line(&format!("{name}:{line}: written anew"));
                    }
                }
                Err(error) => {
                    failed += 1;
                    say::note(&format!("{error:#}"));
                }
            }
        }
        say::line(&format!(
            "{} passed, {failed} failed",
            self.pages.len() - failed
        ));
        Ok(match failed {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        })
    }
}
