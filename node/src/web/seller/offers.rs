//! Own offers as a table.

use crate::api::types::Offer;
use crate::web::figures::{count, money, money_or_none, short, sold_by};
use crate::web::parts::{Tone, column, empty, pill, table as tabled};
use maud::{Markup, html};

/// Offers shown at the most.
const OFFERS: usize = 60;

/// The table.
pub(super) fn table(offers: &[Offer]) -> Markup {
    if offers.is_empty() {
        let text = "An offer binds this node to deliver units of a class at a price. The form \
                    below makes one, as this command does:";
        let command = "gridbay offer set --class small --units 1 --reserve 1";
        return empty("Nothing is for sale", text, Some(("cli-set", command)));
    }
    let rows = html! {
        @for offer in offers.iter().take(OFFERS) { (row(offer)) }
    };
    let columns = [
        column("Class", ""),
        column("Units", "num"),
        column("Leased", "num opt"),
        column("Reserve/h", "num"),
        column("Buy now/h", "num opt"),
        column("Sold by", "opt2"),
        column("Notice", "opt2"),
        column("State", ""),
        column("", ""),
    ];
    let more = offers.len().saturating_sub(OFFERS);
    html! {
        (tabled("Own offers", &columns, rows))
        @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more offers." } } }
    }
}

fn row(offer: &Offer) -> Markup {
    let (tone, word) = state(offer);
    let notice = match offer.notice_seconds {
        None => "never taken back".to_owned(),
        Some(seconds) => format!("{} s", count(seconds)),
    };
    html! {
        tr {
            th scope="row" {
                (short(&offer.class, 40)) span.sub { "offer " (offer.label) }
            }
            td.num { (count(offer.units)) }
            td.num.opt { (count(offer.leased)) }
            td.num { (money(offer.reserve)) }
            td.num.opt { (money_or_none(offer.buy)) }
            td.opt2 { (sold_by(offer.mechanism.name())) }
            td.opt2 { (notice) }
            td { (pill(tone, word)) }
            td.num {
                @if !offer.withdrawn {
                    a.btn.small href={ "/seller/offers/" (offer.label) "/withdraw" } {
                        "Withdraw" span.sr { " offer " (offer.label) }
                    }
                }
            }
        }
    }
}

fn state(offer: &Offer) -> (Tone, &'static str) {
    match (offer.withdrawn, offer.on_sale) {
        _ if offer.held_back => (Tone::Warn, "Held back"),
        (true, _) => (Tone::Idle, "Withdrawn"),
        (false, true) => (Tone::Ok, "Open"),
        (false, false) => (Tone::Live, "Opens next round"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::command::tests::exist;
    use crate::web::seller::tests::offer;

    #[test]
    fn many_offers_are_counted_and_not_listed() {
        let offers: Vec<Offer> = (0..100).map(offer).collect();
        let page = table(&offers).into_string();
        assert_eq!(page.matches("<tr><th scope=\"row\">").count(), OFFERS);
        assert!(page.contains("40 more offers"), "{page}");
    }

    #[test]
    fn nothing_for_sale_says_how_to_begin() {
        assert_eq!(exist(&table(&[]).into_string()), 1);
    }

    #[test]
    fn a_withdrawn_offer_is_not_withdrawn_again() {
        let gone = Offer {
            withdrawn: true,
            ..offer(1)
        };
        assert!(!table(&[gone]).into_string().contains("/withdraw"));
    }
}
