//! Reservations from the ledger, joined with this node's orders.

use super::types::{BookingAhead, OfferAhead, ReservationWindow};
use crate::api::Answer;
use crate::backend::NodeBackend;
use crate::market::price::limit_hourly;
use crate::order::own::Own;
use gridbay_core::Core;
use gridbay_ledger::{Booking, FreeAhead, Order};
use gridbay_protocol::class::Class;
use gridbay_protocol::ids::OrderId;

impl NodeBackend {
    /// The classes that sell ahead of time or have bookings.
    pub async fn reservations(&self) -> Answer<Vec<ReservationWindow>> {
        self.query(windows).await
    }
}

fn windows(core: &Core) -> Vec<ReservationWindow> {
    let own = Own::of(core);
    let classes = core.state().classes().iter();
    let windows = classes.map(|class| window(core, class, &own));
    windows
        .filter(|window| !window.offers.is_empty() || !window.bookings.is_empty())
        .collect()
}

fn window(core: &Core, class: &Class, own: &Own) -> ReservationWindow {
    let (state, policy) = (core.state(), core.state().policy());
    let id = class.key.id();
    let (slot, free) = state.free_ahead(&id);
    let of_class = |(_, order): &(&OrderId, &Order)| order.class == id;
    let reserved = state.orders().filter(of_class);
    let (mut bookings, mut waiting) = (Vec::new(), 0);
    for (order, found) in reserved {
        match found.reservation().map(|reserved| &reserved.booking) {
            Some(Some(booking)) if found.lease.is_none() => {
                bookings.push(booked(order, booking, own));
            }
            Some(None) => waiting += 1,
            _ => {}
        }
    }
    bookings.sort_by_key(|booking| (booking.first_slot, booking.order));
    ReservationWindow {
        class: class.name.clone(),
        slot,
        slots: policy.reservation.slots,
        starts: policy.reservation.starts,
        slot_ms: policy.slot_ms(),
        posted: limit_hourly(class.reference_price, policy.slot_ms()),
        waiting,
        offers: free.into_iter().map(|free| ahead(core, free)).collect(),
        bookings,
    }
}

fn ahead(core: &Core, free: FreeAhead) -> OfferAhead {
    let state = core.state();
    let offer = state.offer(&free.offer);
    let seller = offer.map(|offer| offer.seller);
    OfferAhead {
        offer: free.offer,
        label: offer.map_or(0, |offer| offer.terms.label),
        account: seller.unwrap_or_default(),
        name: seller.and_then(|seller| state.member_name(&seller).map(str::to_owned)),
        own: seller.is_some() && core.account() == seller,
        units: free.units,
        free: free.free,
    }
}

fn booked(order: &OrderId, booking: &Booking, own: &Own) -> BookingAhead {
    let (job, name) = own.job(order);
    BookingAhead {
        order: *order,
        job,
        name,
        units: booking.units(),
        first_slot: booking.start,
        last_slot: booking.last,
        price: booking.price,
    }
}
