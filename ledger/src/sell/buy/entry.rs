//! `buy`: units now or as soon as there are any, firm for a prepaid time. Locks the limit for all
//! slots and one more, for the rest of the running one, and the surcharge; `crate::sell::buy`
//! decides, in this block or after the round's clearing.

use crate::book;
use crate::money::funds;
use crate::record::{BuyOrder, Order, Stage};
use crate::refusal::Refusal;
use crate::view::Book;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, EntryId, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::order::{Buy, order_of};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

pub(crate) fn check(work: &Work<'_>, account: &AccountId, buy: &Buy) -> Result<(), Refusal> {
    if let Some(class) = buy.classes().find(|class| work.class(class).is_none()) {
        return Err(Refusal::NoClass(class));
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
    for class in buy.classes() {
        book::has_room(work, &class, account)?;
    }
    let lock = buy.lock().ok_or(Refusal::Overflow)?;
    funds::require(work, Purse::Account(*account), lock)
}

/// Enters the buy; which is its order.
pub(crate) fn enter(
    at: &mut Book<'_, '_>,
    id: &EntryId,
    account: &AccountId,
    buy: &Buy,
) -> OrderId {
    let order = order_of(id);
    let home = buy.classes().next().expect("a checked buy has parts");
    let stage = Stage::Buy(Box::new(BuyOrder::new(buy.clone())));
    let record = Order::new(*account, home, at.round(), stage);
    book::enter(at, order, record);
    let lock = buy.lock().expect("the lock was checked");
    let (from, to) = (Purse::Account(*account), Purse::Escrow(order));
    at.post(from, to, lock, Reason::Lock, Some(order))
        .expect("the lock was checked");
    order
}
