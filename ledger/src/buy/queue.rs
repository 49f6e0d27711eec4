//! Buys that wait for units.
//!
//! 1. A buy that cannot be served when it is decided, for want of units or because they are too dear, waits if it still
//!    stands when the next round closes, fewer than [`limits::WAITING_BUYS`] wait in its class, and its limit is at least the
//!    class's reference price for its units: as much money is locked while it waits. Else it ends.
//! 2. Whenever a round closes, after the clearings, all undecided buys of a class are decided: first who came in an earlier
//!    round, then in the order that the beacon gives. Who cannot be served is passed over.
//! 3. Of those that waited, the first [`limits::WAITING_BUYS_DISPLACE`] of a class may displace bids and evict buys; the
//!    others take what is free.
//! 4. While somebody waits in a class, new buys of it are decided at the close of their round, behind those that wait.

use super::decide;
use crate::book;
use crate::order::{BuyOrder, Stage};
use crate::work::Work;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::{ClassId, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::order::Buy;
use std::collections::BTreeMap;

/// Step 2: decides all buys that have no lease, at the close of a round.
pub(crate) fn close(work: &mut Work<'_>) {
    let all = work.tables.orders.iter();
    let undecided = all.filter(|(_, o)| o.lease.is_none() && o.buy().is_some());
    let mut undecided: Vec<(u64, OrderId)> = undecided.map(|(id, o)| (o.round, *id)).collect();
    undecided.sort_by_cached_key(|(round, id)| (*round, work.rank(id.as_bytes())));
    let mut waited: BTreeMap<ClassId, u32> = BTreeMap::new();
    for (_, id) in &undecided {
        let order = work.tables.orders.get(id);
        let Some((class, waits)) = order.and_then(|o| Some((o.class, o.buy()?.waits))) else {
            continue;
        };
        let before = waited.entry(class).or_default();
        let displaces = !waits || *before < limits::WAITING_BUYS_DISPLACE;
        *before += u32::from(waits);
        decide(work, id, displaces);
    }
}

/// Step 4: whether somebody waits in a class.
pub(crate) fn is_used(work: &Work<'_>, class: &ClassId) -> bool {
    book::waiting_buys(work, class) > 0
}

/// Step 1.
pub(super) fn wait_or_end(work: &mut Work<'_>, id: &OrderId, buy: &Buy, end: OrderEnd) {
    let calendar = work.calendar();
    let next = calendar.last_of_round(calendar.round(work.height() + 1));
    let class = work.class(&buy.class);
    let reference = class.and_then(|c| c.reference_price.times(u64::from(buy.units)));
    let earnest = reference.is_some_and(|reference| buy.limit >= reference);
    if buy.stands_until < next || !earnest {
        return book::end(work, id, end);
    }
    let waits = order_of(work, id).is_some_and(|order| order.waits);
    if !waits && book::waiting_buys(work, &buy.class) >= limits::WAITING_BUYS {
        return book::end(work, id, end);
    }
    set(work, id, &buy.class, true);
}

/// A buy that is served waits no longer.
pub(super) fn leave(work: &mut Work<'_>, id: &OrderId, class: &ClassId) {
    set(work, id, class, false);
}

fn set(work: &mut Work<'_>, id: &OrderId, class: &ClassId, waits: bool) {
    let before = order_of(work, id).map(|order| std::mem::replace(&mut order.waits, waits));
    if before.is_some_and(|before| before != waits) {
        book::count_waiting(work, class, waits);
    }
}

fn order_of<'w>(work: &'w mut Work<'_>, id: &OrderId) -> Option<&'w mut BuyOrder> {
    match work.tables.orders.get_mut(id).map(|o| &mut o.stage) {
        Some(Stage::Buy(order)) => Some(order),
        _ => None,
    }
}
