//! Who could run an order, or why nobody could.

use super::terms::Terms;
use crate::api::Answer;
use crate::api::types::FindReport;
use crate::backend::NodeBackend;
use crate::web::command::address;
use crate::web::failure::block;
use crate::web::figures::{count, short};
use crate::web::parts::{Panel, column, table};
use crate::web::sought::sought;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Sellers' nodes with units of the class.
pub(super) struct Sellers {
    query: String,
    wanted: u32,
    report: Answer<FindReport>,
}

impl Sellers {
    /// For an order.
    pub(super) async fn of(node: &NodeBackend, terms: &Terms) -> Sellers {
        let query = query(terms);
        Sellers {
            report: sought(node, &query).await,
            query,
            wanted: terms.want.nodes,
        }
    }

    /// The panel.
    pub(super) fn panel(&self) -> Markup {
        let panel = Panel {
            id: "scr",
            title: "Who could run it",
            body: match &self.report {
                Ok(report) => self.told(report),
                Err(error) => html! { div.panel-body { (block(error)) } },
            },
            foot: Some(html! {
                a href=(address("/market", &[("q", &self.query)])) { "Show them on the market" }
            }),
            ..Panel::default()
        };
        html! { (panel) }
    }

    fn told(&self, report: &FindReport) -> Markup {
        let sellers: BTreeSet<_> = report.nodes.iter().map(|node| node.seller).collect();
        let offers = report.nodes.iter().flat_map(|node| &node.offers);
        let free: u64 = offers.map(|offer| u64::from(offer.free)).sum();
        html! {
            div.panel-body {
                p {
                    span.big { (count(sellers.len() as u64)) } " "
                    span.muted {
                        (if sellers.len() == 1 { "seller has" } else { "sellers have" })
                        " units of it, with " strong { (count(free)) } " free now; "
                        (count(self.wanted)) " wanted."
                    }
                }
                @if sellers.is_empty() { p { (nobody(report)) } }
            }
            (steps(report))
        }
    }
}

/// The offers that an order of these terms could get.
fn query(terms: &Terms) -> String {
    let class = &terms.class.class;
    match class.contains(['"', '\\', '*']) {
        true => String::new(),
        false => format!("class == \"{class}\""),
    }
}

/// Why there is no seller.
fn nobody(report: &FindReport) -> String {
    match report.known {
        0 => "No seller is known here yet: their adverts come with the next blocks, or there is \
              none."
            .to_owned(),
        known => format!(
            "Of {} known nodes none offers this class now. Choose another class, or come back \
             later.",
            count(known)
        ),
    }
}

fn steps(report: &FindReport) -> Markup {
    if report.steps.is_empty() {
        return html! {};
    }
    let rows = html! {
        tr { th scope="row" { "Nodes known" } td.num { (count(report.known)) } }
        @for step in report.steps.iter().take(8) {
            tr {
                th.wrap scope="row" {
                    code { (short(&step.condition, 120)) }
                    @if step.alone > 0 { span.sub { "alone removes " (count(step.alone)) } }
                }
                td.num { (count(step.left)) }
            }
        }
    };
    let columns = [column("Condition", ""), column("Nodes left", "num")];
    table("What each condition leaves", &columns, rows)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::web::samples;

    /// A report of hostile sellers.
    pub(in crate::web::submit) fn of(nodes: usize) -> Sellers {
        Sellers {
            query: samples::HOSTILE.to_owned(),
            wanted: 2,
            report: Ok(samples::found(nodes)),
        }
    }

    #[test]
    fn sellers_are_counted_once_and_nobody_is_explained() {
        let page = of(3).panel().into_string();
        assert!(page.contains("<span class=\"big\">1</span>"), "{page}");
        assert!(
            page.contains("<strong>9</strong> free now; 2 wanted"),
            "{page}"
        );
        let none = of(0).panel().into_string();
        assert!(none.contains("Of 1 known nodes none offers"), "{none}");
        assert!(
            !none.contains("<script") && none.contains("&lt;script"),
            "{none}"
        );
    }
}
