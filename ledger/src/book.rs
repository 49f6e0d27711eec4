//! The book of live orders: entering, ending, and the money locked for them.

use crate::money::purse;
use crate::record::{BidOrder, List, Live, Order, ReservationOrder, Scarce, Stage};
use crate::refusal::Refusal;
use crate::view::{Book, Money};
use crate::work::Work;
use crate::{holdings, scarce};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::{AccountId, ClassId, OfferId, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::order::{Bid, Wish};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

/// Whether account and class have room for another order.
pub(crate) fn has_room(
    work: &Work<'_>,
    class: &ClassId,
    account: &AccountId,
) -> Result<(), Refusal> {
    let own = of_account(work, class, account).count();
    let room = scarce::check(work, Scarce::Orders(*class), account, 0, 1);
    if own >= limits::ORDERS_PER_ACCOUNT_CLASS || room.is_err() {
        return Err(Refusal::OrderQuota {
            account: *account,
            class: *class,
        });
    }
    Ok(())
}

/// Whether the class has room for a bid that is opened now.
pub(crate) fn may_open(work: &Work<'_>, account: &AccountId, bid: &Bid) -> Result<(), Refusal> {
    let (class, load) = (bid.class, bid.lumpiness());
    let limit = limits::ALL_OR_NONE_PER_CLASS;
    let room = scarce::check(work, Scarce::AllOrNone(class), account, 0, load);
    match load > 0 && room.is_err() {
        true => Err(Refusal::AllOrNoneQuota { class, limit }),
        false => Ok(()),
    }
}

/// Whether an order may stand until that height.
pub(crate) fn may_stand(work: &Work<'_>, stands_until: u64) -> Result<(), Refusal> {
    let last = work.height().saturating_add(limits::ORDER_WINDOW);
    match (work.height()..=last).contains(&stands_until) {
        true => Ok(()),
        false => Err(Refusal::Standing { stands_until }),
    }
}

/// Whether the account may claim a share of the pool: one claim each, for with exponents below 1
/// two accounts with half a budget hold more than one with all of it.
pub(crate) fn may_claim(
    work: &Work<'_>,
    class: &ClassId,
    account: &AccountId,
    pool: &OfferId,
) -> Result<(), Refusal> {
    if let Some(order) = work.tables.pools.get(&(*pool, *account)) {
        return Err(Refusal::PoolTwice(*order));
    }
    let first = (*pool, AccountId([0; 32]));
    let last = (*pool, AccountId([255; 32]));
    let limit = limits::CLAIMS_PER_POOL;
    if work.tables.pools.range(first..=last).count() >= limit
        || scarce::check(work, Scarce::Claims(*class), account, 0, 1).is_err()
    {
        return Err(Refusal::PoolFull { pool: *pool, limit });
    }
    has_room(work, class, account)
}

/// Buys of a class that wait for units.
pub(crate) fn waiting_buys(work: &Work<'_>, class: &ClassId) -> u64 {
    work.tables.waiting.get(class).copied().unwrap_or(0)
}

/// Counts a live buy that begins to wait, or waits no longer.
pub(crate) fn count_waiting(at: &mut Book<'_, '_>, class: &ClassId, waits: bool) {
    let before = waiting_buys(at, class);
    let after = match waits {
        true => before + 1,
        false => before.saturating_sub(1),
    };
    match after {
        0 => drop(at.waiting().remove(class)),
        _ => at.waiting().insert(*class, after),
    }
}

/// Live orders of an account in a class, ascending.
pub(crate) fn of_account<'w>(
    work: &'w Work<'_>,
    class: &ClassId,
    account: &AccountId,
) -> impl Iterator<Item = OrderId> + use<'w> {
    let first = (*class, *account, OrderId([0; 32]));
    let last = (*class, *account, OrderId([255; 32]));
    let range = work.tables.book.range(first..=last);
    range.map(|((_, _, order), ())| *order)
}

/// Live orders of a class, ascending.
pub(crate) fn of_class(work: &Work<'_>, class: &ClassId) -> Vec<OrderId> {
    let first = (*class, AccountId([0; 32]), OrderId([0; 32]));
    let last = (*class, AccountId([255; 32]), OrderId([255; 32]));
    let range = work.tables.book.range(first..=last);
    let mut orders: Vec<OrderId> = range.map(|((_, _, order), ())| *order).collect();
    orders.sort_unstable();
    orders
}

