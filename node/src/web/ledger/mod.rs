//! The account's money: what it has and owes, every movement of it ([`statement`]), also as a file
//! ([`csv`]) and with its proof ([`proof`]), and a transfer ([`transfer`]).

pub(super) mod csv;
pub(super) mod proof;
mod statement;
pub(super) mod transfer;

use super::failure::Shown;
use super::figures::{count, money, signed};
use super::parts::{Fragment, Panel, cli, leaf, row_of_stats, stat};
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::Answer;
use crate::api::scope::Scope;
use crate::api::types::{Balance, Moved};
use crate::backend::{Node, NodeBackend};
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Html;
use gridbay_protocol::units::Credits;
use maud::{Markup, html};
use serde::Deserialize;

/// Movements of one page.
const LINES: usize = 50;
/// Movements told at the most, on all pages together; the file has all.
const MOST: usize = 1_000;

/// Which part of the statement.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Part {
    #[serde(default)]
    page: usize,
}

/// What the page shows.
struct Ledger {
    balance: Balance,
    /// The newest movements, up to the last of this page and one more if there is one.
    movements: Vec<Moved>,
    page: usize,
}

/// The handler.
pub(super) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Query(Part { page }): Query<Part>,
) -> Shown {
    let (frame, page) = (Frame::of(&node).await?, Ledger::of(&node, page).await?);
    Ok(Html(page.render(&frame, &who).into_string()))
}

/// The places that change. The statement, for which blocks are read, does not.
pub(super) async fn fragments(node: &NodeBackend) -> Answer<Vec<Fragment>> {
    let own = node.balance(None).await?;
    Ok(vec![("stats", stats(&own))])
}

impl Ledger {
    /// As things stand.
    async fn of(node: &NodeBackend, page: usize) -> Answer<Ledger> {
        let page = page.min(MOST / LINES - 1);
        let upto = (page + 1) * LINES;
        let balance = node.balance(None).await?;
        let movements = node.latest(None, upto + 1).await?;
        Ok(Ledger {
            balance,
            movements,
            page,
        })
    }

    /// The end of the pages, where the past goes on.
    fn end(&self) -> Option<Markup> {
        (self.movements.len() > MOST).then(|| {
            html! {
                p.muted {
                    "These are the last " (count(MOST as u64)) " movements. All of them are in the "
                    a href="/ledger.csv" { "file" } ", as this command writes it:"
                }
                (cli("cli-all", "gridbay ledger statement -o csv"))
            }
        })
    }

    fn statement(&self) -> Markup {
        statement::table(&self.movements, self.page * LINES, LINES)
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let upto = (self.page + 1) * LINES;
        let more = upto < MOST && self.movements.len() > upto;
        let statement = Panel {
            id: "history",
            title: "Statement",
            meta: Some(html! {
                "Newest first, UTC. After is the free balance after the movement. A height leads \
                 to the proof of what moved in that block, for anybody who has the genesis."
            }),
            more: Some(html! { a.more href="/ledger.csv" { "CSV" } }),
            body: self.statement(),
            foot: Some(html! {
                (cli("cli-history", "gridbay ledger history --limit 50"))
                @if let Some(first) = self.movements.first() {
                    (cli("cli-check", &format!(
                        "gridbay ledger check {}", proof::name(first.movement.height))))
                }
                @if let Some(end) = self.end() { (end) }
                (leaf("/ledger?page=", self.page, more))
            }),
        };
        let page = Page {
            here: "Ledger",
            title: "Ledger",
            lede: "What this node’s account has and owes, and every movement of its money.",
            actions: html! {},
            command: "gridbay ledger balance",
            events: "/events?page=ledger",
            body: html! {
                (row_of_stats(stats(&self.balance)))
                @if who.may(Scope::Admin).is_ok() { (transfer::panel(who)) }
                (statement)
                (self.account())
            },
        };
        page.render(frame, who)
    }

