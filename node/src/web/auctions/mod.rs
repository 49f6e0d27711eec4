//! Auctions: the list of the last ones, and one of them ([`detail`]).

mod book;
mod clinch;
pub(super) mod detail;
mod verify;

use super::command::{address, command};
use super::failure::Shown;
use super::figures::{count, money, money_or_none, short};
use super::parts::{self, Panel, column, empty, leaf};
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::types::AuctionSummary;
use crate::auction::board::KEPT;
use crate::backend::Node;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Html;
use maud::{Markup, html};
use serde::Deserialize;

/// Auctions of one page.
const LINES: usize = 50;
/// Classes named at the most.
const CLASSES: usize = 24;

/// Which part of the list, and of which class; of all without one.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Part {
    #[serde(default)]
    page: usize,
    #[serde(default)]
    class: String,
}

/// The list.
pub(super) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Query(part): Query<Part>,
) -> Shown {
    let frame = Frame::of(&node).await?;
    let classes = node.prices().await?.into_iter().map(|price| price.class);
    let classes: Vec<String> = classes.take(CLASSES).collect();
    let named = Some(part.class.clone()).filter(|class| !class.is_empty());
    let page = part.page.min(KEPT / LINES);
    let lines = node.auctions(named, (page + 1) * LINES + 1).await?;
    let part = Part { page, ..part };
    let page = list(&lines, &classes, &part);
    Ok(Html(rendered(page, &part, &frame, &who)))
}

fn rendered(body: Markup, part: &Part, frame: &Frame, who: &Who) -> String {
    let of = ["--class", &part.class];
    let of = of.into_iter().filter(|_| !part.class.is_empty());
    let line = command(
        ["gridbay", "auction", "list", "--limit", "50"]
            .into_iter()
            .chain(of),
    );
    let page = Page {
        here: "Auctions",
        title: "Auctions",
        lede: "Who competed, who won, and what was paid: every one of them can be checked.",
        actions: html! {},
        command: &line,
        events: "/events?page=frame",
        body,
    };
    page.render(frame, who).into_string()
}

fn list(lines: &[AuctionSummary], classes: &[String], part: &Part) -> Markup {
    let from = part.page * LINES;
    let more = lines.len() > from + LINES;
    let shown = lines.get(from..).unwrap_or_default();
    let shown = shown.get(..LINES).unwrap_or(shown);
    let base = match part.class.as_str() {
        "" => "/auctions?page=".to_owned(),
        class => format!("{}&page=", address("/auctions", &[("class", class)])),
    };
    let body = match (from, shown) {
        (0, []) => empty(
            "Nothing was sold yet",
            "Each slot is sold in an auction that closes at its boundary.",
            None,
        ),
        (_, []) => empty(
            "There is no such page",
            "The node keeps the last auctions only.",
            None,
        ),
        (_, shown) => table(shown),
    };
    let panel = Panel {
        id: "all",
        title: "Last auctions",
        meta: Some(html! {
            "Newest first. A boundary sells the next slot; a free one, what is left of the running \
             slot."
        }),
        body,
        foot: (from > 0 || more).then(|| leaf(&base, part.page, more)),
        ..Panel::default()
    };
    html! {
        @if classes.len() > 1 {
            nav.tabs aria-label="Class" {
                a href="/auctions" aria-current=[part.class.is_empty().then_some("page")] { "All" }
                @for class in classes {
                    a href=(address("/auctions", &[("class", class)]))
                        aria-current=[(*class == part.class).then_some("page")] {
                        (short(class, 40))
                    }
                }
            }
        }
        (panel)
    }
}

/// The lines of auctions as a table.
pub(super) fn table(lines: &[AuctionSummary]) -> Markup {
    let rows = html! {
        @for line in lines {
            tr {
                th scope="row" {
                    a href={ "/auctions/" (line.id) } {
                        span.id { (line.id.get(..8).unwrap_or(&line.id)) }
                    }
                }
                td { (short(&line.class, 40)) }
                td.opt { (line.kind.name()) }
                td.num.opt { (count(line.slot)) }
                td.num.opt2 { (count(line.bids)) }
                td.num.opt2 { (count(line.winners)) }
                td.num { (count(line.sold)) span.faint.opt { " of " (count(line.units)) } }
                td.num.opt2 { (money(line.paid)) }
                td.num { (money_or_none(line.price)) }
            }
        }
    };
    let columns = [
        column("Auction", ""),
        column("Class", ""),
        column("Kind", "opt"),
        column("Slot", "num opt"),
        column("Bids", "num opt2"),
        column("Won", "num opt2"),
        column("Units sold", "num"),
        column("Paid", "num opt2"),
        column("Price/h", "num"),
    ];
    parts::table("Last auctions", &columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};

    fn page(count: u64, page: usize, class: &str) -> String {
        let lines: Vec<_> = (0..count)
            .map(|n| samples::auction("boundary", n, 1, Some("2")))
            .collect();
        let part = Part {
            page,
            class: class.to_owned(),
        };
        let classes = [HOSTILE.to_owned(), "large".to_owned()];
        let body = list(&lines, &classes, &part);
        rendered(body, &part, &samples::frame(), &samples::who(Scope::Read))
    }

    #[test]
    fn a_list_of_hostile_words_has_no_markup_of_them_and_pages() {
        let page = page(120, 1, HOSTILE);
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        assert_eq!(page.matches("<tr><th scope=\"row\">").count(), LINES);
        assert!(page.contains("page=0") && page.contains("page=2"), "{page}");
        assert_eq!(exist(&page), 1);
    }

    #[test]
    fn an_empty_list_and_one_beyond_the_end() {
        assert!(page(0, 0, "").contains("Nothing was sold yet"));
        assert!(page(3, 9, "").contains("There is no such page"));
    }
}
