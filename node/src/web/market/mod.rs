//! What is for sale, what it cost ([`prices`]), what met in the last clearing ([`curves`]), which
//! sellers fit a query ([`offers`]), and what bids would have won ([`odds`]).

pub(super) mod curves;
mod odds;
mod offers;
mod prices;

use super::clock::Clock;
use super::command::address;
use super::failure::Shown;
use super::figures::{count, left, money_or_none, short};
use super::parts::{Fragment, Panel, cli, empty, row_of_stats, stat};
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::Answer;
use crate::api::types::ClassPrice;
use crate::auction::board::KEPT;
use crate::backend::at_height::AtHeight;
use crate::backend::{Node, NodeBackend};
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Html;
use curves::Curves;
use gridbay_protocol::units::MS_PER_HOUR;
use maud::{Markup, html};
use odds::Odds;
use offers::Found;
use prices::History;
use serde::Deserialize;
use std::sync::Arc;

/// Classes named at the most.
const CLASSES: usize = 24;

/// Of which class, over which time, and which sellers.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Of {
    /// The network's first class if it names none.
    #[serde(default)]
    pub(super) class: String,
    /// [`DAY`] for a day, else an hour.
    #[serde(default)]
    pub(super) span: String,
    /// Query; all offers of the class without one.
    pub(super) q: Option<String>,
}

/// The span of a day.
const DAY: &str = "1d";

impl Of {
    fn span_ms(&self) -> u64 {
        match self.span.as_str() {
            DAY => 24 * MS_PER_HOUR,
            _ => MS_PER_HOUR,
        }
    }
}

/// What the page shows of a class as it changes.
pub(super) struct Market {
    of: Of,
    classes: Vec<String>,
    /// `None` in a network without classes.
    class: Option<Arc<OfClass>>,
    clock: Clock,
}

/// A class over some time, as it is at one height.
pub(super) struct OfClass {
    price: ClassPrice,
    history: History,
    curves: Option<Curves>,
}

/// Classes that were looked at, by their names and the milliseconds shown.
pub(super) type Seen = AtHeight<(String, u64), OfClass>;

/// The handler.
pub(super) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Extension(seen): Extension<Arc<Seen>>,
    Query(of): Query<Of>,
) -> Shown {
    let frame = Frame::of(&node).await?;
    let page = Market::of(&node, &seen, of, &frame).await?;
    let found = Found::of(&node, page.query()).await;
    let odds = match &page.class {
        Some(class) => Some(Odds::of(&node, &class.price.class).await),
        None => None,
    };
    let shown = page.render(&found, odds.as_ref(), &frame, &who);
    Ok(Html(shown.into_string()))
}

impl Market {
    /// As things stand.
    pub(super) async fn of(
        node: &NodeBackend,
        seen: &Seen,
        of: Of,
        frame: &Frame,
    ) -> Answer<Market> {
        let (clock, height) = (frame.clock()?, frame.status.height);
        let prices = node.prices().await?;
        let classes = prices.iter().take(CLASSES).map(|p| p.class.clone());
        let classes = classes.collect();
        let named = prices.iter().find(|price| price.class == of.class);
        let class = match named.or(prices.first()) {
            None => None,
            Some(price) => {
                let key = (price.class.clone(), of.span_ms());
                Some(match seen.get(height, &key) {
                    Some(class) => class,
                    None => {
                        let class = OfClass::of(node, price, of.span_ms(), &clock).await?;
                        seen.put(height, key, class)
                    }
                })
            }
        };
        Ok(Market {
            of,
            classes,
            class,
            clock,
        })
    }

    /// The places that change.
    pub(super) fn fragments(&self) -> Vec<Fragment> {
        let Some(class) = &self.class else {
            return Vec::new();
        };
        vec![
            ("stats", class.stats(&self.clock)),
            ("price", class.history.shown(class)),
            (
                "curves",
                curves::shown(&class.price.class, class.curves.as_ref()),
            ),
        ]
    }

    /// The query asked, or that for all of the class.
    fn query(&self) -> String {
        let class = self.class.as_ref().map_or("", |c| c.price.class.as_str());
        let plain = !class.is_empty() && !class.contains(['"', '\\', '*']);
        let all = || format!("class == \"{class}\"");
        let own = || if plain { all() } else { String::new() };
        self.of.q.clone().unwrap_or_else(own)
    }

    fn render(&self, found: &Found, odds: Option<&Odds>, frame: &Frame, who: &Who) -> Markup {
        let class = self.class.as_ref().map_or("", |c| c.price.class.as_str());
        let page = Page {
            here: "Market",
            title: "Market",
            lede: "What is for sale, what it cost, and what it takes to win.",
            actions: html! {},
            command: "gridbay market prices",
            events: &address(
                "/events",
                &[
                    ("page", "market"),
                    ("class", class),
                    ("span", &self.of.span),
                ],
            ),
            body: html! {
                (self.tabs(class))
                @match &self.class {
                    None => (empty("There are no classes", "This network has none to sell.", None)),
                    Some(of) => {
                        (row_of_stats(of.stats(&self.clock)))
                        div.cols.two.stretch {
                            (of.history.panel(of, &self.of.span))
                            (of.curves_panel())
                        }
                    }
                }
                (found.panel(class))
                @if found.is_explained() || odds.is_some() {
                    div.cols.two.stretch {
                        (found.why_panel(class))
                        @if let Some(odds) = odds { (odds.panel()) }
                    }
                }
            },
        };
        page.render(frame, who)
    }