/// Enters a new order, in the book of each of its classes.
pub(crate) fn enter(at: &mut Book<'_, '_>, id: OrderId, order: Order) {
    match order.stage.live().and_then(Live::listed_at) {
        Some(List::Jobs(offer)) => at.jobs().insert((offer, id), ()),
        Some(List::Pool(offer)) => at.pools().insert((offer, order.account), id),
        None => {}
    }
    for class in order.classes() {
        at.listed().insert((class, order.account, id), ());
    }
    if order.is_sealed() {
        at.sealed().insert((order.account, id), ());
    }
    holdings::enter(&mut at.counts(), &order);
    scarce::note(&mut at.counts(), None, Some(&order));
    at.orders().insert(id, order);
}

/// Turns a sealed order into a standing one. An amendment has none of its own.
pub(crate) fn open(at: &mut Book<'_, '_>, id: &OrderId, wish: Wish) {
    let stage = match wish {
        Wish::Bid(bid) => Stage::Bid(Box::new(BidOrder {
            bid,
            rank: None,
            paid: Credits::ZERO,
            slots_used: 0,
            next: None,
        })),
        Wish::Reservation(wish) => Stage::Reservation(Box::new(ReservationOrder::new(wish))),
        Wish::Amendment(_) => return,
    };
    let order = at.orders().get_mut(id);
    let order = order.expect("the order was checked");
    let sealed = order.clone();
    order.stage = stage;
    let opened = order.clone();
    scarce::note(&mut at.counts(), Some(&sealed), Some(&opened));
    at.sealed().remove(&(opened.account, *id));
}

/// Takes an order without a lease out of the book. Its escrow stays.
pub(crate) fn leave(at: &mut Book<'_, '_>, id: &OrderId) -> Order {
    let order = at.orders().remove(id);
    let order = order.expect("an order that ends is in the book");
    if let Some(serving) = &order.serves {
        at.unserved(serving, id);
    }
    at.sealed().remove(&(order.account, *id));
    holdings::leave(&mut at.counts(), &order);
    match order.stage.live().and_then(Live::listed_at) {
        Some(List::Jobs(offer)) => drop(at.jobs().remove(&(offer, *id))),
        Some(List::Pool(offer)) => drop(at.pools().remove(&(offer, order.account))),
        None => {}
    }
    scarce::note(&mut at.counts(), Some(&order), None);
    let waited = order.buy().is_some_and(|buy| buy.waits);
    for class in order.classes() {
        at.listed().remove(&(class, order.account, *id));
        if waited {
            count_waiting(at, &class, false);
        }
    }
    order
}

/// Ends an order without a lease and releases the rest of its escrow.
pub(crate) fn end(at: &mut Book<'_, '_>, id: &OrderId, end: OrderEnd) {
    let order = leave(at, id);
    let escrow = Purse::Escrow(*id);
    let rest = purse::held(at, &escrow);
    let to = Purse::Account(order.account);
    at.post(escrow, to, rest, Reason::Release, Some(*id))
        .expect("a purse bears what it holds");
    at.emit(Effect::Order { order: *id, end });
}

/// Fills the escrow of an opened bid up to one slot at the bid, that of a claim up to one at its
/// rate. False, and nothing moves, if the budget left or the account cannot bear it.
pub(crate) fn fund(at: &mut Money<'_, '_>, id: &OrderId) -> bool {
    let Some(order) = at.tables.orders.get(id) else {
        return false;
    };
    let Some((need, left)) = order.next_slot() else {
        return false;
    };
    let account = order.account;
    if need > left {
        return false;
    }
    let escrow = Purse::Escrow(*id);
    let missing = need.saturating_sub(purse::held(at, &escrow));
    let from = Purse::Account(account);
    at.post(from, escrow, missing, Reason::Lock, Some(*id))
        .is_ok()
}

/// Whether a bid of this class can still be opened in this round, or was.
pub(crate) fn bids_are_open(work: &Work<'_>, class: &ClassId) -> bool {
    let Some(before) = work.round().checked_sub(1) else {
        return false;
    };
    of_class(work, class).iter().any(|id| {
        let order = work.tables.orders.get(id);
        order.is_some_and(|order| {
            let bid = order.bid();
            let next = bid.and_then(|bid| bid.next.as_ref());
            let opens = order.is_sealed() || bid.is_some();
            (opens && order.round == before) || next.is_some_and(|next| next.round == before)
        })
    })
}
