//! The command line of the simulator: `gridbay-testnet sim ...`, also alone as `gridbay-sim ...`.

mod bias;
mod common;
mod hunt;
pub mod model;
mod preemption;
mod regressions;
mod replay;
mod run;
mod shrink;
mod speed;

pub use common::SimError;

use common::{Which, line, seeds};
use std::io::Write;

/// Runs deterministic worlds of whole nodes, with faults and liars
#[derive(Debug, clap::Subcommand)]
pub enum Sim {
    /// Run seeds and check every invariant after every event
    Run(run::Run),
    /// Run one seed or plan again, and tell its story
    Replay(replay::Replay),
    /// Make a failing seed or plan as small as possible
    Shrink(shrink::Shrink),
    /// Run every plan of a fault that was found before
    Regressions(regressions::Regressions),
    /// Measure simulated seconds per second, by number of validators
    Speed(speed::Speed),
    /// Measure what validators gain who give up turns for a better beacon
    Bias(bias::Bias),
    /// Model the overlay of many nodes: lookups, connections, traffic
    Model(model::Model),
    /// Measure what preemption costs in CloudBay's scenario, with checkpoints and without
    Preemption(preemption::Preemption),
    /// Look for the planted faults
    Hunt(hunt::Hunt),
}

impl Sim {
    /// Does it, and says whether all was well.
    ///
    /// # Errors
    /// A file or the output fails.
    pub fn run(&self, out: &mut (dyn Write + Send)) -> Result<bool, SimError> {
        match self {
            Sim::Run(command) => command.run(out),
            Sim::Replay(command) => command.run(out),
            Sim::Shrink(command) => command.run(out),
            Sim::Regressions(command) => command.run(out),
            Sim::Speed(command) => command.run(out),
            Sim::Bias(command) => command.run(out),
            Sim::Model(command) if command.check => Err(SimError::NoNodes),
            Sim::Model(command) => command.run(out),
            Sim::Preemption(command) => command.run(out),
            Sim::Hunt(command) => command.run(out),
        }
    }
}
