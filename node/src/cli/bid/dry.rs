//! `bid amend --dry-run`: the bid as it would stand, its cost, and whether it can win.

use crate::api::client::Client;
use crate::api::types::{AmendRequest, JobRecord, Quote, StandingBid, Want};
use crate::cli::context::Context;
use crate::cli::dry::Would;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::cli::meant::Meant;
use crate::cli::text;

const WHAT: &str = "nothing is known of the bid";

/// Asks for a quote of the order as it would be, and tells it.
pub(super) async fn tell(
    at: &Context,
    client: &Client,
    order: &Meant,
    request: AmendRequest,
) -> Result<Exit, CliError> {
    let job: JobRecord = client.get(&format!("/jobs/{order}")).await.during(WHAT)?;
    let bids: Vec<StandingBid> = client.get("/bids").await.during(WHAT)?;
    if !bids.iter().any(|bid| bid.id == job.id) {
        let why = format!("job {} has no bid that stands", job.id);
        return Err(CliError::new(
            Exit::NOT_FOUND,
            WHAT,
            why,
            "see gridbay bid list",
        ));
    }
    let want = Want {
        class: Some(job.class.clone()),
        nodes: job.nodes,
        max_price: Some(request.max_price),
        seconds: job.seconds,
        budget: request.budget.or(Some(job.budget)),
        how: job.how.clone(),
    };
    let quote: Quote = client.post("/quote", &want, None).await.during(WHAT)?;
    let (works, why, next) = outlook(&job, &quote);
    let (nodes, price) = (text::nodes(job.nodes), request.max_price);
    let what = format!("up to {price} per node-hour for {nodes} of {}", job.class);
    let would = Would {
        sends: request,
        costs: Some(quote.most),
        holds: Some(quote.needed_now),
        works,
        why,
        next,
    };
    would.tell(at, &what)
}

/// Money that its order has locked serves the amended one as well.
fn outlook(job: &JobRecord, quote: &Quote) -> (bool, String, String) {
    let money = quote
        .spendable
        .checked_add(job.locked)
        .unwrap_or(quote.spendable);
    if quote.most > money {
        let why = format!("it can cost {} credits, {money} can be spent", quote.most);
        return (false, why, "lower --max-price or --budget".to_owned());
    }
    if let Some((why, next)) = job.how.way().hopeless(quote) {
        return (false, why, next);
    }
    let asked = match quote.asked {
        Some(asked) => format!("sellers ask {asked} per node-hour and it bids no less"),
        None => "no seller asks more than it bids".to_owned(),
    };
    (true, format!("{asked}; others may bid more"), String::new())
}
