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
    let mut table = Table::new(&[
        "CLASS",
        ">VCPU",
        ">MEM/MiB",
        ">DISK/MiB",
        ">GPU",
        ">UNITS",
        ">FREE",
        ">RESERVE/H",
        ">LAST/H",
        ">BUY/H",
        ">WAITING",
    ]);
    for class in prices {
        let free = class.units_offered.saturating_sub(class.units_leased);
        table.row([
            class.class.clone(),
            class.vcpu.to_string(),
            class.memory_mib.to_string(),
            class.disk_mib.to_string(),
            class.gpu.to_string(),
            class.units_offered.to_string(),
            free.to_string(),
            or_dash(class.reserve),
            or_dash(class.last),
            or_dash(class.buy),
            class.waiting.to_string(),
        ]);
    }
    table.render()
}
