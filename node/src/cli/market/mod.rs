//! `market prices|calendar|pools|find|quote|solve`.

mod calendar;
mod find;
mod pools;
mod quote;
mod solve;

pub(crate) use pools::percent as percent_text;

use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::listing::Listing;
use super::text::or_dash;
use crate::api::types::ClassPrice;
use crate::ui::Table;
use clap::Subcommand;

/// What computing time costs.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum MarketCommand {
    /// Show supply and prices by class, in credits per node-hour
    Prices(Listing),
    /// Show what is free ahead of time, slot by slot, and what is booked
    Calendar,
    /// Show the pools, and the share of each claim on them
    Pools,
    Find(find::FindArgs),
    Quote(quote::QuoteArgs),
    Solve(solve::SolveArgs),
}

impl MarketCommand {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        match self {
            MarketCommand::Prices(listing) => prices(at, &listing).map(|()| Exit::OK),
            MarketCommand::Calendar => calendar::calendar(at).map(|()| Exit::OK),
            MarketCommand::Pools => pools::pools(at).map(|()| Exit::OK),
            MarketCommand::Find(args) => args.run(at),
            MarketCommand::Quote(args) => args.run(at).map(|()| Exit::OK),
            MarketCommand::Solve(args) => args.run(at),
        }
    }
}

fn prices(at: &Context, listing: &Listing) -> Result<(), CliError> {
    at.wait(async {
        let from = ("/prices", "no prices");
        listing.of(at, &at.client()?, from, table).await
    })
}

fn table(prices: &[ClassPrice]) -> String {
    Table::of(
        prices,
        &[
            ("CLASS", &|c| c.class.clone()),
            (">VCPU", &|c| c.vcpu.to_string()),
            ("->MEM/MiB", &|c| c.memory_mib.to_string()),
            ("->DISK/MiB", &|c| c.disk_mib.to_string()),
            ("->GPU", &|c| c.gpu.to_string()),
            (">UNITS", &|c| c.units_offered.to_string()),
            (">FREE", &|c| {
                c.units_offered.saturating_sub(c.units_leased).to_string()
            }),
            (">RESERVE/H", &|c| or_dash(c.reserve)),
            (">LAST/H", &|c| or_dash(c.last)),
            (">BUY/H", &|c| or_dash(c.buy)),
            ("->WAITING", &|c| c.waiting.to_string()),
        ],
    )
}
