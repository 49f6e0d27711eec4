//! `set_offer`: new terms, in force after the clearing of the round that includes them (see
//! `catalogue`). An account has so many offers, and a class so much room (see `scarce`).

use crate::record::{Holding, Offer, Pending, Scarce, Takes};
use crate::refusal::Refusal;
use crate::sell::reservation;
use crate::view::Shelf;
use crate::work::Work;
use crate::{catalogue, holdings, scarce};
use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::limits;
use gridbay_protocol::offer::{OfferTerms, Primary, offer_id};

pub(super) fn check(
    work: &Work<'_>,
    seller: &AccountId,
    terms: &OfferTerms,
) -> Result<(), Refusal> {
    let class = terms.class;
    let record = work.class(&class).ok_or(Refusal::NoClass(class))?;
    reservation::check_terms(record, terms)?;
    let id = offer_id(seller, terms.label);
    match work.tables.offers.get(&id) {
        Some(offer) if offer.terms.class != class => {
            return Err(Refusal::OfferClass {
                offer: id,
                class: offer.terms.class,
            });
        }
        Some(_) => {}
        None => {
            let own = holdings::count(work, seller, Holding::Offer);
            if own as usize >= limits::OFFERS_PER_ACCOUNT {
                return Err(Refusal::OfferQuota {
                    account: *seller,
                    limit: limits::OFFERS_PER_ACCOUNT,
                });
            }
        }
    }
    has_room(work, seller, terms, &id)
}

/// Whether the class has room for the units, in place of those of the same offer.
fn has_room(
    work: &Work<'_>,
    seller: &AccountId,
    terms: &OfferTerms,
    id: &OfferId,
) -> Result<(), Refusal> {
    let same = work.tables.offers.get(id);
    let more = terms.units.max(same.map_or(0, |offer| offer.bound)).into();
    let back = |what| {
        let taken = same.map(Takes::takes).unwrap_or_default();
        let of_it = taken.into_iter().filter(|(of, ..)| *of == what);
        of_it.map(|(.., count)| count).sum()
    };
    let within = |what: Scarce, limit| {
        let checked = scarce::check(work, what, seller, back(what), more);
        checked.map_err(|units| Refusal::ClassUnits {
            class: terms.class,
            units,
            limit,
        })
    };
    within(Scarce::Units(terms.class), limits::CLASS_UNITS)?;
    if terms.mechanism == Primary::Reservation {
        within(Scarce::Reservable(terms.class), limits::RESERVABLE_UNITS)?;
    }
    Ok(())
}

pub(super) fn apply(at: &mut Shelf<'_, '_>, seller: &AccountId, terms: &OfferTerms) {
    let id = offer_id(seller, terms.label);
    let fresh = || Offer {
        seller: *seller,
        terms: terms.clone(),
        active: false,
        bound: 0,
        pending: None,
        disputed_by: Vec::new(),
        disputed_in: 0,
    };
    let mut offer = at.tables.offers.get(&id).cloned().unwrap_or_else(fresh);
    offer.pending = Some(Pending::Set(Box::new(terms.clone())));
    catalogue::put(at, id, Some(offer));
}
