//! `buy`: units now or as soon as there are any, firm for a prepaid time. Locks the limit for all slots and one more, for
//! the rest of the running one, and the surcharge; `crate::buy` decides, in this block or after the round's clearing.

use crate::book;
use crate::order::{BuyOrder, Order, Stage};
use crate::purse;
use crate::refusal::Refusal;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::limits;
use gridbay_protocol::order::{Buy, order_of};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

pub(super) fn check(work: &Work<'_>, account: &AccountId, buy: &Buy) -> Result<(), Refusal> {
    if work.class(&buy.class).is_none() {
        return Err(Refusal::NoClass(buy.class));
    }
    let limit = work.constitution.policy.max_firm_slots;
    if buy.slots > limit {
        return Err(Refusal::FirmSlots {
            slots: buy.slots,
            limit,
        });
    }
    let last = work.height().saturating_add(limits::ORDER_WINDOW);
    if buy.stands_until > last {
        let stands_until = buy.stands_until;
        return Err(Refusal::Standing { stands_until });
    }
    if buy.surcharge > Credits::ZERO && !work.constitution.policy.buy.evicts() {
        return Err(Refusal::Surcharge(buy.surcharge));
    }
    book::has_room(work, &buy.class, account)?;
    let lock = buy.lock().ok_or(Refusal::Overflow)?;
    purse::require(work, Purse::Account(*account), lock)
}

pub(super) fn apply(work: &mut Work<'_>, id: &EntryId, account: &AccountId, buy: &Buy) {
    let order = order_of(id);
    let stage = Stage::Buy(Box::new(BuyOrder {
        buy: buy.clone(),
        price: Credits::ZERO,
        waits: false,
        taken: Vec::new(),
    }));
    let record = Order::new(*account, buy.class, work.round(), stage);
    book::enter(work, order, record);
    let lock = buy.lock().expect("the lock was checked");
    let (from, to) = (Purse::Account(*account), Purse::Escrow(order));
    purse::post(work, from, to, lock, Reason::Lock, Some(order)).expect("the lock was checked");
    work.bought.push(order);
}
