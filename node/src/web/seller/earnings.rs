//! What the account earned, by the hour, as a statement counts it.

use crate::api::Answer;
use crate::api::types::Signed;
use crate::backend::at_height::AtHeight;
use crate::backend::{NodeBackend, wall_ms};
use crate::cli::text;
use crate::ledger::statement::latest::Incomes;
use crate::web::chart::{Place, Scale, below, chart, grid};
use crate::web::failure::block;
use crate::web::figures::{count, signed};
use gridbay_protocol::units::{Credits, MS_PER_HOUR};
use maud::{Markup, html};
use std::sync::Arc;

/// Lines of the account's history looked at, the newest.
const LINES: usize = 1_000;
/// Hours shown.
const HOURS: u64 = 12;
/// Steps of the axis at the most.
const STEPS: u64 = 4;

/// Earnings by the hour that they were made up in.
pub(in crate::web) type Earned = AtHeight<u64, Earnings>;

/// Earnings of the last hours.
#[derive(Debug, Default)]
pub(in crate::web) struct Earnings {
    /// The last hour, counted from 1970.
    last: u64,
    /// Income of each hour, oldest first; empty if there was none.
    hours: Vec<Signed>,
    /// Whether older movements of the time were not looked at.
    cut: bool,
}

/// As the ledger has them at a height.
pub(super) async fn of(node: &NodeBackend, known: &Earned, height: u64) -> Answer<Arc<Earnings>> {
    let now = wall_ms() / MS_PER_HOUR;
    if let Some(earnings) = known.get(height, &now) {
        return Ok(earnings);
    }
    let incomes = node.incomes(LINES).await?;
    Ok(known.put(height, now, Earnings::from(&incomes, now)))
}

impl Earnings {
    fn from(incomes: &Incomes, last: u64) -> Earnings {
        let first = last.saturating_sub(HOURS - 1);
        let of = |hour: u64| incomes.hours.get(&hour).copied().unwrap_or_default();
        let any = incomes.hours.range(first..=last).next().is_some();
        Earnings {
            last,
            hours: match any {
                true => (first..=last).map(of).collect(),
                false => Vec::new(),
            },
            cut: incomes.whole_from.is_some_and(|from| from > first),
        }
    }
}

/// The part of an income that a bar can show.
fn height(income: Signed) -> u64 {
    u64::try_from(income.0).unwrap_or(0)
}

/// The chart.
pub(super) fn shown(earnings: &Answer<Arc<Earnings>>) -> Markup {
    let earnings = match earnings {
        Ok(earnings) => earnings,
        Err(error) => return block(error),
    };
    let hours = earnings.hours.iter();
    let all = Signed(hours.fold(0, |sum, hour| sum.saturating_add(hour.0)));
    let most = earnings.hours.iter().map(|hour| height(*hour)).max();
    let looked = count(LINES as u64);
    let cut = match earnings.cut {
        true => format!(", by the last {looked} lines of its history only: there were more"),
        false => String::new(),
    };
    let Some(most) = most.filter(|most| *most > 0) else {
        return html! { p.muted { "Nothing was earned in the last " (HOURS) " hours" (cut) "." } };
    };
    let says = format!(
        "Earnings of the last {HOURS} hours: {} credits in all.",
        signed(all)
    );
    let scale = Scale::of(most, STEPS);
    html! {
        (chart(&says, &bars(earnings, &scale)))
        p.muted { (signed(all)) " credits in " (HOURS) " hours" (cut) "." }
    }
}

fn bars(earnings: &Earnings, scale: &Scale) -> Markup {
    let first = earnings.last.saturating_sub(HOURS - 1);
    // A bar takes three of the four parts of its hour.
    let place = |n: u64| Place::of(n * 8 + 1, HOURS * 8);
    let middle = |n: u64| Place::of(n * 2 + 1, HOURS * 2);
    html! {
        (grid(scale, |micros| Credits::from_micros(micros).unwrap_or_default().to_string()))
        @for (n, earned) in (0u64..).zip(&earnings.hours) {
            @let top = scale.height(height(*earned));
            g {
                rect.bar.c3 x={ (place(n)) "%" } y={ (top) "%" }
                    width={ (Place::of(6, HOURS * 8)) "%" }
                    height={ (scale.place(height(*earned))) "%" } {}
                title { (hour(first + n)) " UTC: " (signed(*earned)) }
            }
            @if n.is_multiple_of(3) { (below(middle(n), &hour(first + n), "")) }
        }
    }
}

/// An hour of the day.
fn hour(hours: u64) -> String {
    let text = text::time(hours.saturating_mul(MS_PER_HOUR));
    text.get(11..16).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earnings(hours: &[(u64, i64)], whole_from: Option<u64>) -> Earnings {
        let hours = hours.iter().map(|(hour, micros)| (*hour, Signed(*micros)));
        let incomes = Incomes {
            hours: hours.collect(),
            whole_from,
        };
        Earnings::from(&incomes, 100)
    }

    #[test]
    fn the_last_hours_have_a_bar_each_and_a_loss_has_none() {
        let earnings = earnings(&[(100, 3_000_000), (99, -500_000), (50, 9)], Some(89));
        let hours: Vec<_> = earnings.hours.iter().map(|hour| hour.0).collect();
        assert_eq!(hours[10..], [-500_000, 3_000_000]);
        assert!(hours[..10].iter().all(|hour| *hour == 0) && !earnings.cut);
        let page = shown(&Ok(Arc::new(earnings))).into_string();
        assert!(page.contains("2.50 credits in 12 hours."), "{page}");
        assert!(page.contains("04:00 UTC: 3.00"), "{page}");
    }

    #[test]
    fn nothing_earned_and_too_much_to_look_at() {
        let none = earnings(&[(50, 9)], None);
        let none = shown(&Ok(Arc::new(none))).into_string();
        assert!(none.contains("Nothing was earned in the last 12 hours."));
        let cut = earnings(&[(100, 5)], Some(90));
        let page = shown(&Ok(Arc::new(cut))).into_string();
        assert!(
            page.contains("last 1,000 lines of its history only"),
            "{page}"
        );
    }
}
