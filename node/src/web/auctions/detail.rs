//! One auction: its outcome, its curves, its book, how it clinched, and its check.

use super::book::{Book, short_id};
use super::clinch::Clock;
use super::verify::Verdict;
use crate::api::Answer;
use crate::api::types::{AuctionProof, AuctionRecord, AuctionSummary};
use crate::backend::{Node, NodeBackend};
use crate::web::failure::{Shown, block};
use crate::web::figures::{count, counted, money, money_or_none, short};
use crate::web::market::curves::{self, Curves};
use crate::web::parts::{Panel, cli, row_of_stats, stat};
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::Html;
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::units::{Credits, MS_PER_HOUR};
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Own orders looked at for those in a book.
const OWN: usize = 200;

/// Whether to check it.
#[derive(Clone, Debug, Default, Deserialize)]
pub(in crate::web) struct How {
    #[serde(default)]
    verify: String,
}

/// What the page shows.
struct Detail {
    proof: AuctionProof,
    line: AuctionSummary,
    height_ms: u64,
    /// Beginnings of the ids of own orders.
    own: BTreeSet<String>,
    verdict: Option<Answer<Verdict>>,
}

/// The handler.
pub(in crate::web) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Path(id): Path<String>,
    Query(how): Query<How>,
) -> Shown {
    let frame = Frame::of(&node).await?;
    let page = Detail::of(&node, id, !how.verify.is_empty()).await?;
    Ok(Html(page.render(&frame, &who).into_string()))
}

impl Detail {
    async fn of(node: &NodeBackend, id: String, verify: bool) -> Answer<Detail> {
        let proof = node.auction(node.auction_meant(id).await?).await?;
        let policy = node.query(|core| core.state().policy().clone()).await?;
        let name = |_: &_| proof.class.clone();
        let line = AuctionSummary::of_auction(proof.record.auction(), &policy, name);
        let line = line.1;
        let (_, jobs) = node.some_jobs(true, 0, OWN).await?;
        let orders = jobs.iter().filter_map(|job| job.order);
        let verdict = match verify {
            true => Some(Verdict::of(node, &proof).await),
            false => None,
        };
        Ok(Detail {
            line: AuctionSummary {
                class: proof.class.clone(),
                ..line
            },
            proof,
            height_ms: policy.block_interval_ms,
            own: orders.map(|order| short_id(&order.to_hex())).collect(),
            verdict,
        })
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let (line, id) = (&self.line, short_id(&self.line.id));
        let class = short(&line.class, 60);
        let title = format!("Auction {id}");
        let lede = format!(
            "Class {class}, slot {}, {} at height {}.",
            count(line.slot),
            line.kind.name(),
            count(line.height)
        );
        let command = format!("gridbay auction verify {}", line.id);
        let page = Page {
            here: "Auctions",
            title: &title,
            lede: &lede,
            actions: html! { a.btn href={ "/auctions/" (line.id) "?verify=1" } { "Verify" } },
            command: &command,
            events: "/events?page=frame",
            body: html! {
                (row_of_stats(self.stats()))
                @match &self.proof.record {
                    AuctionRecord::Clearing(record) => (self.clearing(record)),
                    _ => { (self.verify()) (self.other()) }
                }
            },
        };
        page.render(frame, who)
    }

    fn stats(&self) -> Markup {
        let line = &self.line;
        html! {
            (stat("Sold", &count(line.sold), "", &format!("of {}", counted(line.units, "unit"))))
            (stat("Bids", &count(line.bids), "", &format!("{} won", count(line.winners))))
            (stat("Mean price", &money_or_none(line.price), "", "per node-hour"))
            (stat("Paid", &money(line.paid), "", "credits for the time sold"))
        }
    }

    fn verify(&self) -> Markup {
        let panel = Panel {
            id: "ver",
            title: "Verify",
            body: html! {
                div.panel-body {
                    @match &self.verdict {
                        Some(Ok(verdict)) => (verdict.shown()),
                        Some(Err(error)) => (block(error)),
                        None => {
                            p.muted {
                                "Whether the block is signed, the record is in it, and the \
                                 outcome follows from its bids and offers."
                            }
                            a.btn href={ "/auctions/" (self.line.id) "?verify=1" } { "Verify" }
                        }
                    }
                }
            },
            ..Panel::default()
        };
        html! { (panel) }
    }

