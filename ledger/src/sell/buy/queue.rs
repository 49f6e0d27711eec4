//! Buys that wait for units.
//!
//! 1. A buy that cannot be served when it is decided, for want of units or because they are too
//!    dear, waits if it still stands when the next round closes, fewer than
//!    [`limits::WAITING_BUYS`] wait in each of its classes, and its limit is at least the classes'
//!    reference prices for its units: as much money is locked while it waits. Else it ends.
//! 2. Whenever a round closes, after the clearings, all undecided buys are decided: those of
//!    earlier rounds first, then in the order that the beacon gives. Buys that cannot be served are
//!    passed over.
//! 3. Of those that waited, the first [`limits::WAITING_BUYS_DISPLACE`] of a class may displace
//!    bids and evict buys; the others take free units. A buy of several classes must be among the
//!    first of each, and counts in each. Beside them [`limits::NEW_BUYS_DISPLACE`] new buys may in
//!    a block (see `stock`).
//! 4. While a buy waits in a class, new buys of the class are decided at the close of their round,
//!    behind those that wait. Buys of several classes always are: all their units start at one
//!    boundary of rounds, after all clearings.

use super::decide;
use super::stock::Stocks;
use crate::book;
use crate::record::{BuyOrder, Stage};
use crate::view::{Book, Floor};
use crate::work::Work;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::{ClassId, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::order::{Buy, BuyPart};
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Step 2: decides all buys that have no lease, at the close of a round.
pub(crate) fn close(at: &mut Floor<'_, '_>) {
    let all = at.tables.orders.iter();
    let undecided = all.filter(|(_, o)| o.lease.is_none() && o.buy().is_some());
    let mut undecided: Vec<(u64, OrderId)> = undecided.map(|(id, o)| (o.round, *id)).collect();
    undecided.sort_by_cached_key(|(round, id)| (*round, at.rank(id.as_bytes())));
    let mut stocks = Stocks::default();
    let mut waited: BTreeMap<ClassId, u32> = BTreeMap::new();
    for (_, id) in &undecided {
        let order = at.tables.orders.get(id);
        let Some((classes, waits)) = order.and_then(|o| Some((o.classes(), o.buy()?.waits))) else {
            continue;
        };
        let mut first = true;
        for class in classes {
            let before = waited.entry(class).or_default();
            first &= *before < limits::WAITING_BUYS_DISPLACE;
            *before += u32::from(waits);
        }
        decide(at, &mut stocks, id, first || !waits);
    }
}

/// Step 4: decides the new buys (`fresh`) of a block that closes no round, if nobody need wait for
/// others.
pub(crate) fn jump(at: &mut Floor<'_, '_>, fresh: &[OrderId]) {
    let (mut stocks, mut bids_open) = (Stocks::default(), BTreeMap::new());
    for id in fresh {
        if may_jump(at, id, &mut bids_open) {
            decide(at, &mut stocks, id, true);
        }
    }
}

/// Whether a new buy is decided at once, before its round closes. `bids_open` keeps the answer for
/// each class: no buy opens a bid or ends an open one, and a look takes time in proportion to the
/// class's orders.
fn may_jump(work: &Work<'_>, id: &OrderId, bids_open: &mut BTreeMap<ClassId, bool>) -> bool {
    let order = work.tables.orders.get(id);
    let of_one = order.filter(|o| o.buy().is_some_and(|buy| !buy.buy.is_group()));
    of_one.is_some_and(|order| {
        let open = bids_open.entry(order.class);
        let open = *open.or_insert_with(|| book::bids_are_open(work, &order.class));
        !open && book::waiting_buys(work, &order.class) == 0
    })
}

/// Step 1.
pub(super) fn wait_or_end(at: &mut Book<'_, '_>, id: &OrderId, buy: &Buy, end: OrderEnd) {
    let calendar = at.calendar();
    let next = calendar.last_of_round(calendar.round(at.height() + 1));
    let full = |class: &ClassId| book::waiting_buys(at, class) >= limits::WAITING_BUYS;
    let is_full = buy.classes().any(|class| full(&class));
    let earnest = reference(at, buy).is_some_and(|reference| buy.limit >= reference);
    let waits = order_of(at, id).is_some_and(|order| order.waits);
    if buy.stands_until < next || !earnest || (is_full && !waits) {
        return book::end(at, id, end);
    }
    set(at, id, true);
    if let Some(order) = order_of(at, id) {
        order.short = match end {
            OrderEnd::Short(class) => Some(class),
            _ => None,
        };
    }
}

/// The cost of its units a slot at the reference prices; `None` if that is no amount.
fn reference(work: &Work<'_>, buy: &Buy) -> Option<Credits> {
    let of_part = |part: &BuyPart| part.at(work.class(&part.class)?.reference_price);
    let parts = buy.parts.iter().map(of_part);
    parts.collect::<Option<Vec<_>>>().and_then(Credits::sum)
}

/// A buy that is served waits no longer.
pub(super) fn leave(at: &mut Book<'_, '_>, id: &OrderId) {
    set(at, id, false);
    if let Some(order) = order_of(at, id) {
        order.short = None;
    }
}

fn set(at: &mut Book<'_, '_>, id: &OrderId, waits: bool) {
    let Some(order) = order_of(at, id) else {
        return;
    };
    if std::mem::replace(&mut order.waits, waits) != waits {
        let classes: Vec<ClassId> = order.buy.classes().collect();
        for class in classes {
            book::count_waiting(at, &class, waits);
        }
    }
}

fn order_of<'w>(at: &'w mut Book<'_, '_>, id: &OrderId) -> Option<&'w mut BuyOrder> {
    match at.orders().get_mut(id).map(|o| &mut o.stage) {
        Some(Stage::Buy(order)) => Some(order),
        _ => None,
    }
}
