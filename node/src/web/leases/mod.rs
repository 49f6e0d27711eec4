//! Leases that this node has bought or sold, and the clusters that it holds ([`clusters`]); one
//! lease ([`detail`]) with its network ([`net`]).

mod clusters;
pub(super) mod detail;
mod net;

use super::failure::Shown;
use super::figures::{NONE, count, money, short};
use super::parts::{self, Fragment, Panel, cli, column, empty, live, row_of_stats, stat};
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::Answer;
use crate::api::types::{ClusterRecord, LeasePart, LeaseView};
use crate::backend::{Node, NodeBackend};
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Html;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use maud::{Markup, html};
use serde::Deserialize;

/// Leases of one page.
const LINES: usize = 50;

/// Which part of the list.
#[derive(Deserialize)]
pub(super) struct Part {
    #[serde(default)]
    page: usize,
}

/// What the page shows.
struct Leases {
    all: Vec<LeaseView>,
    clusters: Vec<ClusterRecord>,
    node: PublicKey,
    page: usize,
}

/// The handler.
pub(super) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Query(Part { page }): Query<Part>,
) -> Shown {
    let (frame, page) = (Frame::of(&node).await?, Leases::of(&node, page).await?);
    Ok(Html(page.render(&frame, &who).into_string()))
}

/// The places that change.
pub(super) async fn fragments(node: &NodeBackend, page: usize) -> Answer<Vec<Fragment>> {
    Ok(Leases::of(node, page).await?.fragments())
}

impl Leases {
    /// As things stand.
    async fn of(node: &NodeBackend, page: usize) -> Answer<Leases> {
        Ok(Leases {
            all: node.leases().await?,
            clusters: node.clusters(false).await?,
            node: node.parts.node,
            page,
        })
    }

    fn fragments(&self) -> Vec<Fragment> {
        vec![
            ("stats", self.stats()),
            ("clusters", clusters::table(&self.clusters)),
            ("leases", self.table()),
        ]
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let last = self.all.len().saturating_sub(1) / LINES;
        let held = Panel {
            id: "held",
            title: "Clusters",
            meta: Some(html! { "Nodes that this node holds, to run programs on" }),
            body: live("clusters", &clusters::table(&self.clusters)),
            foot: Some(cli("cli-clusters", "gridbay cluster list --all")),
            ..Panel::default()
        };
        let leases = Panel {
            id: "all",
            title: "Leases",
            meta: Some(html! { "Paid is for the running slot. A lease that is over is gone." }),
            body: live("leases", &self.table()),
            foot: (last > 0).then(|| parts::pages("/leases?page=", self.page, last)),
            ..Panel::default()
        };
        let page = Page {
            here: "Leases",
            title: "Leases",
            lede: "Units that this node has bought or sold, and how their networks stand.",
            actions: html! {},
            command: "gridbay lease list",
            events: &format!("/events?page=leases&part={}", self.page),
            body: html! {
                (row_of_stats(self.stats()))
                (held) (leases)
            },
        };
        page.render(frame, who)
    }

    fn stats(&self) -> Markup {
        let bought = || self.all.iter().filter(|l| l.part != LeasePart::Seller);
        let sold = || self.all.iter().filter(|l| l.part != LeasePart::Buyer);
        let units: u64 = bought().map(|lease| u64::from(lease.units)).sum();
        let served = sold().flat_map(|lease| &lease.nodes);
        let served = served.filter(|node| node.node == self.node);
        let served: u64 = served.map(|node| u64::from(node.units)).sum();
        let paid = Credits::sum(bought().map(|lease| lease.paid)).unwrap_or(Credits::MAX);
        let networks = self.all.iter().filter(|lease| lease.network).count();
        html! {
            (stat("Bought", &count(units), "units", &within(bought().count())))
            (stat("Sold", &count(served), "units", &within(sold().count())))
            (stat("Paid", &money(paid), "", "credits, for the running slot"))
            (stat("Networks", &count(networks as u64), "", "of leases, which this node knows"))
            (stat("Clusters", &count(self.clusters.len() as u64), "", "that have not ended"))
        }
    }

    fn table(&self) -> Markup {
        let from = self.page.saturating_mul(LINES);
        let shown: Vec<&LeaseView> = self.all.iter().skip(from).take(LINES).collect();
        match (self.all.as_slice(), shown.as_slice()) {
            ([], _) => {
                let text = "A lease begins when an order of this node wins units, or an offer of \
                            it sells some, and ends with the order. This command buys one for a \
                            minute:";
                let command = "gridbay run --time 1m -- uname -a";
                empty("No leases now", text, Some(("cli-run", command)))
            }
            (_, []) => empty("There is no such page", "The list is shorter by now.", None),
            (_, shown) => table(shown),
        }
    }
}

