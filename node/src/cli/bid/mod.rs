//! `bid list|suggest|amend`. A bid is placed by `run`, and taken back by `job cancel`.

mod list;
mod suggest;

use super::context::Context;
use super::error::CliError;
use clap::Subcommand;

/// What to bid, and what was bid.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum BidCommand {
    /// List this node's bids that are not over
    List,
    Suggest(suggest::SuggestArgs),
    Amend(list::AmendArgs),
}

impl BidCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        match self {
            BidCommand::List => list::list(at),
            BidCommand::Suggest(args) => args.run(at),
            BidCommand::Amend(args) => args.run(at),
        }
    }
}
