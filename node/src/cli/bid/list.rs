//! `bid list`, and `bid amend`.

use super::dry;
use crate::api::types::{AmendRequest, StandingBid};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::cli::listing::Listing;
use crate::cli::meant::Meant;
use crate::cli::text::or_dash;
use crate::config::parse;
use crate::ui::Table;
use clap::Args;
use gridbay_protocol::units::Credits;

/// List this node's bids that are not over
pub(super) fn list(at: &Context, listing: &Listing) -> Result<(), CliError> {
    at.wait(async {
        let from = ("/bids", "no list of bids");
        listing.of(at, &at.client()?, from, table).await
    })
}

/// Give a bid another price, sealed like the first: from the next clearing on that it can reach
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct AmendArgs {
    /// The job's id, how that begins, or its name
    order: Meant,
    /// Most credits per node-hour
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    max_price: Credits,
    /// Most credits for everything, with what was paid [default: as before]
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    budget: Option<Credits>,
    /// Say what the bid could cost then and whether it can win, and send nothing
    #[arg(long)]
    dry_run: bool,
}

impl AmendArgs {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        let request = AmendRequest {
            max_price: self.max_price,
            budget: self.budget,
        };
        at.wait(async {
            let client = at.client()?;
            if self.dry_run {
                return dry::tell(at, &client, &self.order, request).await;
            }
            let path = format!("/bids/{}/amend", self.order);
            let bid = client.post(&path, &request, None).await;
            let bid: StandingBid = bid.during("the bid was not amended")?;
            at.show(&bid, |bid| table(std::slice::from_ref(bid)))?;
            Ok(Exit::OK)
        })
    }
}

fn table(bids: &[StandingBid]) -> String {
    Table::of(
        bids,
        &[
            ("ID", &|b| b.id.to_string()),
            ("NAME", &|b| b.name.clone()),
            ("STATE", &|b| b.state.name().to_owned()),
            (">NODES", &|b| match b.divisible {
                true => format!("1-{}", b.nodes),
                false => b.nodes.to_string(),
            }),
            ("CLASS", &|b| b.class.clone()),
            (">PRICE/H", &|b| b.max_price.to_string()),
            ("->AMENDED", &|b| or_dash(b.amended)),
            ("->BUDGET", &|b| b.budget.to_string()),
            (">PAID", &|b| b.paid.to_string()),
        ],
    )
}
