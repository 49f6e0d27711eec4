//! `sim run`: many seeds.

use super::{SimError, line, seeds};
use crate::batch::{Batch, batch};
use std::io::Write;
use std::ops::Range;

/// See the module.
#[derive(Debug, clap::Args)]
pub struct Run {
    /// Seeds, the first included, the last not
    #[arg(long, value_name = "A..B", value_parser = seeds)]
    seeds: Range<u64>,
    /// Worlds at a time; one per processor if not given
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// A line for every seed, not only for those that fail
    #[arg(long, short)]
    verbose: bool,
    /// Stop at the first seed that fails
    #[arg(long)]
    first: bool,
}

impl Run {
    pub(super) fn run(&self, out: &mut (dyn Write + Send)) -> Result<bool, SimError> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = self.jobs.unwrap_or(processors);
        let mut wrote = Ok(());
        let batch = batch(self.seeds.clone(), jobs, |outcome| {
            if (self.verbose || outcome.broken.is_some()) && wrote.is_ok() {
                wrote = writeln!(out, "{}", line(outcome)).and_then(|()| out.flush());
            }
            !self.first || outcome.broken.is_none()
        });
        wrote?;
        report(&batch, out)?;
        Ok(batch.is_green())
    }
}

fn report(batch: &Batch, out: &mut dyn Write) -> Result<(), SimError> {
    writeln!(out, "{}", batch.cover)?;
    let seconds = batch.took.as_secs_f64();
    let world = batch.world_ms as f64 / 1_000.0;
    writeln!(out, "{world:.0} s of worlds in {seconds:.1} s")?;
    if !batch.void.is_empty() {
        let verdict = if batch.is_void() { ": too many" } else { "" };
        writeln!(
            out,
            "too little happened in {} seeds{verdict}: {:?}",
            batch.void.len(),
            batch.void
        )?;
    }
    let missing = batch.missing();
    if !missing.is_empty() {
        writeln!(out, "never occurred: {}", missing.join(", "))?;
    }
    for outcome in &batch.failed {
        writeln!(
            out,
            "again: gridbay-testnet sim replay --seed {}",
            outcome.plan.seed
        )?;
    }
    writeln!(
        out,
        "{} passed, {} failed",
        batch.passed,
        batch.failed.len()
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_range_with_something_in_it() {
        assert_eq!(seeds("3..7"), Ok(3..7));
        for bad in ["3", "7..3", "3..3", "a..b", "-1..3", ""] {
            assert!(seeds(bad).is_err(), "{bad}");
        }
    }
}
