//! Sealed bids in the auction of a class.

mod flags;
pub(crate) mod lost;
mod outlook;
mod plan;
mod types;

pub(super) use flags::BidFlags;
pub(super) use outlook::outlook;
pub use types::{BidHow, JobWorth};

use super::way::{Asks, Shown, Standing, Way, no_worth};
use crate::market::desk::{Answer, Desk};
use crate::market::price::limit_hourly;
use crate::order::plan::{Ask, Plan};
use gridbay_core::buy::{BidTerms, NewOrder};
use gridbay_ledger::State;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::{Credits, Price};

/// Its name.
pub(super) const NAME: &str = "ausubel";

impl Way for BidHow {
    fn name(&self) -> &'static str {
        NAME
    }
    fn is_divisible(&self) -> bool {
        self.divisible
    }
    fn plan(&self, at: &Desk<'_>, ask: &Ask) -> Answer<Plan> {
        self.planned(&at.market, at.last, ask)
    }
    fn by_worth(&self, plan: Plan, worth: &JobWorth, at: &Desk<'_>, ask: &Ask) -> Answer<Plan> {
        match self.divisible {
            true => Err(no_worth()),
            false => plan::by_worth(plan, worth, &at.market, ask),
        }
    }
}

impl Shown for BidTerms {
    type How = BidHow;
    fn shown(&self, _: &NewOrder, state: &State) -> (Credits, Credits, BidHow) {
        let price = limit_hourly(highest(&self.steps), state.policy().slot_ms());
        let units: u32 = self.steps.iter().map(|s| s.units).sum();
        let divisible = self.min < units;
        (price, self.budget, BidHow { divisible })
    }
    fn asks(&self, _: &NewOrder, at: &Standing<'_>) -> Asks {
        Asks {
            prepaid: false,
            fewest: self.min,
            limit: highest(&self.steps),
            needed: slot_at_bid(&self.steps).unwrap_or(Credits::MAX),
            budget: self.budget,
            price: at.market.reserve_of(self.min),
            offered: at.market.supply(),
            free: at.market.free(),
        }
    }
}

/// The highest price of any unit.
pub(crate) fn highest(steps: &[Step]) -> Price {
    steps.iter().map(|s| s.price).max().unwrap_or_default()
}

/// The price of a slot at the bid.
fn slot_at_bid(steps: &[Step]) -> Option<Credits> {
    let parts = steps.iter().map(|s| s.price.times(u64::from(s.units)));
    parts.collect::<Option<Vec<_>>>().and_then(Credits::sum)
}
