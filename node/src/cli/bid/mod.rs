//! `bid suggest`.

mod suggest;

use super::context::Context;
use super::error::CliError;
use clap::Subcommand;

/// What to bid.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum BidCommand {
    Suggest(suggest::SuggestArgs),
}

impl BidCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        match self {
            BidCommand::Suggest(args) => args.run(at),
        }
    }
}
