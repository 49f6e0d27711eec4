//! What bids would have won of the last clearings.

use crate::api::Answer;
use crate::api::types::{BidAdvice, BidWish};
use crate::backend::NodeBackend;
use crate::web::command::command;
use crate::web::failure::block;
use crate::web::figures::{count, money};
use crate::web::parts::{Panel, cli, column, meter, table};
use maud::{Markup, html};

/// Percent of the clearings that the suggested bid would have won, as by `gridbay bid suggest`.
const CHANCE: u32 = 90;
/// Seconds of the bid, as by that command.
const SECONDS: u32 = 3_600;

/// The node's advice on a bid for one node.
pub(super) struct Odds {
    class: String,
    advice: Answer<BidAdvice>,
}

impl Odds {
    /// For a class.
    pub(super) async fn of(node: &NodeBackend, class: &str) -> Odds {
        let wish = BidWish {
            class: Some(class.to_owned()),
            nodes: 1,
            divisible: false,
            seconds: SECONDS,
            chance: CHANCE,
        };
        Odds {
            class: class.to_owned(),
            advice: node.suggest(wish).await,
        }
    }

    /// The panel.
    pub(super) fn panel(&self) -> Markup {
        let words = ["gridbay", "bid", "suggest", "--class", &self.class];
        let panel = Panel {
            id: "adv",
            title: "What to bid for 1 node",
            meta: Some(html! {
                "Each of the last " @if let Ok(advice) = &self.advice { (count(advice.clearings)) }
                " clearings with bids, cleared again with such a bid"
            }),
            body: self.body(),
            foot: Some(cli("cli-adv", &command(words))),
            ..Panel::default()
        };
        html! { (panel) }
    }

    fn body(&self) -> Markup {
        let advice = match &self.advice {
            Ok(advice) => advice,
            Err(error) => return html! { div.panel-body { (block(error)) } },
        };
        if advice.prices.is_empty() {
            let reserve = advice
                .reserve
                .map(|r| format!(" The offers ask {}.", money(r)));
            return html! {
                div.panel-body {
                    p.muted {
                        "No clearing to go by: none had bids yet, or too many to clear it again."
                        (reserve.unwrap_or_default())
                    }
                }
            };
        }
        // Prices that read alike are one row, of the highest of them.
        let shown = advice
            .prices
            .chunk_by(|a, b| money(a.price) == money(b.price));
        let rows = html! {
            @for row in shown.filter_map(<[_]>::last) {
                tr {
                    th.num scope="row" { (money(row.price)) }
                    td { (meter(row.won, &format!("Clearings won at {}", money(row.price)))) }
                }
            }
        };
        let columns = [
            column("Bid per node-hour", "num"),
            column("Clearings won", ""),
        ];
        table("What bids would have won", &columns, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{ApiError, ErrorCode};
    use crate::web::command::tests::exist;
    use crate::web::samples::HOSTILE;
    use serde_json::json;

    #[test]
    fn advice_and_its_lack() {
        let advice = |value| serde_json::from_value::<BidAdvice>(value).unwrap();
        let told = advice(json!({
            "class": "small", "nodes": 1, "seconds": 3_600, "clearings": 16, "reserve": "1",
            "price": "2", "won": 90, "most": "3", "prices": [
                {"price": "2.5", "won": 50}, {"price": "2.500001", "won": 75},
            ],
        }));
        let none = BidAdvice {
            prices: vec![],
            ..told.clone()
        };
        let error = ApiError::new(ErrorCode::Refused, HOSTILE, HOSTILE);
        for (advice, says) in [
            (Ok(told), "75 %"),
            (Ok(none), "The offers ask 1.00."),
            (Err(error), "&lt;script"),
        ] {
            let class = HOSTILE.to_owned();
            let page = Odds { class, advice }.panel().into_string();
            assert!(page.contains(says) && !page.contains("<script"), "{page}");
            assert!(!page.contains("50 %"), "{page}");
            assert_eq!(exist(&page), 1);
        }
    }
}
