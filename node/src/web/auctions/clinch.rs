//! The clock of a clearing: as the price rises, what others want no more becomes certain to be a
//! bidder's own, at the price of that moment.
//!
//! The record has the outcome; this is its explanation, and is shown only where it comes to the
//! same winners and payments. It does not where bids are for all or none, where equal prices are
//! decided by rank, or where winners pay for what holders lose.

use crate::web::figures::{count, money};
use crate::web::parts::{Column, column, table};
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::units::Credits;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Bidders, and prices, that the table has at the most.
const BIDDERS: usize = 12;
const PRICES: usize = 40;

/// One price of the clock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tick {
    price: u64,
    /// Units that each bidder still wants beyond this price, and that it clinches at it.
    wants: Vec<u64>,
    clinches: Vec<u64>,
    /// Units on sale at this price.
    offered: u64,
}

/// The clock of a record that it explains.
pub(super) struct Clock {
    /// Beginnings of the orders' ids, in the record's order.
    names: Vec<String>,
    ticks: Vec<Tick>,
}

impl Clock {
    /// `None` where it does not explain the outcome, or is too long to be read.
    pub(super) fn of(record: &ClearingRecord) -> Option<Clock> {
        if record.bids.is_empty() || record.bids.len() > BIDDERS {
            return None;
        }
        let ticks = ticks(record)?;
        let fits = ticks.len() <= PRICES && explains(record, &ticks);
        let name = |hex: String| hex.chars().take(8).collect();
        fits.then(|| Clock {
            names: record
                .bids
                .iter()
                .map(|bid| name(bid.order.to_hex()))
                .collect(),
            ticks,
        })
    }

    /// The table; `hourly` turns a price for the time sold into one for an hour, `own` tells the
    /// reader's orders by their names.
    pub(super) fn table(&self, hourly: impl Fn(u64) -> Credits, own: &BTreeSet<String>) -> Markup {
        let mine = |name: &String| own.contains(name);
        let class = |name: &String| if mine(name) { "num mine" } else { "num" };
        let mut columns: Vec<Column> = vec![column("Price/h", "")];
        columns.extend(self.names.iter().map(|_| column("", "num")));
        columns.extend([column("Wanted", "num"), column("On sale", "num")]);
        let head = html! {
            tr {
                th scope="row" { "Order" }
                @for name in &self.names {
                    td class=(class(name)) {
                        span.id { (name) } @if mine(name) { " (yours)" }
                    }
                }
                td {} td {}
            }
        };
        let rows = html! {
            (head)
            @for tick in &self.ticks {
                tr {
                    th.fig scope="row" { (money(hourly(tick.price))) }
                    @for (n, name) in self.names.iter().enumerate() {
                        td class=(class(name)) {
                            (count(tick.wants[n]))
                            @if tick.clinches[n] > 0 { b { "+" (count(tick.clinches[n])) } }
                            @else { i {} }
                        }
                    }
                    td.num { (count(tick.wants.iter().sum::<u64>())) }
                    td.num { (count(tick.offered)) }
                }
            }
        };
        html! { div.clinch { (table("Clinching, price by price", &columns, rows)) } }
    }
}

/// The prices at which anything changes, up to the one at which all are served.
fn ticks(record: &ClearingRecord) -> Option<Vec<Tick>> {
    let values = values(record)?;
    let reserves = record.offers.iter().map(|offer| offer.reserve.0);
    let prices: BTreeSet<u64> = values.iter().flatten().copied().chain(reserves).collect();
    if prices.len() > 4 * PRICES {
        return None;
    }
    let mut clinched = vec![0u64; values.len()];
    let mut ticks = Vec::new();
    for price in prices {
        let offers = record
            .offers
            .iter()
            .filter(|offer| offer.reserve.0 <= price);
        let offered: u64 = offers.map(|offer| u64::from(offer.units)).sum();
        let beyond = |own: &Vec<u64>| own.iter().filter(|value| **value > price).count() as u64;
        let wants: Vec<u64> = values.iter().map(beyond).collect();
        let all: u64 = wants.iter().sum();
        let mut clinches = Vec::with_capacity(values.len());
        for (n, own) in values.iter().enumerate() {
            // One that gives up at this very price may still take what nobody else wants.
            let most = own.iter().filter(|value| **value >= price).count() as u64;
            let certain = offered
                .saturating_sub(all - wants[n])
                .min(most.max(clinched[n]));
            let news = certain.saturating_sub(clinched[n]);
            clinched[n] += news;
            clinches.push(news);
        }
        ticks.push(Tick {
            price,
            wants,
            clinches,
            offered,
        });
        if all <= offered && offered > 0 {
            break;
        }
    }
    Some(ticks)
}

