//! The book of a clearing: its bids with what they won, its offers with what they sold.

use crate::web::figures::{NONE, count, money, money_or_none};
use crate::web::parts::{column, table};
use gridbay_protocol::record::ausubel::{ClearingBid, ClearingOffer, ClearingRecord};
use gridbay_protocol::units::Credits;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Bids, and offers, shown at the most; the dearest bids and the cheapest offers come first.
const LINES: usize = 25;

/// Of a record; `hourly` turns a price for the time sold into one for an hour, `own` tells the
/// reader's orders by the beginnings of their ids.
pub(super) struct Book<'a, F> {
    pub(super) record: &'a ClearingRecord,
    pub(super) hourly: F,
    pub(super) own: &'a BTreeSet<String>,
}

impl<F: Fn(u64) -> Credits> Book<'_, F> {
    /// The bids.
    pub(super) fn bids(&self) -> Markup {
        let mut bids: Vec<&ClearingBid> = self.record.bids.iter().collect();
        bids.sort_by_key(|bid| std::cmp::Reverse(bid.steps.first().map(|step| step.price)));
        let rows = html! {
            @for bid in bids.iter().take(LINES) { (self.bid(bid)) }
        };
        let columns = [
            column("Order", ""),
            column("Wants", "num"),
            column("Least", "num opt"),
            column("Bid/h", "num"),
            column("Won", "num"),
            column("Pays", "num opt"),
        ];
        html! { (table("Bids", &columns, rows)) (more(bids.len(), "bids")) }
    }

    fn bid(&self, bid: &ClearingBid) -> Markup {
        let award = self
            .record
            .awards
            .iter()
            .find(|award| award.order == bid.order);
        let units: u64 = bid.steps.iter().map(|step| u64::from(step.units)).sum();
        let first = bid.steps.first().map(|step| (self.hourly)(step.price.0));
        let last = bid.steps.last().map(|step| (self.hourly)(step.price.0));
        let name = short_id(&bid.order.to_hex());
        let mine = self.own.contains(&name);
        html! {
            tr class=[mine.then_some("own")] {
                th scope="row" { span.id { (name) } @if mine { " yours" } }
                td.num { (count(units)) }
                td.num.opt { (count(bid.min)) }
                td.num {
                    (money_or_none(first))
                    @if let Some(last) = last.filter(|_| first != last) { "–" (money(last)) }
                }
                td.num { (award.map_or(NONE.to_owned(), |award| count(award.units))) }
                td.num.opt { (money_or_none(award.map(|award| award.pay))) }
            }
        }
    }

    /// The offers.
    pub(super) fn offers(&self) -> Markup {
        let mut offers: Vec<&ClearingOffer> = self.record.offers.iter().collect();
        offers.sort_by_key(|offer| offer.reserve);
        let rows = html! {
            @for offer in offers.iter().take(LINES) {
                @let sold = self.record.sold.iter().find(|sold| sold.offer == offer.offer);
                tr {
                    th scope="row" { span.id { (short_id(&offer.offer.to_hex())) } }
                    td.num { (count(offer.units)) }
                    td.num { (money((self.hourly)(offer.reserve.0))) }
                    td.num { (sold.map_or(NONE.to_owned(), |sold| count(sold.units))) }
                    td.num.opt { (money_or_none(sold.map(|sold| sold.earns))) }
                }
            }
        };
        let columns = [
            column("Offer", ""),
            column("Units", "num"),
            column("Reserve/h", "num"),
            column("Sold", "num"),
            column("Earns", "num opt"),
        ];
        html! { (table("Offers", &columns, rows)) (more(offers.len(), "offers")) }
    }
}

fn more(all: usize, what: &str) -> Markup {
    let more = all.saturating_sub(LINES);
    html! {
        @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more " (what) "." } } }
    }
}

/// The digits by which a table names an id.
pub(super) fn short_id(hex: &str) -> String {
    hex.chars().take(8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auction::types::tests::{SMALL, empty, offer};
    use gridbay_protocol::ids::{AccountId, Hash32, OrderId};
    use gridbay_protocol::order::Step;
    use gridbay_protocol::record::ausubel::Award;
    use gridbay_protocol::units::Price;

    #[test]
    fn the_dearest_bids_come_first_and_the_reader_s_are_marked() {
        let bid = |n: u8| ClearingBid {
            order: OrderId([n; 32]),
            sponsor: AccountId([n; 32]),
            round: 1,
            rank: Hash32([n; 32]),
            min: 1,
            steps: vec![Step {
                units: 2,
                price: Price(u64::from(n) * 1_000_000),
            }],
        };
        let record = ClearingRecord {
            bids: (1..=80).map(bid).collect(),
            offers: vec![offer(4)],
            awards: vec![Award {
                order: OrderId([80; 32]),
                units: 2,
                pay: "7".parse().unwrap(),
            }],
            ..empty(SMALL, 8)
        };
        let own = BTreeSet::from([short_id(&record.bids[79].order.to_hex())]);
        let book = Book {
            record: &record,
            hourly: |price| Credits::from_micros(price).unwrap(),
            own: &own,
        };
        let page = book.bids().into_string();
        assert_eq!(page.matches("<span class=\"id\">").count(), LINES);
        assert!(page.contains("55 more bids"), "{page}");
        let first = page.split("<tbody>").nth(1).unwrap();
        assert!(
            first.starts_with("<tr class=\"own\">") && first.contains("7.00"),
            "{first}"
        );
        assert!(
            book.offers()
                .into_string()
                .contains("<td class=\"num\">4</td>")
        );
    }
}
