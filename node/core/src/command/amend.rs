//! Whether a bid may be amended as the owner says: the ledger's own rules, before anything is kept or sent.

use super::{check_funds, flawed, invalid, no_account, no_order, of_refusal};
use crate::buyer::{OrderKey, Terms};
use crate::core::Core;
use crate::reply::Refused;
use gridbay_ledger::{Order, Refusal};
use gridbay_protocol::order::{Bid, Flaw, Step};
use gridbay_protocol::payment::Purse;
use gridbay_protocol::units::Credits;

/// The order is an own bid that is not over; prices make sense and are for as many units; the budget covers what was paid,
/// a slot at the old bid if it runs, and one at the new; the account covers the deposit and what the escrow will lack.
pub(super) fn check(
    core: &Core,
    key: &OrderKey,
    steps: &[Step],
    budget: Option<Credits>,
) -> Result<(), Refused> {
    let state = core.state();
    let account = core.account().ok_or_else(no_account)?;
    let agent = core.buyer().order(key).ok_or_else(|| no_order(key))?;
    if agent.finish().is_some() || agent.is_cancelling() {
        return Err(no_order(key));
    }
    let id = agent.id.unwrap_or_default();
    let Terms::Sealed {
        min, budget: old, ..
    } = &agent.order().terms
    else {
        return Err(of_refusal(&Refusal::NotABid(id)));
    };
    let bid = Bid {
        class: agent.order().class,
        steps: steps.to_vec(),
        min: *min,
        slots: agent.order().slots,
        budget: budget.unwrap_or(*old),
        stands_until: 0,
        work: Default::default(),
    };
    bid.check().map_err(flawed)?;
    if bid.units() != agent.order().tasks {
        return Err(flawed(Flaw::Units));
    }
    let slot = bid.slot();
    let live = state.order(&id).and_then(Order::bid);
    let spent = live.map_or(Some(Credits::ZERO), |live| {
        live.paid.checked_add(live.slot_at_bid())
    });
    let needed = spent.and_then(|spent| spent.checked_add(slot));
    if needed.is_none_or(|needed| needed > bid.budget) {
        return Err(invalid(
            "budget",
            "the budget does not cover what was paid, a slot at the old price and one at the new",
            "raise --budget or lower --max-price",
        ));
    }
    let class = state.classes().iter().find(|c| c.key.id() == bid.class);
    let bracket = u64::from(bid.units().next_power_of_two());
    let deposit = class.and_then(|c| c.reference_price.times(bracket));
    let held = state.purse(&Purse::Escrow(id));
    let held = Credits::from_micros(u64::try_from(held).unwrap_or(0)).unwrap_or_default();
    let needed = deposit.unwrap_or_default().max(slot.saturating_sub(held));
    check_funds(state, &account, needed)
}
