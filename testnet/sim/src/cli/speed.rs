//! `sim speed`: measures how much faster than real time worlds run on one thread.

use super::SimError;
use crate::plan::{Pace, Plan};
use crate::run::run;
use crate::trace::Trace;
use std::io::Write;
use std::time::Instant;

/// See the module.
#[derive(Debug, clap::Args)]
pub struct Speed {
    /// Numbers of validators
    #[arg(long, value_delimiter = ',', default_values_t = [4, 7, 10, 13])]
    validators: Vec<usize>,
    /// Exit code 1 below this many simulated seconds per second with 7 validators, wide area
    #[arg(long)]
    least: Option<f64>,
}

impl Speed {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<bool, SimError> {
        let mut well = true;
        writeln!(
            out,
            "{:<12}{:>11}{:>9}{:>12}{:>14}",
            "pace", "validators", "blocks", "seconds", "simulated/s"
        )?;
        for pace in [Pace::WideArea, Pace::Local] {
            for validators in &self.validators {
                let mut plan = Plan::calm(1, *validators);
                plan.pace = pace;
                if pace == Pace::WideArea {
                    (plan.active_ms, plan.calm_ms, plan.deed_ms) = (600_000, 60_000, 4_000);
                }
                let began = Instant::now();
                let outcome = run(&plan, None, Trace::default());
                let seconds = began.elapsed().as_secs_f64();
                let world = (plan.active_ms + plan.calm_ms) as f64 / 1_000.0;
                let rate = world / seconds;
                let name = format!("{pace:?}");
                let blocks = outcome.yields.blocks;
                writeln!(
                    out,
                    "{name:<12}{validators:>11}{blocks:>9}{seconds:>12.2}{rate:>14.0}"
                )?;
                let judged = pace == Pace::WideArea && *validators == 7;
                if let Some(broken) = &outcome.broken {
                    writeln!(out, "{broken}")?;
                    well = false;
                }
                well &= !judged || self.least.is_none_or(|least| rate >= least);
            }
        }
        Ok(well)
    }
}
