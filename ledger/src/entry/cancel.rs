//! `cancel`: ends what stands or waits at once, a booking for the price of its first slot; a running order after its
//! slot, which is paid out, and a taken job by a deadline as done with the slot.
//! Not in a block that closes a round, when all bids are known; and never a sealed bid.

use crate::book;
use crate::refusal::Refusal;
use crate::reservation;
use crate::work::Work;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::planted::{self, Planted};

pub(super) fn check(work: &Work<'_>, account: &AccountId, id: &OrderId) -> Result<(), Refusal> {
    let order = work.tables.orders.get(id);
    let order = order.filter(|o| o.account == *account);
    let order = order.ok_or(Refusal::NoOrder(*id))?;
    if order.is_sealed() {
        return Err(Refusal::Sealed(*id));
    }
    if order.exiting {
        return Err(Refusal::Exiting(*id));
    }
    if work.closes_round() {
        return Err(Refusal::Closing(work.height()));
    }
    Ok(())
}

pub(super) fn apply(work: &mut Work<'_>, id: &OrderId) {
    let order = work.tables.orders.get_mut(id);
    let order = order.expect("the order was checked");
    if order.lease.is_none() && !order.is_taken() {
        reservation::give_up(work, id);
        book::end(work, id, OrderEnd::Cancelled);
    } else {
        order.exiting = !planted::is(Planted::ExitForgotten);
    }
}
