//! Supply and demand of the last clearing of a class that had bids, and where they met.
//!
//! 1. Bids and offers are those of the public record, as prices per node-hour. A bid for all or
//!    none counts like any other, so that the curves can meet beside the outcome, which is told
//!    too.
//! 2. The curves end where neither matters any more: at twice the supply, and at three times the
//!    dearest price at which anything is asked or could have been sold.

use crate::api::types::AuctionSummary;
use crate::web::chart::{Place, Scale, below, chart, grid, point, stretched};
use crate::web::figures::{count, counted, money, short};
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::units::{Credits, MS_PER_HOUR};
use maud::{Markup, html};

/// Steps of an axis at the most.
const STEPS: u64 = 5;
/// Steps of a curve drawn at the most; more become fewer of their mean.
const DRAWN: usize = 200;

/// Units at one price, micro-credits per node-hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    units: u64,
    price: u64,
}

/// Both curves of a clearing.
#[derive(Debug)]
pub(in crate::web) struct Curves {
    id: String,
    slot: u64,
    /// Cheapest first.
    supply: Vec<Step>,
    /// Dearest first.
    demand: Vec<Step>,
    /// Units that were sold, and their mean price.
    sold: u64,
    paid: Option<Credits>,
}

/// Where demand falls below supply: after so many units, at a price from the first to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Meeting {
    units: u64,
    low: u64,
    high: u64,
}

impl Curves {
    /// Of a record, with its line in a list.
    pub(in crate::web) fn from(
        record: &ClearingRecord,
        line: &AuctionSummary,
        height_ms: u64,
    ) -> Curves {
        let ms = u128::from(record.heights.max(1)) * u128::from(height_ms.max(1));
        let hourly = |price: u64| {
            let wide = u128::from(price) * u128::from(MS_PER_HOUR) / ms;
            u64::try_from(wide).unwrap_or(u64::MAX)
        };
        let offered = record.offers.iter().map(|offer| Step {
            units: offer.units.into(),
            price: hourly(offer.reserve.0),
        });
        let wanted = record.bids.iter().flat_map(|bid| &bid.steps);
        let wanted = wanted.map(|step| Step {
            units: step.units.into(),
            price: hourly(step.price.0),
        });
        let (mut supply, mut demand): (Vec<_>, Vec<_>) = (offered.collect(), wanted.collect());
        supply.sort_by_key(|step| step.price);
        demand.sort_by_key(|step| std::cmp::Reverse(step.price));
        Curves {
            id: line.id.clone(),
            slot: line.slot,
            supply: joined(supply),
            demand: joined(demand),
            sold: line.sold.into(),
            paid: line.price,
        }
    }

    /// The digits by which it is named.
    pub(super) fn short_id(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }

    fn meeting(&self) -> Option<Meeting> {
        let mut ends: Vec<u64> = ends(&self.supply).chain(ends(&self.demand)).collect();
        ends.sort_unstable();
        let meets = |units: &u64| {
            let (asked, given) = (last(&self.supply, *units), last(&self.demand, *units));
            *units > 0
                && asked
                    .zip(given)
                    .is_some_and(|(asked, given)| asked <= given)
        };
        let units = ends.into_iter().rev().find(meets)?;
        let more = units.saturating_add(1);
        // The price is held from below by what the last unit asks and the next bid gives, from
        // above by what the last bid gives and the next unit asks.
        let low = last(&self.supply, units).max(last(&self.demand, more))?;
        let given = last(&self.demand, units)?;
        let high = last(&self.supply, more).map_or(given, |asked| asked.min(given));
        Some(Meeting { units, low, high })
    }

    fn sizes(&self, meeting: Option<Meeting>) -> (Scale, Scale) {
        let all = |steps: &[Step]| ends(steps).last().unwrap_or(0);
        let (offered, wanted) = (all(&self.supply), all(&self.demand));
        let wide = offered.max(wanted.min(offered.saturating_mul(2)));
        let asked = self.supply.last().map_or(0, |step| step.price);
        let met = meeting.map_or(0, |m| m.high);
        let dear = self.demand.first().map_or(0, |step| step.price);
        let most = asked.max(met).saturating_mul(3);
        let high = dear.min(most).max(asked);
        (Scale::of(wide.max(1), STEPS), Scale::of(high, STEPS))
    }
}

