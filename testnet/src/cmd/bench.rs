//! `bench`: figures.

use super::program;
use crate::bench::orders;
use crate::say::Progress;
use clap::{Args, Subcommand, ValueEnum};
use std::process::ExitCode;

/// Measures
#[derive(Debug, Subcommand)]
pub(super) enum BenchCommand {
    /// From an order's acceptance to its job's first instruction
    Orders(OrdersArgs),
}

/// Form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// From an order's acceptance to its job's first instruction
#[derive(Debug, Args)]
pub(super) struct OrdersArgs {
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// Kill one of the four validators first
    #[arg(long)]
    dead_validator: bool,
    /// Sealed orders
    #[arg(long, default_value_t = 200)]
    sealed: usize,
    /// Buy-it-now orders
    #[arg(long, default_value_t = 50)]
    buys: usize,
    /// Leave the run's folder, with logs and ledgers, in place
    #[arg(long)]
    keep: bool,
}

impl BenchCommand {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let BenchCommand::Orders(args) = self;
        let options = orders::Options {
            program: program()?,
            sealed: args.sealed,
            buys: args.buys,
            dead_validator: args.dead_validator,
            keep: args.keep,
        };
        let figures = orders::run(options, &Progress::new()).await?;
        match args.format {
            Format::Table => crate::say::line(figures.table().trim_end()),
            Format::Json => crate::say::line(&serde_json::to_string_pretty(&figures)?),
        }
        for problem in figures.problems() {
            crate::say::note(&format!("FAILED: {problem}"));
        }
        Ok(ExitCode::from(u8::from(!figures.problems().is_empty())))
    }
}
