//! Blunders with orders.

use super::super::buyer::micros;
use super::super::desk::Desk;
use super::super::key::Key;
use gridbay_ledger::{Order, Stage};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::order::{Buy, BuyPart, Commit};
use gridbay_protocol::units::Credits;

impl Desk<'_> {
    fn cancel(&mut self, wanted: impl Fn(&Order) -> bool) -> Option<SignedEntry> {
        let (order, record, key) = self.order(wanted)?;
        Some(self.sign(record.account, &key, EntryBody::Cancel { order }))
    }
    fn commitment(&mut self, class: ClassId) -> EntryBody {
        let seal = Hash32(self.load.rng.bytes32());
        EntryBody::Commit(Commit {
            class,
            seal,
            bracket: 0,
        })
    }
    /// A purchase in the class where most trade is.
    fn purchase_of(&mut self, slots: u32, limit: Credits) -> Option<SignedEntry> {
        let work = Hash32(self.load.rng.bytes32());
        self.by_owner(EntryBody::Buy(Buy {
            parts: vec![BuyPart::anywhere(self.classes[0], 1)],
            slots,
            limit,
            stands_until: 0,
            surcharge: Credits::ZERO,
            work,
        }))
    }
}

pub(super) fn no_class(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let class = ClassId(desk.load.rng.bytes32());
    let body = desk.commitment(class);
    desk.by_owner(body)
}

pub(super) fn overflow(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.purchase_of(2, Credits::MAX)
}

pub(super) fn no_order(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let order = OrderId(desk.load.rng.bytes32());
    desk.by_owner(EntryBody::Cancel { order })
}

pub(super) fn order_quota(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let class = desk.classes[1];
    let full = |(account, _): &(AccountId, Key)| {
        let orders = desk.state.orders_of(account);
        let orders = orders.filter(|(_, order)| order.class == class);
        orders.count() >= limits::ORDERS_PER_ACCOUNT_CLASS
    };
    let (account, key) = desk.owners().into_iter().find(full)?;
    let body = desk.commitment(class);
    Some(desk.sign(account, &key, body))
}

fn is_sealed(order: &Order) -> bool {
    matches!(order.stage, Stage::Sealed { .. })
}

/// The second seal enters the book in the next round, and is never opened.
pub(super) fn sealed_already(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let round = desk.state.calendar().round(desk.state.height() + 1);
    let (_, order, key) = desk.order(|order| is_sealed(order) && order.round == round)?;
    let body = desk.commitment(order.class);
    Some(desk.sign(order.account, &key, body))
}

pub(super) fn sealed(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.cancel(is_sealed)
}

pub(super) fn exiting(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.cancel(|order| order.exiting)
}

pub(super) fn closing(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let next = desk.state.height() + 1;
    if !desk.state.calendar().closes_round(next) {
        return None;
    }
    desk.cancel(|order| !is_sealed(order) && !order.exiting)
}

/// Takes back what was opened a moment ago.
pub(super) fn final_order(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let calendar = desk.state.calendar();
    let next = desk.state.height() + 1;
    let round = calendar.round(next);
    if calendar.closes_round(next) {
        return None;
    }
    desk.cancel(|order| order.bid().is_some() && order.lease.is_none() && order.round + 1 == round)
}

pub(super) fn firm_slots(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let slots = desk.state.policy().max_firm_slots + 1;
    desk.purchase_of(slots, micros(1))
}

/// Money for evicting others, where nobody is evicted.
pub(super) fn surcharge(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    if desk.state.policy().buy.evicts() {
        return None;
    }
    let work = Hash32(desk.load.rng.bytes32());
    desk.by_owner(EntryBody::Buy(Buy {
        parts: vec![BuyPart::anywhere(desk.classes[0], 1)],
        slots: 1,
        limit: micros(1),
        stands_until: 0,
        surcharge: micros(1),
        work,
    }))
}

pub(super) fn nothing_to_appeal(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let bid = desk.imagined()?;
    desk.appeal_for_nothing(bid)
}
