//! What commands of the laboratory have in common.

use clap::{Args, ValueEnum};

/// Name of the lab that is meant unless told otherwise.
const DEFAULT_LAB: &str = "lab";

#[derive(Debug, Args)]
pub(in super::super) struct NameArgs {
    /// Name of the lab
    #[arg(long, default_value = DEFAULT_LAB)]
    pub(super) name: String,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in super::super) enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}