/// Steps of equal price as one.
fn joined(steps: Vec<Step>) -> Vec<Step> {
    let parts = steps.chunk_by(|a, b| a.price == b.price);
    parts.filter_map(mean).filter(|s| s.units > 0).collect()
}

/// Steps as one of their mean price.
fn mean(steps: &[Step]) -> Option<Step> {
    let units = steps
        .iter()
        .fold(0u64, |all, step| all.saturating_add(step.units));
    let worth = |step: &Step| u128::from(step.price) * u128::from(step.units);
    let price = steps
        .iter()
        .map(worth)
        .sum::<u128>()
        .checked_div(units.into())?;
    let price = u64::try_from(price).ok()?;
    Some(Step { units, price })
}

/// Units up to the end of each step.
fn ends(steps: &[Step]) -> impl Iterator<Item = u64> {
    let add = |all: &mut u64, step: &Step| {
        *all = all.saturating_add(step.units);
        Some(*all)
    };
    steps.iter().scan(0, add)
}

/// The price of the unit with this number; `None` beyond the last.
fn last(steps: &[Step], number: u64) -> Option<u64> {
    let mut all = steps.iter().zip(ends(steps));
    all.find(|(_, end)| *end >= number)
        .map(|(step, _)| step.price)
}

/// The chart of a clearing, and its outcome in words.
pub(in crate::web) fn shown(class: &str, curves: Option<&Curves>) -> Markup {
    let Some(curves) = curves else {
        return html! { p.muted { "No clearing of this class had bids yet." } };
    };
    let meeting = curves.meeting();
    let (wide, high) = curves.sizes(meeting);
    let met = match meeting {
        Some(m) => format!("They meet at {} at {}", units(m.units), band(&m)),
        None => "They do not meet".to_owned(),
    };
    let says = format!(
        "Supply and demand of class {} in slot {}. {met} credits per node-hour.",
        short(class, 40),
        count(curves.slot)
    );
    html! {
        (chart(&says, &drawn(curves, meeting, &wide, &high)))
        p.muted { "Slot " (count(curves.slot)) ": " (outcome(curves)) " " (met) "." }
    }
}

fn outcome(curves: &Curves) -> String {
    match curves.paid {
        Some(paid) => format!("{} sold, at a mean of {}.", units(curves.sold), money(paid)),
        None => "nothing was sold.".to_owned(),
    }
}

fn units(n: u64) -> String {
    counted(n, "unit")
}

fn band(meeting: &Meeting) -> String {
    let [low, high] = [meeting.low, meeting.high].map(|p| money(micros(p)));
    if low == high {
        low
    } else {
        format!("{low}–{high}")
    }
}

fn micros(price: u64) -> Credits {
    Credits::from_micros(price).unwrap_or(Credits::MAX)
}

fn drawn(curves: &Curves, meeting: Option<Meeting>, wide: &Scale, high: &Scale) -> Markup {
    let met = meeting.map(|m| {
        let (low, top) = (high.height(m.low), high.height(m.high));
        let middle = high.height(m.low / 2 + m.high / 2);
        (m, wide.place(m.units), top, top.to(low), middle)
    });
    let (supply, demand) = (&curves.supply, &curves.demand);
    html! {
        (grid(high, |price| micros(price).to_string()))
        @if let Some((_, at, top, tall, _)) = met {
            rect.band x="0" y={ (top) "%" } width={ (at) "%" } height={ (tall) "%" } {}
        }
        (stretched(&html! {
            path.line.c1 d=(path(demand, wide, high, true)) {}
            path.line.dash.c2 d=(path(supply, wide, high, false)) {}
        }))
        @if let Some((m, at, _, _, middle)) = met {
            line.axis.dot x1={ (at) "%" } x2={ (at) "%" } y1={ (middle) "%" } y2="100%" {}
            (stretched(&html! { (point("c1", at, middle)) (point("core", at, middle)) }))
            (said(&format!("{} at {}", units(m.units), band(&m)), at))
        }
        @if let Some(first) = demand.first() {
            text.c1 x="0" y={ (high.height(first.price)) "%" } dx="8" dy="-5" { "Demand" }
        }
        @if let Some(dearest) = supply.last() {
            @let end = ends(supply).last().unwrap_or(0);
            text.c2.end x={ (wide.place(end)) "%" } y={ (high.height(dearest.price)) "%" }
                dx="-8" dy="-6" { "Supply" }
        }
        @for mark in wide.marks() { (below(wide.place(mark), &count(mark), "")) }
    }
}

