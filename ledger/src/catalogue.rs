//! Changes of offers take effect when a round closes, after its clearing: offers are frozen while bids are open.
//!
//! A change to the worse (a higher reserve, fewer units, a withdrawal) of an offer with units in preemptible leases
//! waits for the clearing of the next slot boundary. Units beyond the new terms stay bound while leases hold
//! them, or bookings will. Another mechanism waits until the last booking has begun; nothing is booked meanwhile. A
//! withdrawn offer leaves the state when nothing is held or booked of it.
//!
//! An offer with taken jobs (see `deadline`) has its units bound: fewer units, another mechanism or a withdrawal wait until
//! they have ended, and meanwhile it takes no new ones.
//!
//! An offer whose seller missed a deadline of delivery, or of which buyers complained again and again (see
//! `retention`), is withdrawn at once: what stood on it must not be sold to it again.
//! It is for sale again when its seller sets it again, or has set it in a change that still waits.

use crate::record::{Offer, Pending};
use crate::reservation::busy;
use crate::work::Work;
use crate::{deadline, holdings, market, scarce};
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::planted::{self, Planted};

/// Withdraws an offer whose seller did not deliver. A change that waits stays.
pub(crate) fn suspend(work: &mut Work<'_>, id: &OfferId) {
    if let Some(mut offer) = work.tables.offers.get(id).cloned() {
        offer.active = false;
        put(work, *id, Some(offer));
    }
}

/// Sets or removes an offer, and counts it (see [`scarce`] and [`holdings`]).
pub(crate) fn put(work: &mut Work<'_>, id: OfferId, offer: Option<Offer>) {
    let was = work.tables.offers.get(&id).cloned();
    scarce::note(work, was.as_ref(), offer.as_ref());
    match (&was, &offer) {
        (None, Some(new)) => holdings::enter(work, new),
        (Some(gone), None) => holdings::leave(work, gone),
        (Some(_), Some(_)) | (None, None) => {}
    }
    match offer {
        Some(offer) => work.tables.offers.insert(id, offer),
        None => drop(work.tables.offers.remove(&id)),
    }
}

/// Applies what is due at the close of a round.
pub(crate) fn update(work: &mut Work<'_>) {
    let held = market::held(work);
    let boundary = work.closes_slot();
    let peaks = busy::peaks(work, work.calendar().slot(work.height() + 1));
    let booked = busy::booked(work);
    let ids: Vec<OfferId> = work.tables.offers.iter().map(|(id, _)| *id).collect();
    for id in ids {
        let Some(offer) = work.tables.offers.get(&id) else {
            continue;
        };
        let mut offer = offer.clone();
        let held = held.get(&id).copied().unwrap_or_default();
        let binds = deadline::binds(work, &id);
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
                    offer.active = planted::is(Planted::WithdrawnOfferSells);
                }
                None => {}
            }
        }
        let promised = if binds { offer.terms.units } else { 0 };
        let peak = peaks.get(&id).copied().unwrap_or_default();
        offer.bound = offer.supply().max(held.all()).max(promised).max(peak);
        if !offer.active && offer.bound == 0 && offer.pending.is_none() {
            put(work, id, None);
        } else if work.tables.offers.get(&id) != Some(&offer) {
            put(work, id, Some(offer));
        }
    }
}