fn within(leases: usize) -> String {
    match leases {
        1 => "in 1 lease".to_owned(),
        n => format!("in {} leases", count(n as u64)),
    }
}

fn table(leases: &[&LeaseView]) -> Markup {
    let rows = html! {
        @for lease in leases {
            tr {
                th scope="row" {
                    a href={ "/leases/" (lease.lease.to_hex()) } {
                        span.id { (lease.lease) }
                    }
                }
                td.wrap { (job(lease)) }
                td.opt { (lease.part.name()) }
                td.opt2 { (short(&lease.class, 40)) }
                td.num { (count(lease.units)) }
                td.num.opt { (count(lease.nodes.len() as u64)) }
                td.opt2 { (network(lease)) }
                td.num { (money(lease.paid)) }
            }
        }
    };
    let columns = [
        column("Lease", ""),
        column("Job", ""),
        column("Part", "opt"),
        column("Class", "opt2"),
        column("Units", "num"),
        column("Nodes", "num opt"),
        column("Network", "opt2"),
        column("Paid", "num"),
    ];
    parts::table("Leases", &columns, rows)
}

/// The job of a lease, with the way to it if it is of this node.
fn job(lease: &LeaseView) -> Markup {
    let Some(id) = &lease.job else {
        return html! { span.muted { "another node’s" } };
    };
    let name = lease
        .name
        .as_ref()
        .map_or(NONE.to_owned(), |name| short(name, 40));
    html! { a href={ "/jobs/" (id) } { (name) } }
}

/// Whether a lease has a network, and how long that took.
fn network(lease: &LeaseView) -> String {
    match (&lease.setup, lease.network) {
        (Some(setup), _) => crate::cli::network_stands(setup),
        (None, true) => "yes".to_owned(),
        (None, false) => NONE.to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};
    use serde_json::json;

    fn key(seed: u8) -> PublicKey {
        gridbay_protocol::keys::SecretKey::from_seed(&[seed; 32]).public()
    }

    /// A lease with hostile words.
    pub(in crate::web) fn lease(part: &str, nodes: usize) -> LeaseView {
        let node = json!({"node": key(7).to_hex(), "name": HOSTILE, "units": 2});
        let own = part != "seller";
        serde_json::from_value(json!({
            "lease": "ab".repeat(32), "part": part, "job": own.then_some("0123456789abcdef"),
            "name": own.then_some(HOSTILE), "class": HOSTILE, "units": 2 * nodes, "slot": 3,
            "paid": "1.5", "nodes": vec![node; nodes], "network": true,
            "setup": {"members": 2, "ms": 530},
        }))
        .unwrap()
    }

    fn leases(count: usize, page: usize) -> Leases {
        Leases {
            all: vec![lease("both", 1); count],
            clusters: vec![clusters::tests::cluster(2)],
            node: key(7),
            page,
        }
    }

    fn shown(leases: &Leases) -> String {
        let page = leases.render(&samples::frame(), &samples::who(Scope::Read));
        page.into_string()
    }

    #[test]
    fn a_list_of_hostile_words_has_no_markup_of_them_and_pages() {
        let page = shown(&leases(120, 1));
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        let link = format!("href=\"/leases/{}\"", "ab".repeat(32));
        assert_eq!(
            page.matches(&format!("<th scope=\"row\"><a {link}"))
                .count(),
            LINES
        );
        for (id, _) in leases(1, 0).fragments() {
            let place = format!("id=\"{id}\" data-live=\"replace\"");
            assert_eq!(page.matches(&place).count(), 1, "{id}");
        }
        assert!(page.contains("/leases?page=0") && page.contains("/leases?page=2"));
        assert_eq!(exist(&page), 2);
    }

    #[test]
    fn what_is_bought_and_what_is_sold_is_summed_apart() {
        let mut some = leases(1, 0);
        some.all = vec![lease("buyer", 3), lease("seller", 1), lease("seller", 1)];
        let page = some.stats().into_string();
        for told in ["in 1 lease<", "in 2 leases<", "<dd>6 ", "<dd>4 ", "1.50"] {
            assert!(page.contains(told), "{told}: {page}");
        }
        some.node = key(8);
        assert!(
            some.stats().into_string().contains("<dd>0 "),
            "no units of this node"
        );
    }

    #[test]
    fn an_empty_list_says_how_to_begin_and_one_beyond_the_end_that_there_is_none() {
        let none = leases(0, 0).table().into_string();
        assert!(none.contains("No leases now"), "{none}");
        assert_eq!(exist(&none), 1);
        assert!(leases(3, 9).table().into_string().contains("no such page"));
    }
}