    fn account(&self) -> Markup {
        let (own, entries) = (&self.balance, &self.balance.entries);
        let bytes = crate::web::figures::bytes;
        let panel = Panel {
            id: "account",
            title: "Account",
            meta: Some(html! { "At height " (count(own.height)) " when this page was made" }),
            body: html! {
                div.panel-body {
                    dl.kv.left {
                        dt { "Account" } dd { code { (own.account.to_hex()) } }
                        dt { "Can be spent" } dd { (money(own.spendable())) }
                        dt { "Entries this epoch" }
                        dd { (count(entries.spent)) " of " (count(entries.budget)) }
                        dt { "Bytes of them" }
                        dd { (bytes(entries.spent_bytes)) " of " (bytes(entries.budget_bytes)) }
                    }
                    p.muted {
                        "Every block is signed by more than two thirds of the validators’ power. \
                         This command checks that from the genesis on, without trusting this node:"
                    }
                    (cli("cli-verify", "gridbay ledger verify"))
                }
            },
            ..Panel::default()
        };
        html! { (panel) }
    }
}

fn stats(own: &Balance) -> Markup {
    let line = match own.credit_line {
        Credits::ZERO => "credits, no credit line".to_owned(),
        line => format!("credits, and a credit line of {}", money(line)),
    };
    html! {
        (stat("Free", &signed(own.balance), "", &line))
        (stat("Held for orders", &money(own.held), "", "paid or given back"))
        (stat("In use", &money(own.in_use), "", "paid for the running slot"))
        (stat("Staked", &money(own.staked), "", "lost as far as what it backs fails"))
        (stat("Retained", &money(own.retained), "", "earned, while buyers may complain"))
        @if own.arrears > Credits::ZERO {
            (stat("Tax in arrears", &money(own.arrears), "", "taken as money comes in"))
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};
    use serde_json::json;

    /// Movements of one credit or half of one each, the first at this height.
    pub(super) fn movements(count: u64, height: u64) -> Vec<Moved> {
        let one = |n: u64| {
            json!({
                "height": height - n, "time_ms": 1_000 * (height - n),
                "amount": if n.is_multiple_of(2) { "1" } else { "-0.5" }, "reason": "transfer",
                "other": format!("class {HOSTILE}"), "order": "66".repeat(32),
                "balance": "12.5",
            })
        };
        let all: Vec<_> = (0..count).map(one).collect();
        serde_json::from_value(json!(all)).unwrap()
    }

    fn ledger(count: u64, page: usize) -> Ledger {
        Ledger {
            balance: samples::balance(),
            movements: movements(count, 1_000),
            page,
        }
    }

    #[test]
    fn a_page_of_hostile_words_has_no_markup_of_them() {
        let ledger = ledger(51, 0);
        let page = ledger
            .render(&samples::frame(), &samples::who(Scope::Admin))
            .into_string();
        assert!(
            page.contains("id=\"stats\" data-live=\"replace\""),
            "{page}"
        );
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        assert!(
            page.contains("/ledger?page=1") && page.contains("name=\"to\""),
            "{page}"
        );
        assert!(page.contains("href=\"/ledger/proof/1000.json\""), "{page}");
        assert_eq!(exist(&page), 4);
    }

    #[test]
    fn the_last_page_tells_where_older_movements_are() {
        let last = MOST / LINES - 1;
        let page = |count: usize| {
            let mut ledger = ledger(0, last);
            ledger.movements = movements(count as u64, 9_000);
            let page = ledger.render(&samples::frame(), &samples::who(Scope::Trade));
            page.into_string()
        };
        let whole = page(MOST);
        assert!(!whole.contains("gridbay ledger statement"), "{whole}");
        let older = page(MOST + 1);
        assert!(older.contains("the last 1,000 movements"), "{older}");
        assert!(older.contains("gridbay ledger statement -o csv"), "{older}");
        assert!(!older.contains(&format!("/ledger?page={}", last + 1)));
        assert_eq!(exist(&older), 5);
    }

    #[test]
    fn a_statement_has_pages_and_the_last_no_next() {
        let page = ledger(70, 1).render(&samples::frame(), &samples::who(Scope::Trade));
        assert_eq!(page.0.matches("transfer</td>").count(), 20);
        assert!(page.0.contains("/ledger?page=0") && !page.0.contains("/ledger?page=2"));
        assert!(!page.0.contains("name=\"to\""), "transfers are for admins");
        let beyond = ledger(70, 9).statement().into_string();
        assert!(beyond.contains("no such page"), "{beyond}");
    }
}
