//! Leases in the making and in their end.
//!
//! - [`grant`] starts a lease, or renews the one that the order has, for units that are paid for.
//! - [`stop`] takes units from a running lease inside a slot: the unused part of their cost goes
//!   back.
//! - [`end`] closes a lease, and its order unless that stands again.

use crate::record::{Lease, Order, Part, Pot, Stake, Stopped};
use crate::view::{Book, Floor};
use crate::work::Work;
use crate::{book, lease};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::{Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent, Share, lease_id};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Units for an order, and what is paid for them.
pub(crate) struct Grant {
    pub(crate) order: OrderId,
    pub(crate) slot: u64,
    pub(crate) shares: Vec<Share>,
    pub(crate) paid: Credits,
    pub(crate) pot: Hash32,
    pub(crate) whole_slot: bool,
    pub(crate) firm_through: Option<u64>,
}

/// Charges the order's escrow and starts or renews its lease. Returns the stake for the pot.
pub(crate) fn grant(at: &mut Floor<'_, '_>, grant: Grant) -> Stake {
    let height = at.height();
    let order = at.tables.orders.get(&grant.order);
    let order = order.expect("units go to a live order").clone();
    let (escrow, class) = (Purse::Escrow(grant.order), Purse::Class(order.class));
    let charged = at.post(escrow, class, grant.paid, Reason::Charge, Some(grant.order));
    charged.expect("the escrow holds what an order can cost");
    let running = order.lease;
    let id = running.unwrap_or_else(|| lease_id(&grant.order, height));
    let before = running.and_then(|id| at.tables.leases.get(&id).cloned());
    let lease = lease(at, &order, &grant, before.as_ref());
    let terms = lease.terms(id);
    at.emit(Effect::Lease(match running {
        Some(_) => LeaseEvent::Renewed(terms),
        None => LeaseEvent::Started(terms),
    }));
    let part = |share: &Share| Part {
        offer: share.offer,
        units: share.units,
        stopped: None,
    };
    let stake = Stake {
        lease: id,
        order: grant.order,
        account: order.account,
        running: grant.paid,
        left: grant.paid,
        parts: lease.shares.iter().map(part).collect(),
    };
    lease::put(at, id, Some(lease));
    paid(&mut at.book(), &grant.order, |sum| {
        sum.checked_add(grant.paid)
            .expect("an order pays within its budget")
    });
    if let Some(order) = at.orders().get_mut(&grant.order) {
        order.lease = Some(id);
    }
    stake
}

/// The lease of a grant. Acknowledgements of offers that stay are kept; new offers get a new
/// deadline.
fn lease(work: &Work<'_>, order: &Order, grant: &Grant, before: Option<&Lease>) -> Lease {
    let kept = |share: &&Share| before.is_some_and(|l| l.has_delivered(&share.offer));
    let known = |share: &Share| before.is_some_and(|l| l.units_of(&share.offer) > 0);
    let deadline = work.constitution.policy.delivery_heights;
    let delivered = grant.shares.iter().filter(kept);
    Lease {
        order: grant.order,
        account: order.account,
        class: order.class,
        slot: grant.slot,
        delivered: delivered.map(|s| s.offer).collect(),
        shares: grant.shares.clone(),
        paid: grant.paid,
        pot: grant.pot,
        whole_slot: grant.whole_slot,
        slots_run: before.map_or(0, |l| l.slots_run),
        firm_through: grant.firm_through,
        deliver_by: match before {
            Some(lease) if grant.shares.iter().all(known) => lease.deliver_by,
            _ => work.height().saturating_add(deadline),
        },
    }
}

/// Changes what an order with a budget has paid so far.
pub(crate) fn paid(
    at: &mut Book<'_, '_>,
    order: &OrderId,
    change: impl FnOnce(Credits) -> Credits,
) {
    let order = at.orders().get_mut(order);
    if let Some(paid) = order.and_then(|o| o.paid_mut()) {
        *paid = change(*paid);
    }
}

/// The cost of units in the running slot, and the unused part of it.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) cost: Credits,
    pub(crate) unused: Credits,
}

/// The cost of some units (by offer) of a running lease: their share by number of the cost of all
/// its units, rounded down, but so much at the most that the rest covers the reserves of the units
/// that stay. Of that, `floor(cost * heights left / heights sold)` is unused.
///
/// So the cost of the running units covers their reserves at any time: it did when the lease was
/// granted (see `mechanism::ausubel::sellers`, and `firm::hold`), and no loss breaks it. See `slot`
/// for what follows.
pub(crate) fn cost(work: &Work<'_>, id: &LeaseId, losses: &BTreeMap<OfferId, u32>) -> Cost {
    let lease = work.tables.leases.get(id).expect("the lease runs");
    let pot = work.tables.pots.get(&lease.pot);
    let pot = pot.expect("a running lease has its pot");
    let stake = pot.stakes.iter().find(|s| s.lease == *id);
    let stake = stake.expect("a running lease has a stake in its pot");
    let units: u32 = losses.values().sum();
    let shared = stake
        .running
        .share_floor(u64::from(units), u64::from(lease.units()));
    let shared = shared.expect("a part of an amount is an amount");
    let cost = shared.min(stake.running.saturating_sub(owed(pot, stake, losses)));
    let left = heights_left(work, lease);
    let unused = cost.share_floor(left, pot.heights);
    Cost {
        cost,
        unused: unused.expect("a part of an amount is an amount"),
    }
}

