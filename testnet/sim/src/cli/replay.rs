//! `sim replay`: one world again.

use super::{SimError, Which, line};
use crate::run::run;
use crate::trace::Trace;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// See the module.
#[derive(Debug, clap::Args)]
pub struct Replay {
    #[command(flatten)]
    which: Which,
    /// Stop after so many milliseconds of the world
    #[arg(long, value_name = "MS")]
    until: Option<u64>,
    /// File for the story: a line for every input and effect
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

impl Replay {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<bool, SimError> {
        let plan = self.which.plan()?;
        let words: Option<Box<dyn Write + Send>> = match &self.trace {
            Some(path) => {
                let file = File::create(path).map_err(|e| SimError::Make(path.clone(), e))?;
                Some(Box::new(BufWriter::new(file)))
            }
            None => None,
        };
        let outcome = run(&plan, self.until, Trace::new(words));
        for lying in &plan.liars {
            writeln!(out, "node {} lies: {}", lying.node, lying.lie)?;
        }
        for timed in &plan.faults {
            writeln!(out, "{:>8} ms  {:?}", timed.at, timed.fault)?;
        }
        writeln!(out, "{}", line(&outcome))?;
        Ok(outcome.broken.is_none())
    }
}
