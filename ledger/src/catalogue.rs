//! Changes of offers take effect when a round closes, after its clearing: offers are frozen while
//! bids are open.
//!
//! A change to the worse (a higher reserve, fewer units, a withdrawal) of an offer with units in
//! preemptible leases waits for the clearing of the next slot boundary. Units beyond the new terms
//! stay bound while leases hold them, or bookings will. Another mechanism waits until the last
//! booking has begun; nothing is booked meanwhile. A withdrawn offer leaves the state when nothing
//! is held or booked of it.
//!
//! An offer with taken jobs (see `deadline`) has its units bound: fewer units, another mechanism or
//! a withdrawal wait until they have ended, and meanwhile it takes no new ones.
//!
//! An offer whose seller missed a deadline of delivery, or of which buyers complained again and
//! again (see `retention`), is withdrawn at once: the orders that ran on it must not be given to it
//! again. It is for sale again when its seller sets it again, or has set it in a change that still
//! waits.

use crate::record::{Offer, Pending};
use crate::sell::deadline;
use crate::sell::reservation::busy;
use crate::view::Shelf;
use crate::{holdings, market, scarce};
use gridbay_protocol::ids::OfferId;

/// Withdraws an offer whose seller did not deliver. A change that waits stays.
pub(crate) fn suspend(at: &mut Shelf<'_, '_>, id: &OfferId) {
    if let Some(mut offer) = at.tables.offers.get(id).cloned() {
        offer.active = false;
        put(at, *id, Some(offer));
    }
}

/// Sets or removes an offer, and counts it (see [`scarce`] and [`holdings`]).
pub(crate) fn put(at: &mut Shelf<'_, '_>, id: OfferId, offer: Option<Offer>) {
    let was = at.tables.offers.get(&id).cloned();
    scarce::note(&mut at.counts(), was.as_ref(), offer.as_ref());
    match (&was, &offer) {
        (None, Some(new)) => holdings::enter(&mut at.counts(), new),
        (Some(gone), None) => holdings::leave(&mut at.counts(), gone),
        (Some(_), Some(_)) | (None, None) => {}
    }
    match offer {
        Some(offer) => at.offers().insert(id, offer),
        None => drop(at.offers().remove(&id)),
    }
}

/// Applies what is due at the close of a round.
pub(crate) fn update(at: &mut Shelf<'_, '_>) {
    let held = market::held(at);
    let boundary = at.closes_slot();
    let peaks = busy::peaks(at, at.calendar().slot(at.height() + 1));
    let booked = busy::booked(at);
    let ids: Vec<OfferId> = at.tables.offers.iter().map(|(id, _)| *id).collect();
    for id in ids {
        let Some(offer) = at.tables.offers.get(&id) else {
            continue;
        };
        let mut offer = offer.clone();
        let held = held.get(&id).copied().unwrap_or_default();
        let binds = deadline::binds(at, &id);
        let waits = (offer.worsens() && held.preemptible > 0 && !boundary)
            || (deadline::is_leaving(&offer) && binds)
            || (offer.changes_mechanism() && booked.contains(&id));
        if !waits {
            match offer.pending.take() {
                Some(Pending::Set(terms)) => {
                    offer.terms = *terms;
                    offer.active = true;
                }
                Some(Pending::Withdraw) => {
                    offer.active = false;
                }
                None => {}
            }
        }
        let promised = if binds { offer.terms.units } else { 0 };
        let peak = peaks.get(&id).copied().unwrap_or_default();
        offer.bound = offer.supply().max(held.all()).max(promised).max(peak);
        if !offer.active && offer.bound == 0 && offer.pending.is_none() {
            put(at, id, None);
        } else if at.tables.offers.get(&id) != Some(&offer) {
            put(at, id, Some(offer));
        }
    }
}
