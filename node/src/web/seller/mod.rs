//! What this node sells: its offers ([`offers`]), which a form sets ([`set`]) and a question
//! withdraws ([`withdraw`]), what they earned ([`earnings`]), and draining ([`drain`]).

pub(super) mod drain;
mod earnings;
mod offers;
pub(super) mod set;
pub(super) mod withdraw;

use super::failure::Shown;
use super::figures::{bytes, count, money};
use super::parts::{Fragment, Panel, cli, row_of_stats, stat};
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::Answer;
use crate::api::scope::Scope;
use crate::api::types::{Balance, NodeState, Offer};
use crate::backend::{Node, NodeBackend};
use crate::config::NodeLimits;
use axum::Extension;
use axum::extract::State;
use axum::response::Html;
pub(super) use earnings::Earned;
use earnings::Earnings;
use gridbay_protocol::units::Credits;
use maud::{Markup, html};
use std::sync::Arc;

/// What the page shows.
pub(super) struct Seller {
    /// Own ones.
    offers: Vec<Offer>,
    /// Names of the classes that an offer can be of.
    classes: Vec<String>,
    /// `None` until the account is open.
    balance: Option<Balance>,
    limits: NodeLimits,
}

/// The handler.
pub(super) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Extension(earned): Extension<Arc<Earned>>,
) -> Shown {
    let (frame, page) = (Frame::of(&node).await?, Seller::of(&node).await?);
    let earnings = earnings::of(&node, &earned, frame.status.height).await;
    Ok(Html(page.render(&earnings, &frame, &who).into_string()))
}

impl Seller {
    /// As things stand.
    pub(super) async fn of(node: &NodeBackend) -> Answer<Seller> {
        let mut offers = node.offers().await?;
        offers.retain(|offer| offer.own);
        let classes = node.prices().await?.into_iter().map(|price| price.class);
        Ok(Seller {
            offers,
            classes: classes.collect(),
            balance: node.balance(None).await.ok(),
            limits: node.parts.limits,
        })
    }

    /// The places that change.
    pub(super) fn fragments(&self, frame: &Frame) -> Vec<Fragment> {
        vec![
            ("stats", self.stats(frame)),
            ("offers", offers::table(&self.offers)),
        ]
    }

    fn render(&self, earnings: &Answer<Arc<Earnings>>, frame: &Frame, who: &Who) -> Markup {
        let sets = who.may(Scope::Operate).is_ok();
        let offers = Panel {
            id: "own",
            title: "Offers",
            meta: Some(html! {
                "Credits per node-hour"
            }),
            body: html! {
                div id="offers" data-live="replace" { (offers::table(&self.offers)) }
            },
            foot: Some(cli("cli-list", "gridbay offer list")),
            ..Panel::default()
        };
        let earned = Panel {
            id: "earn",
            title: "Earnings",
            meta: Some(html! { "Income by the hour, UTC, as in a statement" }),
            body: html! {
                div.panel-body { (earnings::shown(earnings)) }
            },
            foot: Some(cli("cli-earn", "gridbay ledger invoice --from 12h")),
            ..Panel::default()
        };
        let page = Page {
            here: "Seller",
            title: "Seller",
            lede: "What this node sells, at which prices, and what it earned.",
            actions: html! {},
            command: "gridbay offer list",
            events: "/events?page=seller",
            body: html! {
                (row_of_stats(self.stats(frame)))
                (offers)
                @if sets { (set::panel(&set::Fields::default(), &self.classes, who)) }
                div.cols.two.stretch {
                    (earned)
                    div.stack { (drain::panel(frame.status.state, sets)) (self.limits()) }
                }
            },
        };
        page.render(frame, who)
    }

    fn stats(&self, frame: &Frame) -> Markup {
        let status = &frame.status;
        let retained = self.balance.as_ref().map_or(Credits::ZERO, |b| b.retained);
        let staked = self.balance.as_ref().map_or(Credits::ZERO, |b| b.staked);
        let state = match status.state {
            NodeState::Draining => "draining: no new leases",
            NodeState::Ready => "takes leases",
            _ => "not ready",
        };
        let free = status.units_offered.saturating_sub(status.units_leased);
        html! {
            (stat("Units offered", &count(status.units_offered), "", state))
            (stat("Leased", &count(status.units_leased), "", &format!("{} free", count(free))))
            (stat("Jobs of others", &count(status.jobs_hosted), "", "run here now"))
            (stat("Retained", &money(retained), "", "credits, while buyers may complain"))
            (stat("Staked", &money(staked), "", "credits, on jobs by deadlines and contracts"))
        }
    }

    /// What jobs may take of this machine, which only its settings change.
    fn limits(&self) -> Markup {
        let limits = self.limits;
        let panel = Panel {
            id: "lim",
            title: "Limits",
            meta: Some(html! {
                "Of this machine’s disk. They are set in gridbay.toml and count from the next \
                 start on."
            }),
            body: html! {
                div.panel-body {
                    dl.kv {
                        dt { "One staged file" } dd { (bytes(limits.content)) }
                        dt { "All files kept" } dd { (bytes(limits.stored)) }
                        dt { "Output of a rank’s stream" } dd { (bytes(limits.output)) }
                        dt { "Hours of the day" } dd { "all, while an offer stands" }
                    }
                    p.muted {
                        "A node by itself keeps no hours: its offers stand until they are \
                         withdrawn or it drains. An appliance that this node owns has some:"
                    }
                    (cli("cli-hours", "gridbay appliance set NAME hours 22:00-06:00"))
                }
            },
            foot: Some(cli("cli-config", "gridbay config show")),
            ..Panel::default()
        };
        html! { (panel) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};
    use serde_json::json;

    /// An own offer with hostile words.
    pub(super) fn offer(label: u32) -> Offer {
        serde_json::from_value(json!({
            "offer": "44".repeat(32), "label": label, "account": "11".repeat(32), "own": true,
            "class": HOSTILE, "units": 4, "leased": 1, "reserve": "1.5", "buy": "9",
            "notice_seconds": 30, "mechanism": "ausubel", "on_sale": true, "withdrawn": false,
            "held_back": false,
        }))
        .unwrap()
    }

    fn page(scope: Scope) -> String {
        let seller = Seller {
            offers: vec![offer(1)],
            classes: vec![HOSTILE.to_owned()],
            balance: Some(samples::balance()),
            limits: NodeLimits {
                content: 1 << 20,
                stored: 1 << 30,
                output: 1 << 10,
            },
        };
        let frame = samples::frame();
        let earnings = Ok(Arc::new(Earnings::default()));
        let page = seller
            .render(&earnings, &frame, &samples::who(scope))
            .into_string();
        for (id, _) in seller.fragments(&frame) {
            let place = format!("id=\"{id}\" data-live=\"replace\"");
            assert_eq!(page.matches(&place).count(), 1, "{id}");
        }
        page
    }

    #[test]
    fn a_page_of_hostile_words_has_no_markup_of_them() {
        let page = page(Scope::Operate);
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        assert!(exist(&page) >= 5, "{page}");
        assert!(page.contains("/seller/set") && page.contains("/seller/offers/1/withdraw"));
    }

    #[test]
    fn only_an_operator_is_offered_changes() {
        let page = page(Scope::Trade);
        assert!(
            !page.contains("/seller/set") && !page.contains("/seller/drain"),
            "{page}"
        );
    }
}
