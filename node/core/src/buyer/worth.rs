//! Keeps a bid at the worth of the slots left ([`Worth`](crate::buy::Worth)).
//!
//! 1. Left are the slots that the job still needs: all of them while it stands, one less for each
//!    slot that its lease has run when the next one begins.
//! 2. An amendment tells the ledger as soon as the bid has risen by `STEP_PERCENT`, or fallen.
//! 3. A winner pays at most its bid, so a price that would make the rest cost more than the worth
//!    outbids the job, and it stands until it is cheaper or its patience ends. If the reserves
//!    alone are above the bid it gives up.

use super::order::OrderAgent;
use super::record::Finish;
use super::seen::Seen;
use crate::buy::End;
use gridbay_ledger::State;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::{Credits, Price};

/// Percent by which the bid for the slots left must exceed the last one to be worth an amendment
/// and its deposit.
const STEP_PERCENT: u64 = 5;

/// The least that so many units of the class cost for a slot by their reserves; `None` if fewer are
/// offered now.
fn least(state: &State, agent: &OrderAgent) -> Option<Credits> {
    let order = agent.order();
    let offers = state.offers().filter(|(_, offer)| offer.active);
    let offers = offers.filter(|(_, offer)| offer.terms.class == order.class);
    let offers = offers.filter(|(_, offer)| offer.terms.mechanism.spills());
    let mut prices: Vec<(Price, u32)> = offers
        .map(|(_, offer)| (offer.terms.reserve, offer.supply()))
        .collect();
    prices.sort_unstable();
    let (mut missing, mut sum) = (order.tasks, Credits::ZERO);
    for (price, supply) in prices {
        let units = supply.min(missing);
        missing -= units;
        sum = sum.checked_add(price.times(u64::from(units))?)?;
    }
    (missing == 0).then_some(sum)
}

impl OrderAgent {
    /// Slots that the job still needs behind the running one, which are those that it bids for;
    /// `None` if it does not say what it is worth.
    pub fn slots_left(&self, state: &State) -> Option<u32> {
        let worth = self.order().worth?;
        let done = match self.seen {
            Seen::Running(_) => {
                let calendar = state.calendar();
                let end = calendar.last_of_slot(calendar.slot(state.height() + 1));
                let ran = end.saturating_sub(self.milestones().won);
                ran / calendar.slot_heights().max(1)
            }
            _ => 0,
        };
        Some(worth.left(done))
    }

    /// Whether the budget covers what was paid, a slot at the bid as it is, and one at the new
    /// price.
    fn covers(&self, state: &State, price: Price, units: u32, budget: Credits) -> bool {
        let live = self.id.and_then(|id| state.order(&id)?.bid());
        let Some((live, slot)) = live.zip(price.times(u64::from(units))) else {
            return false;
        };
        Credits::sum([live.paid, live.slot_at_bid(), slot]).is_some_and(|sum| sum <= budget)
    }

    /// Keeps the bid at what the slots left are worth, or gives up.
    pub(super) fn follow_worth(&mut self, state: &State) {
        let open = matches!(self.seen, Seen::Standing | Seen::Running(_));
        let (Some(worth), Some(left)) = (self.order().worth, self.slots_left(state)) else {
            return;
        };
        if !open || self.is_over() || self.amending().is_some() {
            return;
        }
        let hopeless = least(state, self).is_some_and(|slot| !worth.pays(left, slot));
        if self.seen == Seen::Standing && hopeless {
            self.set_finish(Finish::Ended(End::TooDear));
            return;
        }
        let Some(terms) = self.order().terms.bid() else {
            return;
        };
        let units = self.order().tasks;
        let price = worth.bid(left, units);
        let last = terms.steps.first().map_or(0, |step| step.price.0);
        let enough = last + last * STEP_PERCENT / 100;
        let budget = terms.budget;
        let changes = price.0 < last || price.0 > enough;
        if changes && self.covers(state, price, units, budget) {
            self.amend(vec![Step { units, price }], budget);
        }
    }
}
