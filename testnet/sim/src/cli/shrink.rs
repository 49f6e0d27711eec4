//! `sim shrink`: the smallest plan that still fails.

use super::{SimError, Which, line};
use crate::regression::Regression;
use crate::run::run;
use crate::shrink::shrink;
use crate::trace::Trace;
use std::io::Write;
use std::path::PathBuf;

/// See the module.
#[derive(Debug, clap::Args)]
pub struct Shrink {
    #[command(flatten)]
    which: Which,
    /// Worlds to run at the most
    #[arg(long, default_value_t = 200)]
    runs: usize,
    /// File for the plan, in the form of `regressions/`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Shrink {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<bool, SimError> {
        let outcome = run(&self.which.plan()?, None, Trace::default());
        if outcome.broken.is_none() {
            writeln!(out, "{}", line(&outcome))?;
            writeln!(out, "nothing is broken, so there is nothing to shrink")?;
            return Ok(true);
        }
        let small = shrink(outcome, self.runs);
        writeln!(out, "{}", line(&small))?;
        let fault = small.broken.as_ref().map(ToString::to_string);
        let regression = Regression {
            fault: fault.unwrap_or_default(),
            plan: small.plan,
        };
        let text = serde_json::to_string_pretty(&regression).map_err(std::io::Error::from)?;
        match &self.out {
            Some(path) => {
                std::fs::write(path, text + "\n").map_err(|e| SimError::Make(path.clone(), e))?
            }
            None => writeln!(out, "{text}")?,
        }
        Ok(false)
    }
}
