//! Bookings that begin, lose units, or are given up.
//!
//! - [`begin`]: the lease is firm to the last slot and pays slot by slot from the escrow, each slot
//!   with a pot of its own, in which every unit earns at least the posted price.
//! - [`lose`]: a seller fails. Its units leave the lease, the others go on. Their cost in this slot
//!   comes back as with every lease; for the slots to come, their part by number comes back at
//!   once: `floor(price * lost / units)` a slot. The rest of the price covers the posted price of
//!   the units left, because the whole did.
//! - [`give_up`]: a booking that has not begun is cancelled. The sellers of its units get the price
//!   of its first slot; otherwise keeping others out would cost nothing. Where revenue is shared by
//!   all, the bank gets it in the sellers' place.

use super::next_slot;
use crate::firm;
use crate::market::seller;
use crate::record::{Booking, Sale};
use crate::tenancy::{self, Grant};
use crate::view::{Floor, Money};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent, lease_id};
use gridbay_protocol::mechanism::level;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Starts the leases of the next slot.
pub(super) fn begin(at: &mut Floor<'_, '_>) {
    let next = next_slot(at);
    let due = |booking: &Booking| booking.start == next;
    let orders = at.tables.orders.iter();
    let due: Vec<(OrderId, Booking)> = orders
        .filter(|(_, order)| order.lease.is_none())
        .filter_map(|(id, order)| Some((*id, order.reservation()?.booking.clone()?)))
        .filter(|(_, booking)| due(booking))
        .collect();
    let heights = at.calendar().slot_heights();
    for (id, booking) in due {
        let sale = Sale {
            price: booking.first_slot(),
            taken: booking.taken.clone(),
        };
        let grant = Grant {
            order: id,
            slot: next,
            shares: booking.shares(),
            paid: sale.price,
            pot: Hash32(lease_id(&id, at.height()).0),
            whole_slot: true,
            firm_through: Some(booking.last),
        };
        firm::hold(at, grant, heights, &[sale]);
    }
}

/// Takes the units of some offers from a running reservation.
pub(super) fn lose(at: &mut Floor<'_, '_>, id: &LeaseId, offers: &[OfferId], why: LeaseEnd) {
    let lease = at.tables.leases.get(id).expect("the lease runs");
    let (order, account, slot) = (lease.order, lease.account, lease.slot);
    let lost = lease.shares.iter().filter(|s| offers.contains(&s.offer));
    let losses: BTreeMap<OfferId, u32> = lost.map(|s| (s.offer, s.units)).collect();
    tenancy::stop(at, id, &losses);
    let record = at.orders().get_mut(&order);
    let booking = record.and_then(|o| o.reservation_mut()?.booking.as_mut());
    let booking = booking.expect("a running reservation is booked");
    let (units, gone) = (booking.units(), losses.values().sum::<u32>());
    let less = booking.price.share_floor(gone.into(), units.into());
    let less = less.expect("a part of an amount is an amount");
    booking.price = booking.price.saturating_sub(less);
    booking.taken.retain(|t| !losses.contains_key(&t.offer));
    let to_come = booking.last - slot;
    let back = less.checked_mul(to_come);
    let back = back.expect("a part of the value is an amount");
    let (from, to) = (Purse::Escrow(order), Purse::Account(account));
    at.post(from, to, back, Reason::Release, Some(order))
        .expect("the escrow holds the price of the slots to come");
    let lease = at.tables.leases.get(id).expect("the lease runs");
    if lease.shares.is_empty() {
        tenancy::end(at, id, why);
    } else {
        let terms = lease.terms(*id);
        at.emit(Effect::Lease(LeaseEvent::Renewed(terms)));
    }
}

/// Pays the sellers of a booking whose order ends before it begins, or the bank; nothing if it is
/// not booked.
pub(super) fn give_up(at: &mut Money<'_, '_>, id: &OrderId) {
    let order = at.tables.orders.get(id);
    let Some(booking) = order.and_then(|o| o.reservation()?.booking.clone()) else {
        return;
    };
    let sold = |t: &ClearingOffer| level::Sold {
        offer: t.offer,
        units: t.units,
        floor: t.reserve.0,
    };
    let sold: Vec<level::Sold<OfferId>> = booking.taken.iter().map(sold).collect();
    let earned = level::earnings(&sold, u128::from(booking.first_slot().micros()));
    let earned = earned.expect("a slot of a booking pays the posted price of its units");
    let shared = at.constitution.policy.bank.shares_revenue();
    for (sold, earned) in sold.iter().zip(earned) {
        let to = match shared {
            true => Purse::Bank,
            false => Purse::Account(seller(at, &sold.offer)),
        };
        let amount = Credits::from_wide(earned).expect("a part of a payment is an amount");
        let from = Purse::Escrow(*id);
        at.post(from, to, amount, Reason::Cancellation, Some(*id))
            .expect("the escrow holds the value of a booking");
    }
}
