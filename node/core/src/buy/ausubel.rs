//! Sealed bids, and the checks before one is amended.

use super::way::{Asked, Attempt, Buys, Desk};
use crate::reply::Refused;
use gridbay_ledger::{Order, State};
use gridbay_protocol::ids::{ClassId, OrderId};
use gridbay_protocol::order::{Bid, Flaw, Step, Wish};
use gridbay_protocol::payment::Purse;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// Terms of a bid; class and slots are the order's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BidTerms {
    /// Marginal values.
    pub steps: Vec<Step>,
    /// Fewest units of use.
    pub min: u32,
    /// Most to pay over the whole order.
    pub budget: Credits,
    /// Heights to stand without running before giving up.
    pub patience: u64,
}

impl BidTerms {
    fn bid(&self, at: &Attempt) -> Bid {
        Bid {
            class: at.class,
            steps: self.steps.clone(),
            min: self.min,
            slots: at.slots,
            budget: self.budget,
            stands_until: at.height.saturating_add(self.patience),
            work: at.work,
        }
    }
    /// The bid, if it makes sense and is for all tasks.
    fn checked(&self, at: &Attempt) -> Result<Bid, Refused> {
        let bid = self.bid(at);
        bid.check().map_err(Refused::flawed)?;
        if bid.units() != at.tasks {
            return Err(Refused::flawed(Flaw::Units));
        }
        Ok(bid)
    }
    /// The money that must be free to replace an order's terms by these: the deposit, or the amount
    /// that the escrow will lack.
    ///
    /// # Errors
    /// Prices make no sense or are not for as many units, or the budget does not cover what was
    /// paid, a slot at the old bid if it runs, and one at the new.
    pub(super) fn check_amendment(
        &self,
        at: &Attempt,
        id: &OrderId,
        state: &State,
    ) -> Result<Credits, Refused> {
        let bid = self.checked(at)?;
        let slot = bid.slot();
        let live = state.order(id).and_then(Order::bid);
        let spent = live.map_or(Some(Credits::ZERO), |live| {
            live.paid.checked_add(live.slot_at_bid())
        });
        let needed = spent.and_then(|spent| spent.checked_add(slot));
        if needed.is_none_or(|needed| needed > bid.budget) {
            return Err(Refused::invalid(
                "budget",
                "the budget does not cover what was paid, a slot at the old price and one at the new",
                "raise --budget or lower --max-price",
            ));
        }
        let class = state.classes().iter().find(|c| c.key.id() == bid.class);
        let bracket = u64::from(bid.units().next_power_of_two());
        let deposit = class.and_then(|c| c.reference_price.times(bracket));
        let held = state.purse(&Purse::Escrow(*id));
        let held = Credits::from_micros(u64::try_from(held).unwrap_or(0)).unwrap_or_default();
        Ok(deposit.unwrap_or_default().max(slot.saturating_sub(held)))
    }
}

impl Buys for BidTerms {
    fn asked(&self, at: &Attempt) -> Asked {
        Asked::Sealed(Wish::Bid(self.bid(at)))
    }
    /// One slot at its price.
    fn check(&self, at: &Attempt, _: &Desk<'_>) -> Result<Credits, Refused> {
        let bid = self.checked(at)?;
        let slot = bid.slot();
        if slot > bid.budget {
            return Err(Refused::invalid(
                "budget",
                "the budget does not cover one slot at the price named",
                "raise --budget or lower --max-price",
            ));
        }
        Ok(slot)
    }
    fn needs(&self, class: ClassId) -> Vec<(ClassId, u32)> {
        vec![(class, self.min)]
    }
}
