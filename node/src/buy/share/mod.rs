//! Claims on pools: a share of one for a budget per hour.

mod flags;
mod outlook;
mod plan;
mod said;
mod types;

pub(super) use flags::ShareFlags;
pub(super) use outlook::outlook;
pub(crate) use said::{now, share};
pub use types::{Claim, ResourceShare, ShareNow, ShareOutlook};

use super::way::{Asks, Shown, Standing, Way, Words, too_few};
use crate::api::types::{JobReason, JobState};
use crate::market::desk::{Answer, Desk};
use crate::market::price::limit_hourly;
use crate::order::plan::{Ask, Plan};
use crate::order::quote::Quote;
use gridbay_core::buy::{NewOrder, ShareTerms};
use gridbay_ledger::State;
use gridbay_protocol::units::{Credits, Price};

/// Its name.
pub(super) const NAME: &str = "share";

impl Way for Claim {
    fn name(&self) -> &'static str {
        NAME
    }
    fn is_divisible(&self) -> bool {
        true
    }
    fn plan(&self, at: &Desk<'_>, ask: &Ask) -> Answer<Plan> {
        self.planned(at, ask)
    }
    fn line(&self, quote: &Quote) -> String {
        let share = quote.share.as_ref();
        share.map_or(String::new(), |share| said::line(quote, share))
    }
    fn hopeless(&self, quote: &Quote) -> Option<(String, String)> {
        let gives = quote.share.as_ref().map(|share| share.nodes_milli);
        match gives {
            Some(0) => Some((
                "at this rate it would get no node of the pool".to_owned(),
                "raise --rate, or name another pool with --pool".to_owned(),
            )),
            _ => too_few(quote, 1),
        }
    }
}

impl Shown for ShareTerms {
    type How = Claim;
    fn shown(&self, order: &NewOrder, state: &State) -> (Credits, Credits, Claim) {
        let rate = limit_hourly(Price(self.rate.micros()), state.policy().slot_ms());
        let class = state.class(&order.class).map(|class| &class.key);
        let names = class.into_iter().flat_map(|class| class.resources());
        let names = names.map(|resource| resource.name().to_owned());
        let claim = Claim {
            offer: Some(self.offer.to_hex()),
            rate,
            utility: self.utility,
            weights: Some(names.zip(self.weights.iter().copied()).collect()),
            program: None,
        };
        (rate, self.budget, claim)
    }
    /// A claim states no price: the quote tells how its rate compares with the reserve.
    fn asks(&self, _: &NewOrder, at: &Standing<'_>) -> Asks {
        Asks {
            prepaid: false,
            budget: self.budget,
            ..Asks::at_once(Price(self.rate.micros()), self.rate, at.market)
        }
    }
    fn words(&self, at: &Standing<'_>) -> Words {
        if at.judged.1 != Some(JobReason::Unserved) {
            return Words::default();
        }
        let waits = matches!(at.judged.0, JobState::Bidding | JobState::Requeued);
        let slot = at.slot();
        let sentence = format!(
            "Its share of the pool came out below a unit in slot {slot}; it is drawn anew for the next."
        );
        let remedy = "submit it again with a higher rate, or to another pool";
        Words {
            sentence: waits.then_some(sentence),
            remedies: Some(vec![remedy.to_owned()]),
            ..Words::default()
        }
    }
}
