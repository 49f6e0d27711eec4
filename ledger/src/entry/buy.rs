//! `buy`: units now, firm for a prepaid time. Locks the limit for all slots and one more, for the rest of the
//! running one; `crate::buy` decides, in this block or after the round's clearing.

use crate::book;
use crate::order::{BuyOrder, Order, Stage};
use crate::purse;
use crate::refusal::Refusal;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, EntryId};
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
    book::has_room(work, &buy.class, account)?;
    let lock = lock(buy).ok_or(Refusal::Overflow)?;
    purse::require(work, Purse::Account(*account), lock)
}

pub(super) fn apply(work: &mut Work<'_>, id: &EntryId, account: &AccountId, buy: &Buy) {
    let order = order_of(id);
    let stage = Stage::Buy(Box::new(BuyOrder {
        buy: buy.clone(),
        price: Credits::ZERO,
        taken: Vec::new(),
    }));
    let record = Order::new(*account, buy.class, work.round(), stage);
    book::enter(work, order, record);
    let lock = lock(buy).expect("the lock was checked");
    let (from, to) = (Purse::Account(*account), Purse::Escrow(order));
    purse::post(work, from, to, lock, Reason::Lock, Some(order)).expect("the lock was checked");
    work.bought.push(order);
}

fn lock(buy: &Buy) -> Option<Credits> {
    buy.limit.checked_mul(u64::from(buy.slots) + 1)
}
