//! `sim`: deterministic worlds.

use crate::model;
use gridbay_sim::cli::Sim;
use std::process::ExitCode;

/// Runs a command of the simulator. It has no runtime and starts no process, so an interrupt just
/// ends it. Only the check of the model has real overlays, all within this process.
pub(super) fn run(sim: &Sim) -> anyhow::Result<ExitCode> {
    let out = &mut std::io::stdout();
    let well = match sim {
        Sim::Model(command) if command.check => {
            let well = command.run(out)?;
            model::check(command.seed(), out)? && well
        }
        _ => sim.run(out)?,
    };
    Ok(if well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
