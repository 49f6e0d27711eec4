//! What an order would cost each way, and what speaks against the one that is written.

use super::fields::Fields;
use super::terms::{Terms, WAYS};
use crate::api::types::{BidAdvice, BidWish, How, Prospect, Quote, Want};
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::web::failure::{block, sentence};
use crate::web::figures::{NONE, money, money_or_none, short};
use crate::web::parts::{Panel, Tone, cli, column, meter, notice, table};
use gridbay_protocol::units::Credits;
use maud::{Markup, html};

/// Percent of the clearings that a suggested bid would have won.
const CHANCE: u32 = 90;

/// The quotes of an order.
pub(super) struct Quotes {
    terms: Terms,
    /// What each mechanism would ask.
    prospects: Answer<Vec<Prospect>>,
    /// The cost of the order as it is written.
    quote: Answer<Quote>,
    /// For bids: what would have won.
    advice: Option<Answer<BidAdvice>>,
}

impl Quotes {
    /// As things stand.
    pub(super) async fn of(node: &NodeBackend, terms: &Terms) -> Quotes {
        let want = &terms.want;
        let advice = match want.how {
            How::Ausubel(_) => {
                let wish = BidWish {
                    class: want.class.clone(),
                    nodes: want.nodes,
                    divisible: want.how.is_divisible(),
                    seconds: want.seconds,
                    chance: CHANCE,
                };
                Some(node.suggest(wish).await)
            }
            _ => None,
        };
        Quotes {
            prospects: node.prospects(terms.wish()).await,
            quote: node.quote(want.clone()).await,
            terms: terms.clone(),
            advice,
        }
    }

    /// Writes what is told into the form, for the order to keep to it.
    pub(super) fn tell(&self, fields: &mut Fields) {
        let told = |amount: fn(&Quote) -> Credits| match &self.quote {
            Ok(quote) => amount(quote).to_string(),
            Err(_) => String::new(),
        };
        fields.told_class.clone_from(&self.terms.class.class);
        fields.told_price = told(|quote| quote.max_price);
        fields.told_most = told(|quote| quote.most);
        fields.mark = fields.own_mark();
    }

    /// Whether the order may be sent as it is.
    pub(super) fn can_be_sent(&self) -> bool {
        let quote = self.quote.as_ref();
        quote.is_ok_and(|quote| hopeless(&self.terms.want, quote).is_none())
    }

    /// Whether the bid is below what enough sellers ask: it may be sent, and wins nothing now.
    pub(super) fn is_too_low(&self) -> bool {
        let quote = self.quote.as_ref();
        quote.is_ok_and(|quote| too_low(&self.terms.want, quote).is_some())
    }

    /// The table of ways, whose rows choose one in the form of this id.
    pub(super) fn panel(&self) -> Markup {
        let panel = Panel {
            id: "how",
            title: "How to get it",
            meta: Some(html! {
                (crate::cli::text::nodes(self.terms.want.nodes)) " of class "
                (short(&self.terms.class.class, 40)) " for "
                (crate::cli::text::span(u64::from(self.terms.want.seconds) * 1_000))
                ", credits for all of it"
            }),
            body: match &self.prospects {
                Ok(prospects) => ways(prospects, self.terms.want.how.name()),
                Err(error) => html! { div.panel-body { (block(error)) } },
            },
            foot: Some(cli("cli-quote", &self.terms.quote_command())),
            ..Panel::default()
        };
        html! { (panel) }
    }

    /// The cost of the order that is written, and what speaks against it.
    pub(super) fn cost(&self) -> Markup {
        let quote = match &self.quote {
            Ok(quote) => quote,
            Err(error) => return block(error),
        };
        let want = &self.terms.want;
        let against = hopeless(want, quote);
        html! {
            dl.kv.sums {
                dt { "Likely" } dd { (money_or_none(quote.likely)) }
                dt { "At most" } dd { strong { (money(quote.most)) } }
                dt { "Needed now" } dd { (money(quote.needed_now)) }
                dt { "Can be spent" } dd { (money(quote.spendable)) }
                dt { "Limit per node-hour" } dd { (money(quote.max_price)) }
            }
            @match &against {
                Some(error) => (block(error)),
                None => {
                    @if let Some(why) = too_low(want, quote) { (why) }
                    @if let Some(Ok(advice)) = &self.advice { (suggested(advice)) }
                }
            }
        }
    }
}

/// Why an order comes to nothing as it is, as `gridbay run` judges.
pub(in crate::web) fn hopeless(want: &Want, quote: &Quote) -> Option<ApiError> {
    if !quote.funded {
        let why = format!(
            "it can cost {} credits, {} can be spent",
            money(quote.most),
            money(quote.spendable)
        );
        let next = "lower the budget, the price, the time or the nodes";
        return Some(ApiError::new(ErrorCode::Refused, why, next));
    }
    let (why, next) = want.how.way().hopeless(quote).filter(|_| !quote.too_low)?;
    Some(ApiError::new(ErrorCode::NoMatch, why, next))
}

/// The warning of a bid that offers less than sellers ask, in the words of `gridbay run`. That
/// command asks for `--anyway`: the bid may be sent, for sellers may come to ask less.
fn too_low(want: &Want, quote: &Quote) -> Option<Markup> {
    let (why, _) = want.how.way().hopeless(quote).filter(|_| quote.too_low)?;
    let next = "As things stand it wins nothing, and waits for a lower price. Raise what it may \
                pay, or send it all the same.";
    Some(notice(Tone::Warn, &sentence(&why), next))
}

