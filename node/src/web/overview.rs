//! The first page: what this node buys, sells and owes, and whether anything needs its owner.

use super::auctions;
use super::clock::Clock;
use super::failure::Shown;
use super::figures::{NONE, change, count, counted, mib, money, money_or_none, short, signed};
use super::jobs;
use super::parts::{Fragment, Panel, Tone, column, empty, live, notice, row_of_stats, stat, table};
use super::session::Who;
use super::shell::{Frame, Page};
use super::spark::spark;
use crate::api::Answer;
use crate::api::types::{AuctionKind, AuctionSummary, Balance, ClassPrice, JobRecord};
use crate::backend::{Node, NodeBackend};
use crate::cli::text;
use axum::Extension;
use axum::extract::State;
use axum::response::Html;
use gridbay_protocol::units::{Credits, MS_PER_HOUR};
use maud::{Markup, html};

/// Classes and clearings shown at the most.
const CLASSES: usize = 12;
const CLEARINGS: usize = 8;
/// Own jobs shown at the most.
const JOBS: usize = 8;
/// Clearings of a class that its line of prices is drawn of at the most.
const POINTS: usize = 60;

/// What the page shows.
pub(super) struct Overview {
    /// `None` until the account is open.
    balance: Option<Balance>,
    jobs: Vec<JobRecord>,
    jobs_in_all: usize,
    prices: Vec<Price>,
    clearings: Vec<AuctionSummary>,
}

/// A class, and its prices of the last hour, oldest first.
struct Price {
    class: ClassPrice,
    hour: Vec<Credits>,
}

/// The handler.
pub(super) async fn show(State(node): State<Node>, Extension(who): Extension<Who>) -> Shown {
    let frame = Frame::of(&node).await?;
    let page = Overview::of(&node, &frame).await?;
    Ok(Html(page.render(&frame, &who).into_string()))
}

impl Overview {
    /// As things stand.
    pub(super) async fn of(node: &NodeBackend, frame: &Frame) -> Answer<Overview> {
        let (jobs_in_all, jobs) = node.some_jobs(true, 0, JOBS).await?;
        let clock = frame.clock()?;
        let clearings = node.auctions(None, CLEARINGS).await?;
        let prices = node.prices().await?.into_iter().take(CLASSES);
        let price = |class| {
            let hour = last_hour(node, &class, &clock);
            Price { class, hour }
        };
        Ok(Overview {
            balance: node.balance(None).await.ok(),
            jobs,
            jobs_in_all,
            prices: prices.map(price).collect(),
            clearings,
        })
    }

    /// The places that change.
    pub(super) fn fragments(&self, frame: &Frame) -> Vec<Fragment> {
        vec![
            ("troubles", troubles(frame)),
            ("stats", self.stats(frame)),
            ("jobs", self.jobs()),
            ("prices", self.prices()),
            ("clearings", self.clearings()),
        ]
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let jobs = Panel {
            id: "own",
            title: "Jobs",
            more: (self.jobs_in_all > 0).then(|| {
                html! {
                    a.more href="/jobs" { "All " (counted(self.jobs_in_all as u64, "job")) }
                }
            }),
            body: live("jobs", &self.jobs()),
            ..Panel::default()
        };
        let prices = Panel {
            id: "price",
            title: "Prices",
            meta: Some(html! {
                "Credits per node-hour. Last is the mean price of the last clearing that sold \
                 something."
            }),
            body: live("prices", &self.prices()),
            ..Panel::default()
        };
        let clearings = Panel {
            id: "clearing",
            title: "Last clearings",
            more: Some(html! { a.more href="/auctions" { "All auctions" } }),
            body: live("clearings", &self.clearings()),
            ..Panel::default()
        };
        let page = Page {
            here: "Overview",
            title: "Overview",
            lede: "What this node buys, sells and owes, and whether anything needs you.",
            actions: html! {},
            command: "gridbay node status",
            events: "/events?page=overview",
            body: html! {
                section.stack.tight id="troubles" data-live="replace"
                    aria-label="Needs attention" { (troubles(frame)) }
                (row_of_stats(self.stats(frame)))
                (jobs) (prices) (clearings)
            },
        };
        page.render(frame, who)
    }

    fn stats(&self, frame: &Frame) -> Markup {
        let status = &frame.status;
        let own = self.balance.as_ref();
        let line = own.map_or("credits".to_owned(), |b| match b.credit_line {
            Credits::ZERO => "credits".to_owned(),
            line => format!("credits, and a credit line of {}", money(line)),
        });
        let retained = own.map_or(Credits::ZERO, |b| b.retained);
        let used = own.map_or(Credits::ZERO, |b| b.in_use);
        let open = format!("of {} in all", count(self.jobs_in_all as u64));
        let hosted = format!("{} jobs of others run", status.jobs_hosted);
        let units = format!("of {}", count(status.units_offered));
        let peers = format!("height {}", count(status.height));
        html! {
            (stat("Free", &signed(status.balance), "", &line))
            (stat("Held for orders", &money(status.held), "",
                &format!("credits, and {} in the running slot", money(used))))
            (stat("Retained", &money(retained), "",
                "credits earned, while buyers may complain"))
            (stat("Own jobs", &count(status.jobs_open), "open", &open))
            (stat("Units leased", &count(status.units_leased), &units, &hosted))
            (stat("Peers", &count(status.peers), "connected", &peers))
        }
    }