    fn clearing(&self, record: &ClearingRecord) -> Markup {
        let ms = u128::from(record.heights.max(1)) * u128::from(self.height_ms.max(1));
        let hourly = move |price: u64| {
            let wide = u128::from(price) * u128::from(MS_PER_HOUR) / ms;
            Credits::from_wide(wide).unwrap_or(Credits::MAX)
        };
        let curves = Curves::from(record, &self.line, self.height_ms);
        let book = Book {
            record,
            hourly,
            own: &self.own,
        };
        let switch = record.policy.switch_cost.times(1);
        let rule = format!(
            "Rule {}, switch cost {}",
            record.policy.rule.name(),
            money_or_none(switch)
        );
        let meets = Panel {
            id: "sd",
            title: "Supply and demand",
            meta: Some(html! { "Credits per node-hour by units. " (rule) "." }),
            body: html! {
                div.panel-body { (curves::shown(&self.line.class, Some(&curves))) }
            },
            ..Panel::default()
        };
        let bids = Panel {
            id: "bids",
            title: "Bids",
            meta: Some(html! { "As they were opened, the dearest first" }),
            body: book.bids(),
            foot: Some(cli(
                "cli-show",
                &format!("gridbay auction show {}", self.line.id),
            )),
            ..Panel::default()
        };
        let offers = Panel {
            id: "offers",
            title: "Offers",
            body: book.offers(),
            ..Panel::default()
        };
        html! {
            div.cols.side.stretch { (meets) (self.verify()) }
            (clinching(record, hourly, &self.own))
            div.cols.two { (bids) (offers) }
        }
    }

    /// The record of a sale that is no clearing, as the command tells it.
    fn other(&self) -> Markup {
        let text = crate::cli::auction_text(&self.proof);
        let lines = text.lines().take(200);
        let panel = Panel {
            id: "record",
            title: "Record",
            body: html! {
                div.log.columns tabindex="0" role="group" aria-label="Record" {
                    @for line in lines { p { (short(line, 300)) } }
                }
            },
            foot: Some(cli(
                "cli-show",
                &format!("gridbay auction show {}", self.line.id),
            )),
            ..Panel::default()
        };
        html! { (panel) }
    }
}

fn clinching(
    record: &ClearingRecord,
    hourly: impl Fn(u64) -> Credits,
    own: &BTreeSet<String>,
) -> Markup {
    let clock = Clock::of(record);
    let panel = Panel {
        id: "cl",
        title: "Clinching, step by step",
        meta: Some(html! {
            "As the price rises, a unit becomes certain to be a bidder’s own when the others no \
             longer want enough to take it. It pays the price of that moment."
        }),
        body: html! {
            @match &clock {
                Some(clock) => (clock.table(hourly, own)),
                None => {
                    div.panel-body {
                        p.muted {
                            "The rising price does not explain this clearing: it has no bids or \
                             too many to read, bids for all or none, or equal prices that rank \
                             decided. Verify computes it by its rule."
                        }
                    }
                }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::api::types::Hex;
    use crate::auction::types::tests::{SMALL, empty, offer};
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};

    #[test]
    fn a_page_of_hostile_words_has_no_markup_of_them() {
        let hex = || Hex(Vec::new());
        let record = ClearingRecord {
            offers: vec![offer(4)],
            ..empty(SMALL, 8)
        };
        let detail = Detail {
            proof: AuctionProof {
                id: "0a".repeat(32),
                class: HOSTILE.to_owned(),
                record: AuctionRecord::Clearing(record),
                header: hex(),
                certificate: hex(),
                validators: hex(),
                proof: hex(),
            },
            line: samples::auction("boundary", 8, 0, None),
            height_ms: 1_000,
            own: BTreeSet::new(),
            verdict: None,
        };
        let page = detail
            .render(&samples::frame(), &samples::who(Scope::Read))
            .into_string();
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        assert!(page.contains("does not explain this clearing"), "{page}");
        assert_eq!(exist(&page), 2);
        let shown = detail.other().into_string();
        assert!(!shown.contains("<script") && exist(&shown) == 1, "{shown}");
    }
}