/// Reserves, for all heights sold, of the units of a stake that run and stay.
fn owed(pot: &Pot, stake: &Stake, losses: &BTreeMap<OfferId, u32>) -> Credits {
    let running = stake.parts.iter().filter(|part| part.stopped.is_none());
    let owed: u128 = running
        .map(|part| {
            let lost = losses.get(&part.offer).copied().unwrap_or(0);
            u128::from(pot.reserve(&part.offer)) * u128::from(part.units.saturating_sub(lost))
        })
        .sum();
    // More than an amount would be more than the lease cost; then no loss costs anything.
    Credits::from_wide(owed).unwrap_or(Credits::MAX)
}

/// Heights of the lease's slot that are still to come.
fn heights_left(work: &Work<'_>, lease: &Lease) -> u64 {
    work.calendar().last_of_slot(lease.slot) - work.height()
}

/// Takes units (by offer) from a running lease and refunds the unused part of what they cost.
pub(crate) fn stop(at: &mut Floor<'_, '_>, id: &LeaseId, losses: &BTreeMap<OfferId, u32>) -> Cost {
    let cost = cost(at, id, losses);
    let lease = at.tables.leases.get(id).expect("the lease runs").clone();
    let left = heights_left(at, &lease);
    let pot = at.pots().get_mut(&lease.pot);
    let pot = pot.expect("a running lease has its pot");
    let stopped = |offer: &OfferId| Stopped {
        served: pot.heights - left,
        delivered: lease.has_delivered(offer),
        undisputed: false,
    };
    let ends: Vec<Part> = losses
        .iter()
        .map(|(offer, &units)| Part {
            offer: *offer,
            units,
            stopped: Some(stopped(offer)),
        })
        .collect();
    let stake = pot.stakes.iter_mut().find(|s| s.lease == *id);
    let stake = stake.expect("a running lease has a stake in its pot");
    for part in stake.parts.iter_mut().filter(|p| p.stopped.is_none()) {
        part.units -= losses.get(&part.offer).copied().unwrap_or(0);
    }
    stake.parts.retain(|part| part.units > 0);
    stake.parts.extend(ends);
    stake.running = stake.running.saturating_sub(cost.cost);
    stake.left = stake.left.saturating_sub(cost.unused);
    pot.left = pot.left.saturating_sub(cost.unused);
    let (from, to) = (Purse::Class(lease.class), Purse::Account(lease.account));
    at.post(from, to, cost.unused, Reason::Refund, Some(lease.order))
        .expect("the class holds what its pots hold");
    paid(&mut at.book(), &lease.order, |sum| {
        sum.saturating_sub(cost.unused)
    });
    lease::change(at, id, |lease| {
        lease.paid = lease.paid.saturating_sub(cost.unused);
        for share in &mut lease.shares {
            share.units -= losses.get(&share.offer).copied().unwrap_or(0);
        }
        lease.shares.retain(|share| share.units > 0);
    });
    cost
}

/// Takes all units from a running lease and ends it.
pub(crate) fn interrupt(at: &mut Floor<'_, '_>, id: &LeaseId, why: LeaseEnd) {
    let lease = at.tables.leases.get(id).expect("the lease runs");
    let losses = lease.shares.iter().map(|s| (s.offer, s.units)).collect();
    stop(at, id, &losses);
    end(at, id, why);
}

/// Ends a lease. Its order stands again if the reason says so, it is a bid or a claim, and it was
/// not cancelled; or if it is a job that was taken. A buy of which no full slot was delivered ends
/// as one without units.
pub(crate) fn end(at: &mut Floor<'_, '_>, id: &LeaseId, why: LeaseEnd) {
    let lease = at.tables.leases.get(id).expect("the lease runs").clone();
    lease::put(at, *id, None);
    at.emit(Effect::Lease(LeaseEvent::Ended {
        lease: *id,
        order: lease.order,
        end: why,
    }));
    let order = at.orders().get_mut(&lease.order);
    let order = order.expect("a lease's order is live");
    order.lease = None;
    if let Some(live) = order.stage.live_mut() {
        live.lease_ended(why);
    }
    if order.stands_again(why) {
        return;
    }
    let why = match why {
        LeaseEnd::Unfunded => OrderEnd::Unfunded,
        LeaseEnd::Exit => OrderEnd::Cancelled,
        _ if order.exiting => OrderEnd::Cancelled,
        LeaseEnd::Preempted => OrderEnd::Evicted,
        LeaseEnd::Undelivered | LeaseEnd::Disputed if lease.slots_run == 0 => OrderEnd::NoUnits,
        _ => OrderEnd::Served,
    };
    book::end(&mut at.book(), &lease.order, why);
}
