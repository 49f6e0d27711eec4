//! `set_offer`: new terms, in force after the clearing of the round that includes them (see `catalogue`).

use crate::market;
use crate::offer::{Offer, Pending};
use crate::refusal::Refusal;
use crate::reservation;
use crate::work::Work;
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
            let own = work
                .tables
                .offers
                .iter()
                .filter(|(_, o)| o.seller == *seller);
            if own.count() >= limits::OFFERS_PER_ACCOUNT {
                return Err(Refusal::OfferQuota {
                    account: *seller,
                    limit: limits::OFFERS_PER_ACCOUNT,
                });
            }
        }
    }
    check_units(work, terms, &id, Offer::most_units, limits::CLASS_UNITS)?;
    if terms.mechanism == Primary::Reservation {
        let limit = limits::RESERVABLE_UNITS;
        check_units(work, terms, &id, reservation::reservable, limit)?;
    }
    Ok(())
}

/// Whether the units of all offers, each with as many as `of` it, and this one's stay within a limit.
fn check_units(
    work: &Work<'_>,
    terms: &OfferTerms,
    id: &OfferId,
    of: impl Fn(&Offer) -> u32,
    limit: u32,
) -> Result<(), Refusal> {
    let others = market::offers(work, &terms.class).into_iter();
    let others = others.filter(|(other, _)| other != id);
    let taken: u64 = others.map(|(_, o)| u64::from(of(o))).sum();
    let bound = work.tables.offers.get(id).map_or(0, |o| o.bound);
    let units = taken + u64::from(terms.units.max(bound));
    if units > u64::from(limit) {
        return Err(Refusal::ClassUnits {
            class: terms.class,
            units,
            limit,
        });
    }
    Ok(())
}

pub(super) fn apply(work: &mut Work<'_>, seller: &AccountId, terms: &OfferTerms) {
    let id = offer_id(seller, terms.label);
    let fresh = || Offer {
        seller: *seller,
        terms: terms.clone(),
        active: false,
        bound: 0,
        pending: None,
    };
    let mut offer = work.tables.offers.get(&id).cloned().unwrap_or_else(fresh);
    offer.pending = Some(Pending::Set(Box::new(terms.clone())));
    work.tables.offers.insert(id, offer);
}