    fn tabs(&self, here: &str) -> Markup {
        html! {
            @if self.classes.len() > 1 {
                nav.tabs aria-label="Class" {
                    @for class in &self.classes {
                        @let to = address("/market", &[("class", class), ("span", &self.of.span)]);
                        a href=(to) aria-current=[(class == here).then_some("page")] {
                            (short(class, 40))
                        }
                    }
                }
            }
        }
    }
}

impl OfClass {
    async fn of(
        node: &NodeBackend,
        price: &ClassPrice,
        span_ms: u64,
        clock: &Clock,
    ) -> Answer<OfClass> {
        let lines = node.auctions(Some(price.class.clone()), KEPT).await?;
        let wanted = node.board.wanted(&price.id);
        let curves = wanted.map(|last| Curves::from(&last.0, &last.1, clock.height_ms));
        Ok(OfClass {
            history: History::of(node, &lines, span_ms / clock.height_ms.max(1)).await,
            curves,
            price: price.clone(),
        })
    }

    fn stats(&self, clock: &Clock) -> Markup {
        let price = &self.price;
        let free = price.units_offered.saturating_sub(price.units_leased);
        let offered = format!("{} free, {} leased", count(free), count(price.units_leased));
        let moved = match self.history.moved() {
            Some(moved) => format!("per node-hour, {moved} in this time"),
            None => "per node-hour, mean of a clearing".to_owned(),
        };
        let asked = match price.buy {
            Some(_) => "per node-hour, starts at once",
            None => "nobody offers that",
        };
        let next = left(clock.left_ms);
        html! {
            (stat("Last price", &money_or_none(price.last), "", &moved))
            (stat("Lowest reserve", &money_or_none(price.reserve), "", "per node-hour"))
            (stat("Offered", &count(price.units_offered), "units", &offered))
            (stat("Buy now from", &money_or_none(price.buy), "", asked))
            (stat("Waiting", &count(price.waiting), "orders", "outbid, and standing"))
            div.stat {
                dt { "Next close" }
                dd { span.count data-countdown=(clock.left_ms.div_ceil(1_000)) { (next) } }
                dd.note { "of slot " (count(clock.slot)) ", at the earliest" }
            }
        }
    }

    fn curves_panel(&self) -> Markup {
        let id = self.curves.as_ref().map(Curves::short_id);
        let panel = Panel {
            id: "sd",
            title: "Supply and demand",
            meta: Some(html! { "Last clearing with bids: credits per node-hour by units" }),
            body: html! {
                div.panel-body id="curves" data-live="replace" {
                    (curves::shown(&self.price.class, self.curves.as_ref()))
                }
            },
            more: id.map(|id| html! { a.more href={ "/auctions/" (id) } { "The auction" } }),
            foot: id.map(|id| cli("cli-show", &format!("gridbay auction show {id}"))),
        };
        html! { (panel) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};

    /// A class with nothing but its name and price.
    fn of_class(name: &str) -> OfClass {
        OfClass {
            price: samples::price(name),
            history: History::default(),
            curves: None,
        }
    }

    fn market(class: Option<OfClass>, q: Option<&str>) -> Market {
        let classes = class.iter().map(|of| of.price.class.clone());
        let of = Of {
            span: HOSTILE.to_owned(),
            q: q.map(str::to_owned),
            ..Of::default()
        };
        Market {
            of,
            classes: classes.chain(["large".to_owned()]).collect(),
            class: class.map(Arc::new),
            clock: samples::frame().clock.unwrap(),
        }
    }

    #[test]
    fn a_page_of_hostile_words_has_no_markup_of_them() {
        let market = market(Some(of_class(HOSTILE)), None);
        let found = offers::tests::of(Ok(samples::found(2)));
        let page = market.render(&found, None, &samples::frame(), &samples::who(Scope::Read));
        for (id, _) in market.fragments() {
            let place = format!("id=\"{id}\" data-live=\"replace\"");
            assert_eq!(page.0.matches(&place).count(), 1, "{id}");
        }
        assert!(!page.0.contains("<script>alert") && page.0.contains("&lt;script&gt;alert"));
        assert_eq!(exist(&page.0), 3, "of the page, the prices and the query");
    }

    #[test]
    fn a_network_without_classes_has_a_page() {
        let market = market(None, None);
        let found = offers::tests::of(Ok(samples::found(0)));
        let page = market.render(&found, None, &samples::frame(), &samples::who(Scope::Read));
        assert!(page.0.contains("There are no classes") && market.fragments().is_empty());
    }

    #[test]
    fn without_a_query_all_of_the_class_is_shown() {
        let query = |name, q| market(Some(of_class(name)), q).query();
        assert_eq!(query("small", None), "class == \"small\"");
        assert_eq!(query("small", Some("")), "", "any node, if that is asked");
        assert_eq!(query("a\"b", None), "", "no name that ends the text");
        assert_eq!(market(None, None).query(), "");
    }
}
