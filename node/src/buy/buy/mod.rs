//! Buy-it-now: at once, dearer, not preempted.

mod flags;
mod outlook;
mod plan;
mod types;
mod why;

pub(super) use flags::BuyFlags;
pub(super) use outlook::outlook;
pub use types::BuyHow;

use super::way::{Also, Asks, Shown, Standing, Way, Words};
use crate::market::class_name;
use crate::market::desk::{Answer, Desk};
use crate::market::price::limit_hourly;
use crate::order::plan::{Ask, Plan};
use gridbay_core::buy::{BuyTerms, NewOrder};
use gridbay_ledger::State;
use gridbay_protocol::units::{Credits, Price};

/// Its name.
pub(super) const NAME: &str = "buy";
/// Advice where all units are held by orders that do not give way.
const INSTEAD: &str = "wait for units: --buy --wait 10m; or bid for them: leave out --buy";

impl BuyHow {
    /// Of one class, now or not at all.
    pub(crate) const AT_ONCE: BuyHow = BuyHow {
        wait_seconds: 0,
        surcharge: Credits::ZERO,
        also: Vec::new(),
    };
}

impl Way for BuyHow {
    fn name(&self) -> &'static str {
        NAME
    }
    fn also(&self) -> &[Also] {
        &self.also
    }
    fn plan(&self, at: &Desk<'_>, ask: &Ask) -> Answer<Plan> {
        self.planned(at, ask)
    }
    fn instead(&self) -> &'static str {
        INSTEAD
    }
}

impl Shown for BuyTerms {
    type How = BuyHow;
    fn shown(&self, order: &NewOrder, state: &State) -> (Credits, Credits, BuyHow) {
        let policy = state.policy();
        let units: u64 = self.parts.iter().map(|part| u64::from(part.units)).sum();
        let price = Price(self.limit.micros() / units.max(1));
        // The rest of the running slot, all its slots, and the surcharge.
        let slots = self.limit.checked_mul(u64::from(order.slots) + 1);
        let most = slots.and_then(|slots| slots.checked_add(self.surcharge));
        let waits = self.patience.saturating_mul(policy.block_interval_ms) / 1_000;
        let others = self.parts.iter().filter(|part| part.class != order.class);
        let how = BuyHow {
            wait_seconds: u32::try_from(waits).unwrap_or(u32::MAX),
            surcharge: self.surcharge,
            also: others
                .map(|part| Also {
                    class: class_name(state, &part.class),
                    nodes: part.units,
                })
                .collect(),
        };
        let price = limit_hourly(price, policy.slot_ms());
        (price, most.unwrap_or(Credits::MAX), how)
    }
    fn asks(&self, order: &NewOrder, at: &Standing<'_>) -> Asks {
        why::asks(self, order.slots, at)
    }
    fn words(&self, at: &Standing<'_>) -> Words {
        why::words(self, at)
    }
}