    fn jobs(&self) -> Markup {
        if self.jobs.is_empty() {
            return jobs::none();
        }
        jobs::table(&self.jobs)
    }

    fn prices(&self) -> Markup {
        let rows = html! {
            @for Price { class, hour } in &self.prices {
                tr {
                    th scope="row" {
                        (short(&class.class, 40)) span.sub.opt { (size(class)) }
                    }
                    td.num {
                        (count(class.units_offered.saturating_sub(class.units_leased))) " "
                        span.faint { "of " (count(class.units_offered)) }
                    }
                    td.num.opt2 { (money_or_none(class.reserve)) }
                    td.num { strong { (money_or_none(class.last)) } }
                    td.num.opt { (moved(hour).unwrap_or_else(|| NONE.to_owned())) }
                    td.opt { (spark(&class.class, hour)) }
                    td.num { (money_or_none(class.buy)) }
                    td.num.opt2 { (count(class.waiting)) }
                }
            }
        };
        let columns = [
            column("Class", ""),
            column("Free", "num"),
            column("Reserve", "num opt2"),
            column("Last", "num"),
            column("1 h", "num opt"),
            column("Last hour", "opt"),
            column("Buy now", "num"),
            column("Waiting", "num opt2"),
        ];
        table("Prices by class, credits per node-hour", &columns, rows)
    }

    fn clearings(&self) -> Markup {
        if self.clearings.is_empty() {
            let text = "Each slot is sold in an auction that closes at its boundary; the first one \
                        has no bids yet.";
            return empty("Nothing was sold yet", text, None);
        }
        auctions::table(&self.clearings)
    }
}

/// What a unit of a class has.
pub(super) fn size(class: &ClassPrice) -> String {
    let mut text = format!("{} vCPU · {}", class.vcpu, mib(class.memory_mib));
    match class.gpu {
        0 => {}
        1 => text.push_str(" · 1 GPU"),
        n => text.push_str(&format!(" · {n} GPUs")),
    }
    text
}

/// Prices of the clearings of the last hour, oldest first.
fn last_hour(node: &NodeBackend, class: &ClassPrice, clock: &Clock) -> Vec<Credits> {
    let lines = node.board.newest(Some(&class.id), POINTS);
    let newest = class.last_height.unwrap_or(0);
    let from = newest.saturating_sub(MS_PER_HOUR / clock.height_ms.max(1));
    let cleared = |kind| matches!(kind, AuctionKind::Boundary | AuctionKind::Free);
    let fresh = lines
        .iter()
        .filter(|line| line.height >= from && cleared(line.kind));
    let mut prices: Vec<Credits> = fresh.filter_map(|line| line.price).collect();
    prices.reverse();
    prices
}

/// How far the price moved.
fn moved(prices: &[Credits]) -> Option<String> {
    let (first, rest) = prices.split_first()?;
    change(*first, *rest.last()?)
}

fn troubles(frame: &Frame) -> Markup {
    let status = &frame.status;
    html! {
        @if let Some(why) = &status.joining {
            (notice(Tone::Warn, "This node has no account yet.", &short(why, 400)))
        }
        @for trouble in &status.troubles {
            @let tone = if trouble.kind.halts() { Tone::Bad } else { Tone::Warn };
            @let since = format!("Since {} UTC. {}", text::time(trouble.since_ms), trouble.hint);
            (notice(tone, &super::failure::sentence(&trouble.what), &since))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};

    #[test]
    fn a_page_of_hostile_words_has_no_markup_of_them() {
        let price = |price: &str| price.parse().unwrap();
        let overview = Overview {
            balance: Some(samples::balance()),
            jobs: vec![samples::job()],
            jobs_in_all: 1,
            prices: vec![Price {
                class: samples::price(HOSTILE),
                hour: vec![price("1"), price("2")],
            }],
            clearings: vec![samples::auction("boundary", 900, 1, Some("2"))],
        };
        let frame = samples::frame();
        let page = overview.render(&frame, &samples::who(Scope::Read));
        for (id, _) in overview.fragments(&frame) {
            let place = format!("id=\"{id}\" data-live=\"replace\"");
            assert_eq!(page.0.matches(&place).count(), 1, "{id}");
        }
        assert!(!page.0.contains("<script>alert"), "{}", page.0);
        // Name of the node, network, trouble, job, class, its line of prices, clearing.
        assert!(
            page.0.matches("&lt;script&gt;alert").count() >= 7,
            "{}",
            page.0
        );
        assert_eq!(exist(&page.0), 1);
    }
}
