//! `sim`: deterministic worlds.

use gridbay_sim::cli::Sim;
use std::process::ExitCode;

/// Runs a command of the simulator. It has no runtime and starts no process, so an interrupt just ends it.
pub(super) fn run(sim: &Sim) -> anyhow::Result<ExitCode> {
    let well = sim.run(&mut std::io::stdout())?;
    Ok(if well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
