//! Amendments: another bid for an order that stands or runs, sealed in one round and opened in the
//! next as any bid.
//!
//! 1. The amendment is an order of its own until it is opened: it has a deposit, and loses it if it
//!    is not opened. The old bid stands meanwhile, and for good if the opening is refused.
//! 2. The order it names is the same account's and an opened bid; class, units, fewest units of
//!    use, slots and work stay. The budget includes earlier payments, and covers one slot at the
//!    new bid.
//! 3. Opened, it moves its deposit to the order's escrow, which it fills up to one slot at the new
//!    bid, and ends. The excess of the deposit goes back.
//! 4. The new bid waits until the close of the first round in which the order takes part in a
//!    clearing: at once for one that stands, at the next boundary for one that runs. A buy in
//!    between displaces the old one. Then it takes the old one's place, with the amendment's round
//!    in ties and a rank drawn anew, and the excess of the escrow goes back. Lease, paid slots and
//!    payments are the order's as before. A second amendment replaces the first one that still
//!    waits.
//! 5. If the order has ended before the opening, or is about to end because it was cancelled, the
//!    amendment ends without effect and with its deposit back.

use crate::book;
use crate::money::{funds, purse};
use crate::record::{BidOrder, NextBid};
use crate::refusal::Refusal;
use crate::view::Book;
use crate::work::Work;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::order::Amendment;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

/// Whether the opening of an amendment may take effect; `own` is the amendment's own order.
pub(crate) fn check(
    work: &Work<'_>,
    account: &AccountId,
    own: &OrderId,
    amendment: &Amendment,
) -> Result<(), Refusal> {
    let Some(bid) = target(work, account, &amendment.order)? else {
        return Ok(());
    };
    if !amendment.suits(&bid.bid) {
        return Err(Refusal::Reshaped(amendment.order));
    }
    let slot = amendment.bid.slot();
    let left = amendment.bid.budget.saturating_sub(bid.paid);
    if left < slot {
        return Err(Refusal::Spent { left, slot });
    }
    let deposit = purse::held(work, &Purse::Escrow(*own));
    let missing = missing(work, amendment).saturating_sub(deposit);
    funds::require(work, Purse::Account(*account), missing)
}

/// The bid to amend; `None` if its order has ended or is about to.
fn target<'w>(
    work: &'w Work<'_>,
    account: &AccountId,
    id: &OrderId,
) -> Result<Option<&'w BidOrder>, Refusal> {
    let Some(order) = work.tables.orders.get(id) else {
        return Ok(None);
    };
    if order.account != *account {
        return Err(Refusal::NoOrder(*id));
    }
    let bid = order.bid().ok_or(Refusal::NotABid(*id))?;
    Ok((!order.exiting).then_some(bid))
}

/// The amount that the escrow of the amended order lacks of one slot at the new bid.
fn missing(work: &Work<'_>, amendment: &Amendment) -> Credits {
    let held = purse::held(work, &Purse::Escrow(amendment.order));
    amendment.bid.slot().saturating_sub(held)
}

/// Steps 3 and 5.
pub(crate) fn open(
    at: &mut Book<'_, '_>,
    account: &AccountId,
    own: &OrderId,
    amendment: &Amendment,
) {
    if !matches!(target(at, account, &amendment.order), Ok(Some(_))) {
        return book::end(at, own, OrderEnd::Lapsed);
    }
    let (id, round) = (amendment.order, round(at, own));
    let (deposit, escrow) = (Purse::Escrow(*own), Purse::Escrow(id));
    let missing = missing(at, amendment);
    let moved = missing.min(purse::held(at, &deposit));
    let rest = missing.saturating_sub(moved);
    let account = Purse::Account(*account);
    for (from, amount) in [(deposit, moved), (account, rest)] {
        at.post(from, escrow, amount, Reason::Lock, Some(id))
            .expect("the lock was checked");
    }
    let order = at.orders().get_mut(&id);
    let bid = order.and_then(|o| o.bid_mut());
    bid.expect("the order was checked").next = Some(NextBid {
        round,
        bid: amendment.bid.clone(),
    });
    book::end(at, own, OrderEnd::Amended);
}

fn round(work: &Work<'_>, id: &OrderId) -> u64 {
    let order = work.tables.orders.get(id);
    order.expect("an amendment that opens is live").round
}

/// Step 4, at the close of a round.
pub(crate) fn take_effect(at: &mut Book<'_, '_>) {
    let boundary = at.closes_slot();
    let orders = at.tables.orders.iter();
    let amended = orders.filter(|(_, order)| {
        let competes = boundary || order.lease.is_none();
        competes && order.bid().is_some_and(|bid| bid.next.is_some())
    });
    let amended: Vec<OrderId> = amended.map(|(id, _)| *id).collect();
    for id in &amended {
        replace(at, id);
    }
}

fn replace(at: &mut Book<'_, '_>, id: &OrderId) {
    let order = at.orders().get_mut(id);
    let order = order.expect("the order was listed");
    let account = order.account;
    let bid = order.bid_mut().expect("only bids are amended");
    let Some(next) = bid.next.take() else {
        return;
    };
    (bid.bid, bid.rank) = (next.bid, None);
    let slot = bid.slot_at_bid();
    order.round = next.round;
    let (escrow, account) = (Purse::Escrow(*id), Purse::Account(account));
    let excess = purse::held(at, &escrow).saturating_sub(slot);
    at.post(escrow, account, excess, Reason::Release, Some(*id))
        .expect("a purse bears what it holds");
}
