//! Reservations: all nodes together, ahead of time, for all of it; a winner pays its bid.

mod flags;
mod outlook;
mod plan;
mod types;

pub(super) use flags::ReserveFlags;
pub(super) use outlook::outlook;
pub use types::{Ahead, NodeGroup, Start};

use super::way::{Asks, Shown, Standing, Way, Words, span};
use crate::api::types::{JobReason, JobState};
use crate::cli::text;
use crate::market::desk::{Answer, Desk};
use crate::market::price::limit_hourly;
use crate::offer::named::offer_meant;
use crate::order::plan::{Ask, Plan};
use crate::order::quote::Quote;
use gridbay_core::buy::{NewOrder, ReserveTerms};
use gridbay_core::buyer::order::Seen;
use gridbay_ledger::State;
use gridbay_protocol::units::{Credits, Price};

/// Its name.
pub(super) const NAME: &str = "reservation";

impl Way for Ahead {
    fn name(&self) -> &'static str {
        NAME
    }
    fn plan(&self, at: &Desk<'_>, ask: &Ask) -> Answer<Plan> {
        self.planned(&at.market, ask, &|offer| offer_meant(at.state(), offer))
    }
    fn line(&self, quote: &Quote) -> String {
        format!(
            "pays {} credits if it wins ({} for {}: {} per node-hour); the posted price is {}",
            quote.most,
            text::nodes(quote.nodes),
            span(quote.seconds),
            quote.max_price,
            quote.posted.unwrap_or_default()
        )
    }
}

impl Shown for ReserveTerms {
    type How = Ahead;
    fn shown(&self, order: &NewOrder, state: &State) -> (Credits, Credits, Ahead) {
        let groups = self.groups.iter().map(|group| NodeGroup {
            nodes: group.units,
            offers: group.offers.iter().map(|offer| offer.to_hex()).collect(),
        });
        let ahead = Ahead {
            groups: groups.collect(),
            from: Start::Slot(self.earliest),
            until: Some(Start::Slot(self.latest)),
            channels: self.channels,
        };
        let price = limit_hourly(each(self, order), state.policy().slot_ms());
        (price, self.value, ahead)
    }
    fn asks(&self, order: &NewOrder, at: &Standing<'_>) -> Asks {
        Asks {
            fewest: units(self),
            price: Some(at.market.reference),
            ..Asks::at_once(each(self, order), self.value, at.market)
        }
    }
    fn words(&self, at: &Standing<'_>) -> Words {
        let sentence = match (at.judged, at.agent.seen) {
            ((JobState::Won, Some(JobReason::Booked)), Seen::Booked(from)) => Some(format!(
                "Its nodes are reserved from slot {from} on; it is slot {} now.",
                at.slot()
            )),
            _ => None,
        };
        Words {
            sentence,
            ..Words::default()
        }
    }
}

fn units(terms: &ReserveTerms) -> u32 {
    terms.groups.iter().map(|g| g.units).sum()
}

/// Its bid for a unit and slot.
fn each(terms: &ReserveTerms, order: &NewOrder) -> Price {
    plan::each(terms.value, units(terms), order.slots)
}
