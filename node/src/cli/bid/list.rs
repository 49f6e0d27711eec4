//! `bid list`, and `bid amend`.

use crate::api::types::{AmendRequest, JobId, StandingBid};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::text::or_dash;
use crate::config::parse;
use crate::ui::Table;
use clap::Args;
use gridbay_protocol::units::Credits;

/// List this node's bids that are not over
pub(super) fn list(at: &Context) -> Result<(), CliError> {
    at.wait(async {
        let client = at.client()?;
        let bids: Vec<StandingBid> = client.get("/bids").await.during("no list of bids")?;
        at.show(&bids, |bids| table(bids))
    })
}

/// Give a bid another price, sealed like the first: from the next clearing on that it can reach
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct AmendArgs {
    /// The job's id, or how it begins
    #[arg(value_parser = job_id)]
    order: JobId,
    /// Most credits per node-hour
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    max_price: Credits,
    /// Most credits for everything, with what was paid [default: as before]
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    budget: Option<Credits>,
}

fn job_id(text: &str) -> Result<JobId, String> {
    JobId::try_from(text.to_owned())
}

impl AmendArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let request = AmendRequest {
            max_price: self.max_price,
            budget: self.budget,
        };
        at.wait(async {
            let client = at.client()?;
            let path = format!("/bids/{}/amend", self.order);
            let bid = client.post(&path, &request, None).await;
            let bid: StandingBid = bid.during("the bid was not amended")?;
            at.show(&bid, |bid| table(std::slice::from_ref(bid)))
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
            (">AMENDED", &|b| or_dash(b.amended)),
            (">BUDGET", &|b| b.budget.to_string()),
            (">PAID", &|b| b.paid.to_string()),
        ],
    )
}