fn suggested(advice: &BidAdvice) -> Markup {
    let Some((price, won)) = advice.price.zip(advice.won) else {
        return html! {};
    };
    html! {
        p.muted {
            (money(price)) " per node-hour would have won " (won) " % of the last "
            (advice.clearings) " clearings with bids. A winner pays what its presence costs the \
            others, never more than its bid: bid what it is worth to you."
        }
    }
}

fn ways(prospects: &[Prospect], chosen: &str) -> Markup {
    let rows = html! {
        @for prospect in prospects.iter().take(12) { (way(prospect, chosen)) }
    };
    let columns = [
        column("Way to buy", ""),
        column("Likely", "num"),
        column("At most", "num"),
        column("Filled", "opt"),
    ];
    html! { div.pick { (table("Quotes by way to buy", &columns, rows)) } }
}

fn way(prospect: &Prospect, chosen: &str) -> Markup {
    let own = WAYS.iter().find(|(name, ..)| *name == prospect.mechanism);
    let (name, about) = match own {
        Some((_, word, about)) => ((*word).to_owned(), *about),
        None => {
            let name = sentence(&short(&prospect.mechanism, 24));
            (name.trim_end_matches('.').to_owned(), "")
        }
    };
    let odds = prospect.odds;
    html! {
        tr {
            td.wrap {
                label {
                    @if own.is_some() {
                        input type="radio" name="how" value=(prospect.mechanism)
                            checked[prospect.mechanism == chosen];
                    } @else {
                        span {}
                    }
                    strong { (name) }
                    span.sub {
                        @if !about.is_empty() { (about) " " }
                        (sentence(&short(&prospect.note, 240)))
                        @if own.is_none() && prospect.most.is_some() {
                            " By command only: " code {
                                "gridbay run " (short(&prospect.options, 160))
                            }
                        }
                    }
                }
            }
            td.num { (money_or_none(prospect.likely)) }
            td.num { (money_or_none(prospect.most)) }
            td.opt {
                @match odds {
                    Some(odds) => (meter(odds, &format!("{name}: how likely it is filled"))),
                    None => span.faint { (NONE) },
                }
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::web::samples::{HOSTILE, price};
    use crate::web::submit::terms::tests::fields;
    use serde_json::json;

    /// Quotes with hostile words.
    pub(in crate::web::submit) fn of(max_price: &str, funded: bool) -> Quotes {
        let mut terms = Terms::of(&fields(), &[price("small")]).unwrap();
        terms.class.class = HOSTILE.to_owned();
        let quote = json!({
            "class": HOSTILE, "nodes": 2, "seconds": 5_400, "slots": 3, "max_price": max_price,
            "most": "20", "likely": "9", "posted": null, "needed_now": "1", "spendable": "100",
            "funded": funded, "units_offered": 9, "units_free": 5, "deadline": null,
            "asked": "3", "too_low": max_price.parse::<f64>().unwrap() < 3.0,
        });
        let advice = json!({
            "class": HOSTILE, "nodes": 2, "seconds": 5_400, "clearings": 16, "reserve": "3",
            "price": "4", "won": 91, "most": "9", "prices": [],
        });
        let prospect = |name: &str| {
            json!({
                "mechanism": name, "likely": "1", "most": "2", "odds": 50, "note": HOSTILE,
                "options": HOSTILE,
            })
        };
        Quotes {
            terms,
            prospects: serde_json::from_value(json!([prospect("ausubel"), prospect("share")]))
                .map_err(|_| ApiError::new(ErrorCode::Internal, "a sample", "")),
            quote: Ok(serde_json::from_value(quote).unwrap()),
            advice: Some(Ok(serde_json::from_value(advice).unwrap())),
        }
    }

    #[test]
    fn ways_stand_side_by_side_and_the_form_chooses_among_its_own() {
        let page = of("5", true).panel().into_string();
        assert_eq!(page.matches("type=\"radio\"").count(), 1, "{page}");
        assert!(page.contains("value=\"ausubel\" checked"), "{page}");
        assert!(page.contains("By command only"), "{page}");
        assert!(
            !page.contains("<script") && page.contains("&lt;script"),
            "{page}"
        );
    }

    #[test]
    fn a_bid_that_cannot_win_is_told_before_it_is_sent() {
        let low = of("2.5", true);
        let told = low.cost().into_string();
        let why = "Sellers ask at least 3 per node-hour, and its limit is 2.5.";
        assert!(
            told.contains(why) && told.contains("wins nothing"),
            "{told}"
        );
        assert!(low.can_be_sent(), "sellers may ask less later");
        assert!(low.is_too_low() && !of("3", true).is_too_low());
        let enough = of("3", true).cost().into_string();
        assert!(
            !enough.contains("wins nothing") && enough.contains("91 %"),
            "{enough}"
        );
        let poor = of("5", false);
        assert!(poor.cost().into_string().contains("100.00 can be spent"));
        assert!(!poor.can_be_sent());
    }

    #[test]
    fn the_form_keeps_what_was_told() {
        let mut fields = fields();
        of("5", true).tell(&mut fields);
        assert_eq!(
            (fields.told_price.as_str(), fields.told_most.as_str()),
            ("5", "20")
        );
        assert!(fields.is_as_checked());
    }
}
