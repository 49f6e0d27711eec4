//! `market prices|find|quote|solve`.

mod find;
mod quote;
mod solve;

use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::text::or_dash;
use crate::api::types::ClassPrice;
use crate::ui::Table;
use clap::Subcommand;

/// What computing time costs.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum MarketCommand {
    /// Show supply and prices by class, in credits per node-hour
    Prices,
    Find(find::FindArgs),
    Quote(quote::QuoteArgs),
    Solve(solve::SolveArgs),
}

impl MarketCommand {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        match self {
            MarketCommand::Prices => prices(at).map(|()| Exit::OK),
            MarketCommand::Find(args) => args.run(at),
            MarketCommand::Quote(args) => args.run(at).map(|()| Exit::OK),
            MarketCommand::Solve(args) => args.run(at),
        }
    }
}

fn prices(at: &Context) -> Result<(), CliError> {
    at.wait(async {
        let client = at.client()?;
        let prices: Vec<ClassPrice> = client.get("/prices").await.during("no prices")?;
        at.show(&prices, |prices| table(prices))
    })
}

fn table(prices: &[ClassPrice]) -> String {
    Table::of(
        prices,
        &[
            ("CLASS", &|c| c.class.clone()),
            (">VCPU", &|c| c.vcpu.to_string()),
            (">MEM/MiB", &|c| c.memory_mib.to_string()),
            (">DISK/MiB", &|c| c.disk_mib.to_string()),
            (">GPU", &|c| c.gpu.to_string()),
            (">UNITS", &|c| c.units_offered.to_string()),
            (">FREE", &|c| {
                c.units_offered.saturating_sub(c.units_leased).to_string()
            }),
            (">RESERVE/H", &|c| or_dash(c.reserve)),
            (">LAST/H", &|c| or_dash(c.last)),
            (">BUY/H", &|c| or_dash(c.buy)),
            (">WAITING", &|c| c.waiting.to_string()),
        ],
    )
}
