//! `bid list|suggest|amend|cancel`. A bid is placed by `run`.

mod dry;
mod list;
mod suggest;

use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::job;
use super::listing::Listing;
use super::meant::Meant;
use clap::Subcommand;

/// What to bid, and what was bid.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum BidCommand {
    /// List this node's bids that are not over
    List(Listing),
    Suggest(suggest::SuggestArgs),
    Amend(list::AmendArgs),
    /// Take a bid back, and end its job: as job cancel does
    Cancel {
        /// The job's id, how that begins, or its name
        order: Meant,
    },
}

impl BidCommand {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        match self {
            BidCommand::List(listing) => list::list(at, &listing)?,
            BidCommand::Suggest(args) => args.run(at)?,
            BidCommand::Amend(args) => return args.run(at),
            BidCommand::Cancel { order } => {
                at.wait(async { job::cancel(at, &at.client()?, &order).await })?;
            }
        }
        Ok(Exit::OK)
    }
}
