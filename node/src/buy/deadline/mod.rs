//! A bag of tasks by a deadline, on as many nodes as one seller's plan gives it from slot to slot.

mod flags;
mod outlook;
mod plan;
mod types;
mod why;

pub(super) use flags::DeadlineFlags;
pub(super) use outlook::outlook;
pub use types::{DeadlineHow, DeadlineQuote};

use super::way::{Asks, Shown, Standing, Way, Words};
use crate::market::desk::{Answer, Desk};
use crate::market::price::{limit_hourly, seconds};
use crate::order::plan::{Ask, Plan};
use crate::order::quote::Quote;
use gridbay_core::buy::{DeadlineWish, NewOrder};
use gridbay_ledger::State;
use gridbay_protocol::units::{Credits, Price};

/// Its name.
pub(super) const NAME: &str = "deadline";

impl Way for DeadlineHow {
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
        quote.deadline.as_ref().map_or(String::new(), flags::line)
    }
    fn hopeless(&self, quote: &Quote) -> Option<(String, String)> {
        flags::hopeless(quote.deadline.as_ref()?)
    }
    /// The order ends, and pays, with the slot in which its last task did.
    fn pays_with_the_slot(&self) -> bool {
        true
    }
}

impl Shown for DeadlineWish {
    type How = DeadlineHow;
    fn shown(&self, _: &NewOrder, state: &State) -> (Credits, Credits, DeadlineHow) {
        let slot_ms = state.policy().slot_ms();
        let how = DeadlineHow {
            soft_seconds: seconds(self.soft, slot_ms),
            hard_seconds: seconds(self.hard, slot_ms),
            pay: self.pmax,
            late_pay: self.pmin,
            shape: self.shape,
            offer: Some(self.offer.to_hex()),
            seller: None,
        };
        (limit_hourly(each(self), slot_ms), self.pmax, how)
    }
    fn asks(&self, _: &NewOrder, at: &Standing<'_>) -> Asks {
        let offer = at.state.offer(&self.offer);
        Asks {
            price: offer.map(|offer| offer.terms.reserve),
            ..Asks::at_once(each(self), self.pmax, at.market)
        }
    }
    fn words(&self, at: &Standing<'_>) -> Words {
        why::words(self, at)
    }
}

/// Its highest price for a unit and slot.
fn each(wish: &DeadlineWish) -> Price {
    Price(wish.pmax.micros() / wish.unit_slots.max(1))
}
