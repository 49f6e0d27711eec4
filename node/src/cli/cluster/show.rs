//! `cluster list`, `cluster show` and `cluster end`. A cluster that its owner has given up is
//! `ending` until its lease ends with its slot.

use super::way::cluster_id;
use crate::api::types::{ClusterRecord, HeldRank};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::listing::Listing;
use crate::cli::text;
use crate::ui::{self, Table};

pub(super) fn list(at: &Context, all: bool, listing: &Listing) -> Result<(), CliError> {
    at.wait(async {
        if !all && at.format.is_text() {
            ui::note("clusters that have not ended; --all for all");
        }
        let path = format!("/clusters?all={all}");
        let from = (path.as_str(), "no list of clusters");
        listing.of(at, &at.client()?, from, table).await
    })
}

pub(super) fn show(at: &Context, id: &str) -> Result<(), CliError> {
    let id = cluster_id(id)?;
    at.wait(async {
        let cluster = at.client()?.get(&format!("/clusters/{id}")).await;
        let cluster: ClusterRecord = cluster.during("no such cluster")?;
        at.tell(&cluster, describe)
    })
}

pub(super) fn end(at: &Context, id: &str) -> Result<(), CliError> {
    let id = cluster_id(id)?;
    at.wait(async {
        let path = format!("/clusters/{id}/end");
        let ended = at.client()?.post(&path, &(), None).await;
        let ended: ClusterRecord = ended.during("the cluster was not given up")?;
        at.tell(&ended, |c| {
            format!("cluster {} {}\n", c.id, text::given_up(c.state))
        })
    })
}

fn running(cluster: &ClusterRecord) -> String {
    let count = cluster.ranks.iter().filter(|rank| rank.running).count();
    format!("{count}/{}", cluster.size)
}

fn left(cluster: &ClusterRecord) -> String {
    let left = cluster.left_seconds;
    left.map_or_else(|| "-".to_owned(), |s| text::span(s.saturating_mul(1_000)))
}

fn table(clusters: &[ClusterRecord]) -> String {
    Table::of(
        clusters,
        &[
            ("ID", &|c| c.id.to_string()),
            ("NAME", &|c| c.name.clone()),
            ("CLASS", &|c| c.class.clone()),
            ("STATE", &|c| c.state.name().to_owned()),
            (">RANKS", &running),
            (">LEFT", &left),
            (">PAID", &|c| c.paid.to_string()),
        ],
    )
}

pub(super) fn describe(cluster: &ClusterRecord) -> String {
    let price = cluster.price.map_or(String::new(), |price| {
        format!(", {price} per node-hour on average")
    });
    let lease = cluster
        .lease
        .map_or_else(|| "none yet".to_owned(), |id| id.to_hex());
    let mut lines = vec![
        ("cluster", cluster.id.to_string()),
        ("name", cluster.name.clone()),
        ("state", cluster.state.name().to_owned()),
        ("lease", lease),
        (
            "ranks",
            format!("{} run, of class {}", running(cluster), cluster.class),
        ),
        ("time left", left(cluster)),
        ("paid", format!("{} credits so far{price}", cluster.paid)),
        ("locked", format!("{} credits", cluster.locked)),
    ];
    for guest in &cluster.guests {
        let name = guest.name.as_deref().unwrap_or("-");
        lines.push(("admitted", format!("{} {name}", guest.key.to_hex())));
    }
    if let Some(lease) = cluster.lease.filter(|_| !cluster.guests.is_empty()) {
        let (lease, owner) = (lease.to_hex(), cluster.owner.to_hex());
        lines.push(("guests", format!("gridbay cluster enter {lease} {owner}")));
    }
    let line = |(name, value): &(&str, String)| format!("{name:<10}{}\n", ui::clean(value));
    let head: String = lines.iter().map(line).collect();
    head + "\n" + &ranks(&cluster.ranks)
}

fn ranks(ranks: &[HeldRank]) -> String {
    Table::of(
        ranks,
        &[
            (">RANK", &|r| r.rank.to_string()),
            ("STATE", &|r| {
                if r.running { "runs" } else { "-" }.to_owned()
            }),
            (">ATTEMPT", &|r| r.attempt.to_string()),
            ("SELLER", &|r| {
                r.seller.clone().unwrap_or_else(|| "-".to_owned())
            }),
            ("NODE", &|r| {
                let node = r.node.map(|node| node.to_string());
                node.unwrap_or_else(|| "-".to_owned())
            }),
        ],
    )
}
