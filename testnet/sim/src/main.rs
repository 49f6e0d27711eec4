//! `gridbay-sim`: the deterministic world alone, without the laboratory around it.

use clap::Parser;
use gridbay_sim::cli::Sim;
use std::error::Error;
use std::process::ExitCode;

/// Deterministic worlds of whole gridbay nodes
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(subcommand)]
    sim: Sim,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let well = Args::parse().sim.run(&mut std::io::stdout())?;
    Ok(if well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
