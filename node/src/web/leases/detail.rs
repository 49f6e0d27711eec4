//! One lease: its nodes, its network, the job on it, and how it is prolonged and ended.

use super::clusters::{self, left, more};
use super::net;
use crate::api::scope::needed;
use crate::api::types::{ClusterRecord, JobRecord, LeaseNet, LeaseNode, LeaseView};
use crate::api::{Answer, ErrorCode};
use crate::backend::{Node, NodeBackend, wall_ms};
use crate::cli::text::{nodes, span};
use crate::web::command::command;
use crate::web::failure::{Failure, Shown};
use crate::web::figures::{NONE, clock, count, money, money_or_none, short};
use crate::web::form::{Nothing, Sent};
use crate::web::jobs::state;
use crate::web::parts::{
    Fragment, Panel, Tone, cli, column, live, notice, pill, row_of_stats, stat, table,
};
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{Html, Redirect};
use maud::{Markup, html};

/// Nodes shown at the most.
const NODES: usize = 64;
/// Bytes of a command line that is told to be run again, at the most.
const ARGV: usize = 200;
/// The address of the API whose scope the end of a cluster asks for.
const END: &str = "/clusters/{id}/end";

/// What the page shows.
struct Detail {
    lease: LeaseView,
    /// This node's own job on it.
    job: Option<JobRecord>,
    /// The same as a cluster, if it is one.
    cluster: Option<ClusterRecord>,
    net: Answer<LeaseNet>,
}

/// The handler.
pub(in crate::web) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Path(id): Path<String>,
) -> Shown {
    let (frame, page) = (Frame::of(&node).await?, Detail::of(&node, id).await?);
    Ok(Html(page.render(&frame, &who).into_string()))
}

/// The page that asks whether a cluster is given up.
pub(in crate::web) async fn ask(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Path(id): Path<String>,
) -> Shown {
    who.may(needed("post", END))?;
    let frame = Frame::of(&node).await?;
    let cluster = node.cluster(node.meant_job(id).await?).await?;
    let line = format!("gridbay cluster end {}", cluster.id);
    let page = Page {
        here: "Leases",
        title: "Give a cluster up",
        lede: "What has been paid stays paid; the rest comes back.",
        actions: html! {},
        command: &line,
        events: "/events?page=frame",
        body: question(&cluster, &who),
    };
    Ok(Html(page.render(&frame, &who).into_string()))
}

/// The deed; repeating it changes nothing.
pub(in crate::web) async fn end(
    State(node): State<Node>,
    Path(id): Path<String>,
    sent: Sent<Nothing>,
) -> Result<Redirect, Failure> {
    let Nothing {} = sent.fields;
    sent.who.may(needed("post", END))?;
    let cluster = node.give_up(node.meant_job(id).await?).await?;
    Ok(Redirect::to(&format!("/jobs/{}", cluster.id)))
}

fn question(cluster: &ClusterRecord, who: &Who) -> Markup {
    let name = short(&cluster.name, 64);
    let body = html! {
        div.panel-body {
            p {
                "All that runs on it stops, and its lease ends with the running slot, which is "
                "paid for."
            }
            p.muted {
                (money(cluster.paid)) " credits are paid, " (money(cluster.locked))
                " are locked for its order now."
            }
            form.actions method="post" action={ "/clusters/" (cluster.id) "/end" } {
                input type="hidden" name="token" value=(who.token);
                button.btn.danger { "Give up " (name) }
                a.btn href="/leases" { "Keep it" }
            }
        }
    };
    let title = format!("Give up {name}?");
    html! { (Panel { id: "end", title: &title, body, ..Panel::default() }) }
}

/// The places that change. A lease that is over is gone: then the page says so, and shows what
/// there was.
pub(in crate::web) async fn fragments(
    node: &NodeBackend,
    id: String,
    frame: &Frame,
) -> Answer<Vec<Fragment>> {
    match Detail::of(node, id).await {
        Ok(detail) => Ok(detail.fragments(frame)),
        Err(error) if error.code == ErrorCode::NotFound => Ok(vec![("over", over())]),
        Err(error) => Err(error),
    }
}

fn over() -> Markup {
    notice(
        Tone::Idle,
        "This lease is over.",
        "What stands here is how it was last.",
    )
}

