//! Reservations at a slot boundary, class by class, before the auctions sell what they leave free.
//!
//! 1. All reservations that stand and can still begin compete, each with its rank. If they are more
//!    than [`RESERVATIONS_DECIDED`], the densest do (value per node-slot; ties as in the
//!    mechanism).
//! 2. For sale are the units of offers under reservation, in the slots of the window policy, less
//!    those taken (see [`busy`]). An offer that changes at the end of this block sells no more than
//!    it will have then: fewer units, or none if it will not sell under reservation.
//! 3. The mechanism decides, unless the block brings a hint that is worth more (see [`hints`]). The
//!    record of the whole input and outcome is an effect. Without reservations or units nothing
//!    happens.
//! 4. Winners are booked. Their value stays locked: each slot costs an equal part of it, rounded
//!    down, and the first one the remainder as well.
//! 5. Bookings that begin with the next slot get their leases (see [`stay`]).

mod admissible;
mod ahead;
pub(crate) mod busy;
mod hints;
mod preview;
mod stay;

pub(crate) use admissible::{check, check_terms};
pub use ahead::FreeAhead;
pub(crate) use hints::Hints;

use crate::record::{Booking, Offer, Pending};
use crate::sell::hooks::Sells;
use crate::view::{Book, Floor, Money};
use crate::work::Work;
use crate::{book, market};
use gridbay_protocol::class::Class;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{ClassId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, Share};
use gridbay_protocol::limits::RESERVATIONS_DECIDED;
use gridbay_protocol::mechanism::reservation;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::record::reservation::{ReservationBid, ReservationRecord};
use gridbay_protocol::units::Credits;
use std::cmp::{Ordering, Reverse};

/// Reservations.
pub(crate) struct Reservations;

impl Sells for Reservations {
    fn at_slot(work: &mut Work<'_>) {
        let mut hints = std::mem::take(&mut work.hints);
        turn(&mut work.floor(), &mut hints);
        work.hints = hints;
    }
    fn lost(at: &mut Floor<'_, '_>, lease: &LeaseId, offers: &[OfferId], why: LeaseEnd) {
        stay::lose(at, lease, offers, why);
    }
    fn given_up(at: &mut Money<'_, '_>, order: &OrderId) {
        stay::give_up(at, order);
    }
}

/// See the module.
fn turn(at: &mut Floor<'_, '_>, hints: &mut Hints) {
    for class in &at.constitution.classes {
        decide(at, hints, class);
    }
    stay::begin(at);
}

/// First slot for sale at this boundary.
fn next_slot(work: &Work<'_>) -> u64 {
    work.calendar().slot(work.height()) + 1
}

/// Steps 1 to 4.
fn decide(at: &mut Floor<'_, '_>, hints: &mut Hints, class: &Class) {
    let Some(mut record) = asked(&mut at.book(), class) else {
        return;
    };
    let input = record.input(&at.constitution.policy.reservation);
    let found = reservation::clear(&input);
    let found = found.expect("the book holds reservations and units within the limits");
    let outcome = match hints.take(&record, &input, &found) {
        Some(better) => {
            let worth = Credits::from_wide(found.total);
            record.beaten = Some(worth.expect("bids are locked, and all money is an amount"));
            better
        }
        None => found,
    };
    record.booked = record.winners(&outcome);
    at.emit(Effect::Reservation(record.clone()));
    for won in record.booked {
        let order = at.orders().get_mut(&won.order);
        let order = order.and_then(|o| o.reservation_mut());
        let order = order.expect("winners stand");
        let (price, first) = order.wish.per_slot();
        let taken = won.shares.iter().map(|share| ClearingOffer {
            offer: share.offer,
            units: share.units,
            reserve: record.posted,
        });
        order.booking = Some(Booking {
            start: won.start,
            last: won.start + u64::from(order.wish.slots) - 1,
            taken: taken.collect(),
            channel: won.channel,
            price,
            first,
        });
    }
}

/// The input of a class's decision at this boundary, as a record without winners; `None` without
/// reservations or units.
fn asked(at: &mut Book<'_, '_>, class: &Class) -> Option<ReservationRecord> {
    let id = class.key.id();
    let bids = standing(at, &id);
    let units = for_sale(at, &id);
    if bids.is_empty() || units.is_empty() {
        return None;
    }
    let next = next_slot(at);
    let slots = at.constitution.policy.reservation.slots;
    Some(ReservationRecord {
        class: id,
        height: at.height(),
        slot: next,
        posted: class.reference_price,
        busy: busy::units(at, next, slots, &units),
        channels: busy::channels(at, &id, next),
        units,
        bids,
        booked: vec![],
        beaten: None,
    })
}

/// The reservations that compete, by order; step 1.
fn standing(at: &mut Book<'_, '_>, class: &ClassId) -> Vec<ReservationBid> {
    let mut bids: Vec<ReservationBid> = Vec::new();
    for id in book::of_class(at, class) {
        if let Some(bid) = enter(at, &id) {
            bids.push(bid);
        }
    }
    if bids.len() > RESERVATIONS_DECIDED {
        bids.sort_by(denser);
        bids.truncate(RESERVATIONS_DECIDED);
        bids.sort_unstable_by_key(|bid| bid.order);
    }
    bids
}

fn enter(at: &mut Book<'_, '_>, id: &OrderId) -> Option<ReservationBid> {
    let drawn = Hash32(at.rank(id.as_bytes()));
    let order = at.tables.orders.get(id)?;
    let round = order.round;
    order.reservation().filter(|r| r.booking.is_none())?;
    let order = at.orders().get_mut(id)?.reservation_mut()?;
    let rank = *order.rank.get_or_insert(drawn);
    Some(ReservationBid::new(*id, round, rank, &order.wish))
}

/// Densest first.
fn denser(a: &ReservationBid, b: &ReservationBid) -> Ordering {
    let size = |bid: &ReservationBid| {
        let units: u64 = bid.groups.iter().map(|g| u64::from(g.units)).sum();
        u128::from(units) * u128::from(bid.slots)
    };
    let density = |bid: &ReservationBid, other| u128::from(bid.value.micros()) * size(other);
    let by_density = Reverse(density(a, b)).cmp(&Reverse(density(b, a)));
    by_density.then_with(|| (a.round, a.rank, a.order).cmp(&(b.round, b.rank, b.order)))
}

/// Units for sale by offer, ascending; step 2.
fn for_sale(work: &Work<'_>, class: &ClassId) -> Vec<Share> {
    let offers = market::offers(work, class).into_iter();
    let offers = offers.map(|(offer, terms)| Share {
        offer,
        units: sells(terms),
    });
    offers.filter(|share| share.units > 0).collect()
}

fn sells(offer: &Offer) -> u32 {
    let now = match offer.terms.mechanism == Primary::Reservation {
        true => offer.supply(),
        false => 0,
    };
    match &offer.pending {
        Some(Pending::Set(terms)) if terms.mechanism == Primary::Reservation => {
            now.min(terms.units)
        }
        Some(_) => 0,
        None => now,
    }
}
