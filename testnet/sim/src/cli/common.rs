//! The commands' common ground: seeds and plans as arguments, a line about a world, errors.

use crate::hunt::FaultError;
use crate::plan::Plan;
use crate::regression::{self, RegressionError};
use crate::run::Outcome;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// Output cannot be written.
    #[error("cannot write")]
    Write(#[from] io::Error),
    /// A regression cannot be read.
    #[error(transparent)]
    Regression(#[from] RegressionError),
    /// Figures cannot be told.
    #[error("cannot tell the figures")]
    Tell(#[from] serde_json::Error),
    /// Real nodes were asked for where there are none.
    #[error("only gridbay-testnet has real nodes to check the model against")]
    NoNodes,
    /// A fault cannot be planted.
    #[error(transparent)]
    Fault(#[from] FaultError),
    /// The sources with a fault cannot be built or run.
    #[error("cannot build or run the patched sources")]
    Patched(#[source] io::Error),
    /// A file cannot be made.
    #[error("cannot make {0}")]
    Make(PathBuf, #[source] io::Error),
}

/// Reads a range of seeds, `A..B`.
pub(super) fn seeds(text: &str) -> Result<Range<u64>, String> {
    let wanted = || "want two numbers as in 0..200".to_owned();
    let (first, end) = text.split_once("..").ok_or_else(wanted)?;
    let number = |text: &str| text.parse().map_err(|_| wanted());
    let range = number(first)?..number(end)?;
    if range.is_empty() {
        return Err("there is no seed in it".to_owned());
    }
    Ok(range)
}

/// Which plan a command is about.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct Which {
    /// Seed of a drawn plan
    #[arg(long)]
    seed: Option<u64>,
    /// File with a plan, as `regressions/` holds them
    #[arg(long)]
    plan: Option<PathBuf>,
}

impl Which {
    /// The plan.
    pub(super) fn plan(&self) -> Result<Plan, SimError> {
        match (&self.plan, self.seed) {
            (Some(path), _) => Ok(regression::read(path)?.plan),
            (None, seed) => Ok(Plan::draw(seed.unwrap_or_default())),
        }
    }
}

/// The result of one world, in a line.
pub(super) fn line(outcome: &Outcome) -> String {
    let (plan, yields) = (&outcome.plan, &outcome.yields);
    match &outcome.broken {
        Some(broken) => format!(
            "seed {:>6}  {} validators  FAILED  {broken}",
            plan.seed, plan.validators
        ),
        None => format!(
            "seed {:>6}  {:>2} validators  {:>4} blocks  {:>4} clearings  {:>4} paid slots  {}",
            plan.seed,
            plan.validators,
            yields.blocks,
            yields.clearings,
            yields.settled,
            &outcome.trace[..16],
        ),
    }
}