/// A word at the foot of the line that leads to the meeting, on the side that has room.
fn said(word: &str, at: Place) -> Markup {
    let left = at > Place::of(1, 2);
    let (class, dx) = if left {
        ("say end", "-8")
    } else {
        ("say", "8")
    };
    html! { text class=(class) x={ (at) "%" } y="100%" dx=(dx) dy="-12" { (word) } }
}

/// A curve as stairs. Demand falls to zero at its end, supply rises to the top.
fn path(steps: &[Step], wide: &Scale, high: &Scale, falls: bool) -> String {
    let many = steps.len().div_ceil(DRAWN).max(1);
    let drawn: Vec<Step> = steps.chunks(many).filter_map(mean).collect();
    let mut line = String::new();
    for (step, end) in drawn.iter().zip(ends(&drawn)) {
        let word = if line.is_empty() { "M0 " } else { "V" };
        line.push_str(&format!(
            "{word}{}H{}",
            high.height(step.price),
            wide.place(end)
        ));
        if end > wide.end() {
            return line;
        }
    }
    if !line.is_empty() {
        line.push_str(if falls { "V100" } else { "V0" });
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auction::types::tests::{SMALL, empty, offer};
    use crate::web::samples::{HOSTILE, auction};
    use gridbay_protocol::record::ausubel::ClearingOffer;
    use gridbay_protocol::units::Price;

    fn curves(supply: &[(u64, u64)], demand: &[(u64, u64)]) -> Curves {
        let steps = |list: &[(u64, u64)]| {
            let of = |&(units, price): &(u64, u64)| Step { units, price };
            list.iter().map(of).collect()
        };
        Curves {
            id: "ab".repeat(32),
            slot: 3,
            supply: steps(supply),
            demand: steps(demand),
            sold: 2,
            paid: None,
        }
    }

    #[test]
    fn curves_meet_where_the_next_unit_asks_more_than_the_next_bid_gives() {
        let at = |supply: &[(u64, u64)], demand: &[(u64, u64)]| curves(supply, demand).meeting();
        let met = |units, low, high| Some(Meeting { units, low, high });
        assert_eq!(at(&[(4, 2), (4, 5)], &[(3, 9), (3, 3)]), met(4, 3, 3));
        assert_eq!(at(&[(4, 2)], &[(3, 9)]), met(3, 2, 2));
        assert_eq!(at(&[(4, 2), (4, 6)], &[(4, 9), (4, 3)]), met(4, 3, 6));
        assert_eq!(at(&[(4, 2)], &[(3, 1)]), None);
        assert_eq!(at(&[], &[(3, 1)]), None);
        let most = at(&[(u64::MAX, 1)], &[(u64::MAX, u64::MAX)]);
        assert_eq!(most.unwrap().units, u64::MAX);
    }

    #[test]
    fn the_chart_tells_the_meeting_and_escapes_the_class() {
        let curves = curves(&[(4, 2_000_000)], &[(3, 9_000_000)]);
        let text = shown(HOSTILE, Some(&curves)).into_string();
        assert!(text.contains("3 units at 2.00"), "{text}");
        assert!(
            !text.contains("<script") && text.contains("&lt;script"),
            "{text}"
        );
    }

    #[test]
    fn a_curve_of_many_steps_is_drawn_with_few() {
        let many: Vec<_> = (0..5_000).map(|n| (1, 5_000 - n)).collect();
        let curves = curves(&[(2_500, 5)], &many);
        let (wide, high) = curves.sizes(curves.meeting());
        let line = path(&curves.demand, &wide, &high, true);
        assert!(line.len() < 5_000, "{}", line.len());
        assert!(line.starts_with("M0 ") && line.matches('V').count() <= DRAWN);
    }

    #[test]
    fn a_record_becomes_prices_per_hour() {
        let offer = |(units, reserve)| ClearingOffer {
            reserve: Price(reserve),
            ..offer(units)
        };
        let record = ClearingRecord {
            heights: 30,
            offers: [(2, 10), (1, 5), (3, 5)].map(offer).to_vec(),
            ..empty(SMALL, 12)
        };
        let curves = Curves::from(&record, &auction("free", 12, 1, None), 2_000);
        let step = |units, price| Step { units, price };
        assert_eq!(
            curves.supply,
            [step(4, 300), step(2, 600)],
            "a minute was sold"
        );
        assert_eq!(curves.demand, []);
    }
}
