//! The clusters that this node holds, as a table, and the ranks of one.

use crate::api::types::{ClusterRecord, HeldRank};
use crate::web::figures::{NONE, clock, count, money, short};
use crate::web::jobs::state;
use crate::web::parts::{self, Tone, column, empty, pill};
use maud::{Markup, html};

/// Clusters, and ranks of one, shown at the most.
const CLUSTERS: usize = 50;
const RANKS: usize = 64;

/// The table of those that have not ended.
pub(super) fn table(clusters: &[ClusterRecord]) -> Markup {
    if clusters.is_empty() {
        let text = "A cluster is nodes that stand ready for programs. This command buys two for \
                    ten minutes:";
        let command = "gridbay cluster new --nodes 2 --time 10m";
        return empty("No clusters now", text, Some(("cli-new", command)));
    }
    let rows = html! {
        @for cluster in clusters.iter().take(CLUSTERS) {
            @let (tone, word) = state(cluster.state);
            tr {
                th.wrap scope="row" { a href=(place(cluster)) { (short(&cluster.name, 40)) } }
                td { (pill(tone, word)) }
                td.opt2 { (short(&cluster.class, 40)) }
                td.num.opt { (running(cluster)) }
                td.num { (left(cluster)) }
                td.num.opt { (money(cluster.paid)) }
            }
        }
    };
    let columns = [
        column("Cluster", ""),
        column("State", ""),
        column("Class", "opt2"),
        column("Ranks", "num opt"),
        column("Time left", "num"),
        column("Paid so far", "num opt"),
    ];
    html! {
        (parts::table("Clusters", &columns, rows))
        (more(clusters.len(), CLUSTERS, "clusters"))
    }
}

/// The page of its lease, or of its order while it has none.
fn place(cluster: &ClusterRecord) -> String {
    match cluster.lease {
        Some(lease) => format!("/leases/{}", lease.to_hex()),
        None => format!("/jobs/{}", cluster.id),
    }
}

/// Ranks that run, of all.
fn running(cluster: &ClusterRecord) -> String {
    let runs = cluster.ranks.iter().filter(|rank| rank.running).count();
    format!("{} of {}", count(runs as u64), count(cluster.size))
}

/// Its time left.
pub(super) fn left(cluster: &ClusterRecord) -> String {
    let left = cluster.left_seconds;
    left.map_or(NONE.to_owned(), |s| clock(s.saturating_mul(1_000)))
}

/// Its ranks.
pub(super) fn ranks(ranks: &[HeldRank]) -> Markup {
    let rows = html! {
        @for rank in ranks.iter().take(RANKS) {
            @let (tone, word) = match rank.running {
                true => (Tone::Live, "Runs"),
                false => (Tone::Idle, "Waits"),
            };
            tr {
                th scope="row" { (rank.rank) }
                td { (pill(tone, word)) }
                td { (rank.seller.as_ref().map_or(NONE.to_owned(), |name| short(name, 40))) }
                td.opt {
                    span.id { (rank.node.map_or(NONE.to_owned(), |node| node.to_string())) }
                }
                td.num { (count(rank.attempt)) }
            }
        }
    };
    let columns = [
        column("Rank", ""),
        column("State", ""),
        column("Seller", ""),
        column("Node", "opt"),
        column("Begun anew", "num"),
    ];
    html! {
        (parts::table("Ranks", &columns, rows))
        (more(ranks.len(), RANKS, "ranks"))
    }
}

/// So many more than are shown.
pub(super) fn more(all: usize, shown: usize, what: &str) -> Markup {
    let more = all.saturating_sub(shown);
    html! {
        @if more > 0 {
            div.panel-body { p.muted { (count(more as u64)) " more " (what) "." } }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::web::command::tests::exist;
    use crate::web::samples::HOSTILE;
    use serde_json::json;

    /// A cluster of so many ranks, with hostile words.
    pub(in crate::web) fn cluster(size: u32) -> ClusterRecord {
        let key = gridbay_protocol::keys::SecretKey::from_seed(&[7; 32]).public();
        let rank = |rank: u32| {
            json!({
                "rank": rank, "node": key.to_hex(), "seller": HOSTILE, "running": rank == 0,
                "attempt": 1,
            })
        };
        serde_json::from_value(json!({
            "id": "0123456789abcdef", "name": HOSTILE, "state": "running",
            "lease": "ab".repeat(32), "class": HOSTILE, "size": size,
            "ranks": (0..size).map(rank).collect::<Vec<_>>(), "running_ms": 1_000,
            "left_seconds": 61, "paid": "2", "locked": "1", "price": "3",
            "owner": key.to_hex(), "guests": [],
        }))
        .unwrap()
    }

    #[test]
    fn clusters_and_ranks_are_text_and_have_an_end() {
        let all = vec![cluster(2); 60];
        let page = html! { (table(&all)) (ranks(&cluster(100).ranks)) }.into_string();
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        for told in ["10 more clusters", "36 more ranks", "1 of 2", "0:01:01"] {
            assert!(page.contains(told), "{told}");
        }
    }

    #[test]
    fn a_cluster_leads_to_its_lease_or_its_order_and_none_says_how_to_begin() {
        let mut some = cluster(1);
        assert_eq!(place(&some), format!("/leases/{}", "ab".repeat(32)));
        (some.lease, some.left_seconds) = (None, None);
        assert_eq!(
            (place(&some), left(&some)),
            ("/jobs/0123456789abcdef".into(), NONE.into())
        );
        assert_eq!(exist(&table(&[]).into_string()), 1);
    }
}