impl Detail {
    /// As things stand.
    async fn of(node: &NodeBackend, id: String) -> Answer<Detail> {
        let lease = node.lease(id).await?;
        let (mut job, mut cluster) = (None, None);
        if let Some(id) = lease.job.clone() {
            job = node.job(id.clone()).await.ok();
            cluster = node.cluster(id).await.ok();
        }
        Ok(Detail {
            net: node.lease_net(lease.lease.to_hex()).await,
            lease,
            job,
            cluster,
        })
    }

    fn fragments(&self, frame: &Frame) -> Vec<Fragment> {
        vec![
            ("over", html! {}),
            ("stats", self.stats(frame)),
            ("job", self.job_told()),
            ("nodes", self.nodes()),
            ("net", net::shown(&self.net)),
        ]
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let (lease, hex) = (&self.lease, self.lease.lease.to_hex());
        let lede = format!(
            "{} of class {}, {}.",
            units(lease.units),
            short(&lease.class, 40),
            part(lease)
        );
        let network = Panel {
            id: "ways",
            title: "Network",
            meta: Some(html! { "How its members reach one another, by what they told last" }),
            body: live("net", &net::shown(&self.net)),
            foot: Some(cli("cli-net", &format!("gridbay lease net {hex}"))),
            ..Panel::default()
        };
        let nodes = Panel {
            id: "hosts",
            title: "Nodes",
            body: live("nodes", &self.nodes()),
            ..Panel::default()
        };
        let page = Page {
            here: "Leases",
            title: &format!("Lease {}", lease.lease),
            lede: &lede,
            actions: self.actions(who),
            command: &format!("gridbay lease show {hex}"),
            events: &format!("/events?page=lease&id={hex}"),
            body: html! {
                div.stack id="over" data-live="replace" {}
                (row_of_stats(self.stats(frame)))
                div.cols.two { (self.job_panel()) (nodes) }
                (network)
            },
        };
        page.render(frame, who)
    }

    /// The end of what runs here, for those who may.
    fn actions(&self, who: &Who) -> Markup {
        let open = self.job.as_ref().filter(|job| !job.state.is_final());
        let Some(job) = open.filter(|_| who.may(needed("post", END)).is_ok()) else {
            return html! {};
        };
        match &self.cluster {
            Some(cluster) => html! {
                a.btn.danger href={ "/clusters/" (cluster.id) "/end" } { "Give cluster up" }
            },
            None => html! {
                a.btn.danger href={ "/jobs/" (job.id) "/cancel" } { "Cancel job" }
            },
        }
    }

    fn stats(&self, frame: &Frame) -> Markup {
        let lease = &self.lease;
        let slot = format!("credits for slot {}, less refunds", count(lease.slot));
        let setup = lease.setup.as_ref();
        let stands = setup.map_or(NONE.to_owned(), |setup| span(setup.ms));
        let members = match (setup, lease.network) {
            (Some(setup), _) => format!("until all {} reached each other", setup.members),
            (None, true) => "not complete as far as this node knows".to_owned(),
            (None, false) => "the job asked for none".to_owned(),
        };
        let (left, until) = self.left(frame);
        let price = self.job.as_ref().and_then(|job| job.price);
        html! {
            (stat("Units", &count(lease.units), "",
                &format!("on {}", nodes(lease.nodes.len() as u32))))
            (stat("Time left", &left, "", until))
            (stat("Paid", &money(lease.paid), "", &slot))
            (stat("Price", &money_or_none(price), "", "per node-hour, the mean of what was paid"))
            (stat("Network", &stands, "", &members))
        }
    }

    /// The time left, and of what: a lease lasts as long as its order, and for another's it is
    /// known only until its slot is over.
    fn left(&self, frame: &Frame) -> (String, &'static str) {
        if let Some(cluster) = &self.cluster {
            return (left(cluster), "of the time that was ordered");
        }
        if let Some(job) = &self.job {
            let all = u64::from(job.seconds) * 1_000;
            let end = job.running_ms.map(|from| from.saturating_add(all));
            let left = end.map(|end| end.saturating_sub(wall_ms()));
            return (
                left.map_or(NONE.to_owned(), clock),
                "at most, until its job ends",
            );
        }
        let running = frame.clock.filter(|clock| clock.slot == self.lease.slot);
        let left = running.map_or(NONE.to_owned(), |running| clock(running.left_ms));
        (left, "of its slot; its buyer may renew it")
    }

