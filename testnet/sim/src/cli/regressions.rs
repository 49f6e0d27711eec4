//! `sim regressions`: every fault found before.

use super::{SimError, line};
use crate::regression;
use crate::run::run;
use crate::trace::Trace;
use std::io::Write;
use std::path::PathBuf;

/// See the module.
#[derive(Debug, clap::Args)]
pub struct Regressions {
    /// Folder with the plans
    #[arg(long, default_value = "testnet/sim/regressions")]
    folder: PathBuf,
}

impl Regressions {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<bool, SimError> {
        let (mut passed, mut failed) = (0, 0);
        for path in regression::files(&self.folder)? {
            let regression = regression::read(&path)?;
            let outcome = run(&regression.plan, None, Trace::default());
            if outcome.broken.is_some() {
                failed += 1;
                writeln!(out, "{}: {}", path.display(), regression.fault)?;
                writeln!(out, "{}", line(&outcome))?;
            } else {
                passed += 1;
            }
        }
        writeln!(out, "{passed} passed, {failed} failed")?;
        Ok(failed == 0)
    }
}
