//! `bid list|suggest|amend`. A bid is placed by `run`, and taken back by `job cancel`.

mod dry;
mod list;
mod suggest;

use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::listing::Listing;
use clap::Subcommand;

/// What to bid, and what was bid.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum BidCommand {
    /// List this node's bids that are not over
    List(Listing),
    Suggest(suggest::SuggestArgs),
    Amend(list::AmendArgs),
}

impl BidCommand {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        match self {
            BidCommand::List(listing) => list::list(at, &listing)?,
            BidCommand::Suggest(args) => args.run(at)?,
            BidCommand::Amend(args) => return args.run(at),
        }
        Ok(Exit::OK)
    }
}