    fn job_panel(&self) -> Markup {
        let panel = Panel {
            id: "runs",
            title: if self.cluster.is_some() {
                "Cluster"
            } else {
                "Job"
            },
            body: live("job", &self.job_told()),
            ..Panel::default()
        };
        html! { (panel) }
    }

    fn job_told(&self) -> Markup {
        match &self.job {
            Some(job) => self.job(job),
            None => html! {
                div.panel-body {
                    p {
                        "The job is of the node that bought the lease. Here its ranks run in "
                        "sandboxes, and their output goes to the buyer."
                    }
                    (cli("cli-status", "gridbay node status"))
                }
            },
        }
    }

    fn job(&self, job: &JobRecord) -> Markup {
        let (tone, word) = state(job.state);
        let nodes = job.nodes.to_string();
        let want = ["--time", "1h", "--nodes", &nodes, "--class", &job.class];
        let length: usize = job.argv.iter().map(String::len).sum();
        let argv = job.argv.iter().map(String::as_str);
        let again = match &self.cluster {
            Some(_) => command(["gridbay", "cluster", "new"].into_iter().chain(want)),
            None if length > ARGV => "gridbay job list --all".to_owned(),
            None => {
                let run = ["gridbay", "run"].into_iter().chain(want);
                command(run.chain(["--"]).chain(argv))
            }
        };
        html! {
            div.panel-body {
                p {
                    (pill(tone, word)) " " a href={ "/jobs/" (job.id) } { (short(&job.name, 64)) }
                }
                @if self.cluster.is_some() {
                    p.muted { "A program on one of its nodes, and what runs there:" }
                    (cli("cli-exec", &format!("gridbay cluster exec {} -- hostname", job.id)))
                    (cli("cli-ps", &format!("gridbay cluster ps {}", job.id)))
                }
                p.muted {
                    "A lease is renewed slot by slot until the time of its order is over; then "
                    "more time is another order:"
                }
                (cli("cli-again", &again))
                @if !job.state.is_final() {
                    p.muted { "This ends it with the running slot:" }
                    (cli("cli-end", &match self.cluster.is_some() {
                        true => format!("gridbay cluster end {}", job.id),
                        false => format!("gridbay job cancel {}", job.id),
                    }))
                }
            }
        }
    }

    fn nodes(&self) -> Markup {
        if let Some(cluster) = &self.cluster {
            return clusters::ranks(&cluster.ranks);
        }
        let all = &self.lease.nodes;
        let rows = html! { @for node in all.iter().take(NODES) { (self.node(node)) } };
        let columns = [
            column("Node", ""),
            column("Seller", ""),
            column("Ranks", "num opt"),
            column("Units", "num"),
        ];
        html! { (table("Nodes", &columns, rows)) (more(all.len(), NODES, "nodes")) }
    }

    fn node(&self, node: &LeaseNode) -> Markup {
        let sellers = self.job.iter().flat_map(|job| &job.sellers);
        let here = sellers.filter(|seller| seller.node == node.node);
        let ranks: Vec<String> = here
            .flat_map(|seller| &seller.ranks)
            .map(ToString::to_string)
            .collect();
        html! {
            tr {
                th scope="row" { span.id { (node.node) } }
                td.wrap { (node.name.as_ref().map_or(NONE.to_owned(), |name| short(name, 40))) }
                td.num.opt {
                    @if ranks.is_empty() { (NONE) } @else { (short(&ranks.join(", "), 40)) }
                }
                td.num { (count(node.units)) }
            }
        }
    }
}

fn units(units: u32) -> String {
    match units {
        1 => "1 unit".to_owned(),
        n => format!("{} units", count(n)),
    }
}

fn part(lease: &LeaseView) -> &'static str {
    use crate::api::types::LeasePart::{Both, Buyer, Seller};
    match lease.part {
        Buyer => "bought by this node",
        Seller => "sold by this node",
        Both => "bought by this node, in part from itself",
    }
}

#[cfg(test)]
mod tests;
