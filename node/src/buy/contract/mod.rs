//! Contracts with a provider: as many jobs as nodes are asked for, each on one node.

mod flags;
mod outlook;
mod plan;
mod types;
mod why;

pub(super) use flags::ContractFlags;
pub(super) use outlook::outlook;
pub use types::ContractHow;

use super::way::{Asks, Shown, Standing, Way, Words, span};
use crate::market::desk::{Answer, Desk};
use crate::market::price::limit_hourly;
use crate::order::plan::{Ask, Plan};
use crate::order::quote::Quote;
use gridbay_core::buy::{ContractWish, NewOrder};
use gridbay_ledger::State;
use gridbay_protocol::units::{Credits, Price};

/// Its name.
pub(super) const NAME: &str = "contract";

impl Way for ContractHow {
    fn name(&self) -> &'static str {
        NAME
    }
    fn is_divisible(&self) -> bool {
        true
    }
    fn plan(&self, at: &Desk<'_>, ask: &Ask) -> Answer<Plan> {
        let provider = plan::provider(at.state(), &self.provider)?;
        self.planned(&at.market, provider, ask)
    }
    fn line(&self, quote: &Quote) -> String {
        format!(
            "can cost at most {} credits ({} jobs of {} each, {} for one done within {}); \
             {} owes {} for one that is not",
            quote.most,
            quote.nodes,
            span(quote.seconds),
            self.value,
            span(self.hold_seconds),
            self.provider,
            self.penalty
        )
    }
}

impl Shown for ContractWish {
    type How = ContractHow;
    fn shown(&self, order: &NewOrder, state: &State) -> (Credits, Credits, ContractHow) {
        let slot_ms = state.policy().slot_ms();
        let price = limit_hourly(per_slot(self, order), slot_ms);
        (price, most(self, order), ContractHow::of(self, slot_ms))
    }
    /// All of it is locked once it is proposed; the provider's costs for units are its own affair.
    fn asks(&self, order: &NewOrder, at: &Standing<'_>) -> Asks {
        Asks::at_once(per_slot(self, order), most(self, order), at.market)
    }
    fn words(&self, at: &Standing<'_>) -> Words {
        why::words(at.judged)
    }
}

impl ContractHow {
    fn of(wish: &ContractWish, slot_ms: u64) -> ContractHow {
        let seconds =
            |slots: u32| u32::try_from(u64::from(slots) * slot_ms / 1_000).unwrap_or(u32::MAX);
        ContractHow {
            provider: wish.provider.to_hex(),
            value: wish.job.value,
            penalty: wish.job.penalty,
            hold_seconds: seconds(wish.job.hold),
            decay_seconds: seconds(wish.job.decay),
            alpha_ppm: wish.alpha_ppm,
            beta16: wish.beta16,
            window_seconds: seconds(wish.window),
        }
    }
}

/// The pay of a job for a slot.
fn per_slot(wish: &ContractWish, order: &NewOrder) -> Price {
    Price(wish.job.value.micros() / u64::from(order.slots).max(1))
}

/// The most that all its jobs can cost.
fn most(wish: &ContractWish, order: &NewOrder) -> Credits {
    let terms = wish.terms(order.class, order.tasks);
    terms.lock().unwrap_or(Credits::MAX)
}
