//! `status`: one screen about this node and what it has in the market.

use super::context::Context;
use super::error::{CliError, During as _};
use super::peer::reach;
use super::text;
use crate::api::client::Client;
use crate::api::types::{
    AuctionSummary, JobRecord, LeaseView, NodeStatus, Offer, Ourselves, PeerList,
};
use clap::Args;
use serde::Serialize;

const WHAT: &str = "no status";
/// Lines of one kind; the rest is counted.
const LINES: usize = 5;

/// All that the screen shows.
#[derive(Clone, Debug, Serialize)]
struct Status {
    node: NodeStatus,
    me: Ourselves,
    /// This node's own.
    offers: Vec<Offer>,
    leases: Vec<LeaseView>,
    /// Its own jobs that have not ended.
    jobs: Vec<JobRecord>,
    /// The last clearing.
    clearing: Option<AuctionSummary>,
}

/// Show this node and what it has in the market, on one screen
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct StatusArgs {
    /// Show it again every two seconds
    #[arg(long)]
    watch: bool,
}

impl StatusArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        at.wait(async {
            let client = at.client()?;
            let look = async || at.tell(&Status::of(&client).await?, screen);
            at.shown(self.watch, look).await
        })
    }
}

impl Status {
    async fn of(client: &Client) -> Result<Status, CliError> {
        let node = client.get("/node").await.during(WHAT)?;
        let peers: PeerList = client.get("/peers").await.during(WHAT)?;
        let offers: Vec<Offer> = client.get("/offers").await.during(WHAT)?;
        let auctions = client.get("/auctions?limit=1").await;
        let auctions: Vec<AuctionSummary> = auctions.during(WHAT)?;
        Ok(Status {
            node,
            me: peers.me,
            offers: offers.into_iter().filter(|offer| offer.own).collect(),
            leases: client.get("/leases").await.during(WHAT)?,
            jobs: client.get("/jobs?all=false").await.during(WHAT)?,
            clearing: auctions.into_iter().next(),
        })
    }
}

fn screen(status: &Status) -> String {
    let mut lines = about(status);
    let offers: Vec<String> = status.offers.iter().map(offer).collect();
    let leases: Vec<String> = status.leases.iter().map(lease).collect();
    let jobs: Vec<String> = status.jobs.iter().map(job).collect();
    lines.extend(list("offers", &offers, "gridbay offer list"));
    lines.extend(list("leases", &leases, "gridbay lease list"));
    lines.extend(list("jobs", &jobs, "gridbay job list"));
    lines.push((
        "hosted",
        format!("{} jobs run here", status.node.jobs_hosted),
    ));
    lines.push((
        "clearing",
        status
            .clearing
            .as_ref()
            .map_or("none yet".to_owned(), clearing),
    ));
    for trouble in &status.node.troubles {
        let since = text::moment(trouble.since_ms);
        lines.push(("trouble", format!("{}, since {since}", trouble.what)));
        lines.push(("try", trouble.hint.clone()));
    }
    if status.node.troubles.is_empty() {
        lines.push(("troubles", "none".to_owned()));
    }
    text::fields(&lines)
}

/// Who the node is, how others reach it, and its money.
fn about(status: &Status) -> Vec<(&'static str, String)> {
    let (node, me) = (&status.node, &status.me);
    let network = node.network_name.as_deref().unwrap_or("?");
    let account = node.account.map(|account| account.to_hex());
    let validator = if node.validator.is_some() {
        ", a validator"
    } else {
        ""
    };
    let mut lines = vec![
        (
            "node",
            format!("{} ({}{validator})", node.name, node.state.name()),
        ),
        ("network", format!("{network} {}", node.network)),
        ("account", account.unwrap_or_else(|| "none".to_owned())),
        ("reached", reach(me.reach).to_owned()),
        (
            "peers",
            format!("{} direct, {} by relays", me.direct, me.relayed),
        ),
        (
            "ledger",
            format!(
                "height {}, slot {}, {}",
                node.height,
                node.slot,
                text::moment(node.block_ms)
            ),
        ),
        (
            "balance",
            format!("{} free, {} held", node.balance, node.held),
        ),
    ];
    if let Some(why) = &node.joining {
        lines.push(("not joined", why.clone()));
    }
    lines.extend(node.stall.iter().map(|stall| ("blocks", stall.in_words())));
    lines
}

/// The first lines of a list, under one name.
fn list(name: &'static str, all: &[String], command: &str) -> Vec<(&'static str, String)> {
    if all.is_empty() {
        return vec![(name, "none".to_owned())];
    }
    let first = all.iter().take(LINES).enumerate();
    let mut lines: Vec<_> = first
        .map(|(at, line)| (if at == 0 { name } else { "" }, line.clone()))
        .collect();
    if all.len() > LINES {
        lines.push(("", format!("and {} more: {command}", all.len() - LINES)));
    }
    lines
}

fn offer(offer: &Offer) -> String {
    let buy = offer
        .buy
        .map_or(String::new(), |buy| format!(", buy at {buy}"));
    let state = match (offer.held_back, offer.withdrawn) {
        (true, _) => ", held back",
        (false, true) => ", withdrawn",
        (false, false) => "",
    };
    format!(
        "{} x {} from {}{buy}, {} leased{state}",
        offer.units, offer.class, offer.reserve, offer.leased
    )
}

fn lease(lease: &LeaseView) -> String {
    format!(
        "{} {} x {}, {}{}",
        lease.lease,
        lease.units,
        lease.class,
        lease.part.name(),
        lease
            .name
            .as_ref()
            .map_or(String::new(), |name| format!(", job {name}"))
    )
}

fn job(job: &JobRecord) -> String {
    let reason = job
        .reason
        .map_or(String::new(), |reason| format!(" ({})", reason.name()));
    format!(
        "{} {} {}{reason}, paid {}",
        job.id,
        job.name,
        job.state.name(),
        job.paid
    )
}

fn clearing(last: &AuctionSummary) -> String {
    let price = last
        .price
        .map_or(String::new(), |price| format!(" at {price} per node-hour"));
    format!(
        "{} at height {}: {} of {} units sold{price}, {} of {} bids won",
        last.class, last.height, last.sold, last.units, last.winners, last.bids
    )
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn long_lists_are_cut_and_counted() {
        let all: Vec<String> = (0..7).map(|n| format!("line {n}")).collect();
        let shown = list("jobs", &all, "gridbay job list");
        assert_eq!(shown.len(), 6);
        assert_eq!(shown[0], ("jobs", "line 0".to_owned()));
        assert_eq!(shown[1], ("", "line 1".to_owned()));
        assert_eq!(shown[5].1, "and 2 more: gridbay job list");
        assert_eq!(list("jobs", &all[..5], "").len(), 5);
        assert_eq!(list("jobs", &[], "x"), [("jobs", "none".to_owned())]);
    }
}