/// The worth of each unit to each bidder; `None` with bids for all or none.
fn values(record: &ClearingRecord) -> Option<Vec<Vec<u64>>> {
    let supply: u64 = record
        .offers
        .iter()
        .map(|offer| u64::from(offer.units))
        .sum();
    let supply = usize::try_from(supply).ok()?;
    let of = |bid: &gridbay_protocol::record::ausubel::ClearingBid| {
        let units = bid
            .steps
            .iter()
            .flat_map(|step| std::iter::repeat_n(step.price.0, step.units as usize));
        (bid.min <= 1).then(|| units.take(supply).collect())
    };
    record.bids.iter().map(of).collect()
}

/// Whether winners and payments follow from the clock.
fn explains(record: &ClearingRecord, ticks: &[Tick]) -> bool {
    record.bids.iter().enumerate().all(|(n, bid)| {
        let award = record.awards.iter().find(|award| award.order == bid.order);
        let (won, paid) =
            award.map_or((0, 0), |a| (u64::from(a.units), u128::from(a.pay.micros())));
        let units: u64 = ticks.iter().map(|tick| tick.clinches[n]).sum();
        let pay = |tick: &Tick| u128::from(tick.price) * u128::from(tick.clinches[n]);
        units == won && ticks.iter().map(pay).sum::<u128>() == paid
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auction::types::tests::{SMALL, empty, offer};
    use gridbay_protocol::ids::{AccountId, Hash32, OrderId};
    use gridbay_protocol::mechanism::ausubel::sellers;
    use gridbay_protocol::order::Step;
    use gridbay_protocol::record::ausubel::{Award, ClearingBid, ClearingOffer};
    use gridbay_protocol::units::Price;

    /// A record of offers as (units, reserve) and bids as lists of (units, price), cleared.
    fn record(offers: &[(u32, u64)], bids: &[&[(u32, u64)]], min: u32) -> ClearingRecord {
        let bid = |(n, steps): (u8, &&[(u32, u64)])| ClearingBid {
            order: OrderId([n; 32]),
            sponsor: AccountId([n; 32]),
            round: u64::from(n),
            rank: Hash32([n; 32]),
            min,
            steps: steps
                .iter()
                .map(|&(units, price)| Step {
                    units,
                    price: Price(price),
                })
                .collect(),
        };
        let offers = (1..)
            .zip(offers)
            .map(|(n, &(units, reserve)): (u8, _)| ClearingOffer {
                offer: gridbay_protocol::ids::OfferId([n; 32]),
                reserve: Price(reserve),
                ..offer(units)
            });
        let mut record = ClearingRecord {
            offers: offers.collect(),
            bids: (1..).zip(bids).map(bid).collect(),
            ..empty(SMALL, 8)
        };
        let outcome = sellers::clear(&record.input()).unwrap();
        let award = |award: gridbay_protocol::mechanism::ausubel::Award<_>| -> Award {
            let id: (Hash32, OrderId) = award.id;
            Award {
                order: id.1,
                units: award.units,
                pay: Credits::from_wide(award.pay).unwrap(),
            }
        };
        record.awards = outcome.awards.into_iter().map(award).collect();
        record
    }

    #[test]
    fn the_clock_explains_an_auction_of_separate_tasks() {
        // The auction of the page's design: 18 units of four sellers, five bids.
        let offers = [(6, 180), (5, 240), (5, 300), (2, 480)];
        let record = record(
            &offers,
            &[
                &[(4, 540)],
                &[(3, 600), (3, 450), (1, 330)],
                &[(3, 660), (1, 420), (1, 390)],
                &[(1, 500), (1, 410), (1, 360), (1, 270)],
                &[(2, 210)],
            ],
            1,
        );
        let clock = Clock::of(&record).unwrap();
        let sold: u64 = clock.ticks.iter().flat_map(|tick| &tick.clinches).sum();
        assert_eq!(sold, 16);
        let own = BTreeSet::from([clock.names[0].clone()]);
        let page = clock
            .table(|p| Credits::from_micros(p * 10_000).unwrap(), &own)
            .0;
        assert!(
            page.contains("01010101</span> (yours)") && page.contains("<b>+1</b>"),
            "{page}"
        );
        assert!(page.contains(">3.00</th>"), "{page}");
    }

    #[test]
    fn where_the_clock_does_not_hold_nothing_is_told() {
        let offers = [(8, 5)];
        let whole = record(&offers, &[&[(6, 19)], &[(8, 16)]], 6);
        assert!(Clock::of(&whole).is_none(), "all or none");
        let mut paid_more = record(&offers, &[&[(6, 19)], &[(8, 16)]], 1);
        assert!(Clock::of(&paid_more).is_some());
        let more = paid_more.awards[0]
            .pay
            .checked_add(Credits::from_micros(1).unwrap());
        paid_more.awards[0].pay = more.unwrap();
        assert!(
            Clock::of(&paid_more).is_none(),
            "another payment than the record's"
        );
        let none: [&[(u32, u64)]; 0] = [];
        assert!(Clock::of(&record(&offers, &none, 1)).is_none());
        let many = vec![&[(1u32, 9u64)][..]; BIDDERS + 1];
        assert!(
            Clock::of(&record(&offers, &many, 1)).is_none(),
            "too many to read"
        );
    }
}
