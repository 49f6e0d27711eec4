//! `appeal`: the deposit of an unopened bid goes back, because validators acknowledged the opening
//! in time.
//!
//! 1. The order is the account's and waits for an appeal.
//! 2. The opening opens it: class, bracket and seal match, and the budget covers one slot at the
//!    bid.
//! 3. It could have taken effect in every block of the window, as far as that was up to its owner:
//!    entry and bid were good until the last block, the account kept its keys, and it could have
//!    paid in each of them.
//! 4. The receipts name that very entry, each with a tip in time ([`latest_tip`]).
//! 5. Their signers are validators with more than a third of the power, so an honest one is among
//!    them. That one found the entry admissible and told all others; the liars could not have made
//!    the receipts up.
//!
//! Cheap checks come first; signatures last.

use crate::money::purse;
use crate::record::Unopened;
use crate::refusal::Refusal;
use crate::sell::sealed::unopened;
use crate::view::Seals;
use crate::work::Work;
use gridbay_protocol::appeal::{Appeal, last_opening, latest_tip};
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::order::{Amendment, Wish, order_of};
use gridbay_protocol::payment::Purse;
use gridbay_protocol::receipt;
use gridbay_protocol::units::Credits;

pub(crate) fn check(work: &Work<'_>, account: &AccountId, appeal: &Appeal) -> Result<(), Refusal> {
    let id = order_of(&appeal.open.commit);
    let order = work.tables.unopened.get(&id);
    let order = order.filter(|o| o.account == *account);
    let order = order.ok_or(Refusal::NothingToAppeal(id))?;
    check_opening(work, account, &id, order, appeal)?;
    check_receipts(work, account, &id, order, appeal)
}

pub(crate) fn enter(at: &mut Seals<'_, '_>, appeal: &Appeal) {
    unopened::excuse(at, &order_of(&appeal.open.commit));
}

fn check_opening(
    work: &Work<'_>,
    account: &AccountId,
    id: &OrderId,
    order: &Unopened,
    appeal: &Appeal,
) -> Result<(), Refusal> {
    let (wish, salt) = (&appeal.open.wish, &appeal.open.salt);
    let matches = wish.class() == order.class
        && u64::from(wish.units()) <= 1 << order.bracket
        && wish.seal(&work.constitution.network, account, salt) == order.seal;
    if !matches {
        return Err(Refusal::Seal(*id));
    }
    let slot = wish.lock();
    let last = last_opening(&work.calendar(), order.round);
    let good = match wish {
        Wish::Bid(bid) | Wish::Amendment(Amendment { bid, .. }) if bid.budget < slot => {
            return Err(Refusal::Budget {
                budget: bid.budget,
                slot,
            });
        }
        Wish::Bid(bid) | Wish::Amendment(Amendment { bid, .. }) => bid.stands_until >= last,
        Wish::Reservation(reservation) => reservation.latest > work.calendar().slot(last),
    };
    if appeal.valid_until < last || !good {
        return Err(Refusal::OpeningLapsed { order: *id, last });
    }
    let missing = slot.saturating_sub(ready(work, account, id, wish));
    if order.reach.is_none_or(|reach| reach < missing) {
        return Err(Refusal::OpeningUnfunded(*id));
    }
    Ok(())
}

/// The money ready for the opening beside the account's own: its deposit, and the escrow of the
/// order that it amends.
fn ready(work: &Work<'_>, account: &AccountId, id: &OrderId, wish: &Wish) -> Credits {
    let held = |id: &OrderId| purse::held(work, &Purse::Escrow(*id));
    let deposit = held(id);
    let Wish::Amendment(amendment) = wish else {
        return deposit;
    };
    let amended = work.tables.orders.get(&amendment.order);
    match amended.filter(|order| order.account == *account) {
        Some(_) => deposit
            .checked_add(held(&amendment.order))
            .unwrap_or(deposit),
        None => deposit,
    }
}

fn check_receipts(
    work: &Work<'_>,
    account: &AccountId,
    id: &OrderId,
    order: &Unopened,
    appeal: &Appeal,
) -> Result<(), Refusal> {
    let latest = latest_tip(&work.calendar(), order.round);
    let mut receipts = appeal.receipts.iter().map(|signed| signed.receipt);
    if let Some(late) = receipts.find(|receipt| receipt.height > latest) {
        return Err(Refusal::ReceiptLate {
            order: *id,
            height: late.height,
            latest,
        });
    }
    let (network, set) = (&work.constitution.network, &work.constitution.validators);
    let opening = appeal.opening(network, account);
    let power = receipt::power(&appeal.receipts, &opening, network, set)?;
    let total = set.total_power();
    let enough = u128::from(power) * 3 > u128::from(total);
    if !enough {
        return Err(Refusal::ReceiptPower {
            order: *id,
            power,
            total,
        });
    }
    Ok(())
}
