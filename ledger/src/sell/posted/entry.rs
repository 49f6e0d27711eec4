//! `posted`: units at the price that their sellers posted, firm for a prepaid time. Locks the limit
//! for all slots and one more, for the rest of the running one; the module above decides, with the
//! same block.

use crate::book;
use crate::money::funds;
use crate::record::{Order, PostedOrder, Stage};
use crate::refusal::Refusal;
use crate::view::Book;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, EntryId, OrderId};
use gridbay_protocol::order::{Hire, order_of};
use gridbay_protocol::payment::{Purse, Reason};

pub(crate) fn check(work: &Work<'_>, account: &AccountId, hire: &Hire) -> Result<(), Refusal> {
    let class = hire.class;
    work.class(&class).ok_or(Refusal::NoClass(class))?;
    let limit = work.constitution.policy.max_firm_slots;
    if hire.slots > limit {
        let slots = hire.slots;
        return Err(Refusal::FirmSlots { slots, limit });
    }
    book::has_room(work, &class, account)?;
    let lock = hire.lock().ok_or(Refusal::Overflow)?;
    funds::require(work, Purse::Account(*account), lock)
}

/// Enters the hire and returns its order.
pub(crate) fn enter(
    at: &mut Book<'_, '_>,
    id: &EntryId,
    account: &AccountId,
    hire: &Hire,
) -> OrderId {
    let order = order_of(id);
    let stage = Stage::Posted(Box::new(PostedOrder::new(hire.clone())));
    let record = Order::new(*account, hire.class, at.round(), stage);
    book::enter(at, order, record);
    let lock = hire.lock().expect("the lock was checked");
    let (from, to) = (Purse::Account(*account), Purse::Escrow(order));
    at.post(from, to, lock, Reason::Lock, Some(order))
        .expect("the lock was checked");
    order
}
