//! `set_offer`: new terms, in force after the clearing of the round that includes them (see `catalogue`).
//!
//! The units of a class are bounded, and an offer costs nothing, so units that nobody has could take all room. Half of it
//! is therefore kept for all alike: for each founding member an equal part for its own account, and one for the accounts
//! that it answers for. Whoever is below its part finds room, whatever others offer; the other half is for the first.

use crate::market;
use crate::offer::{Offer, Pending};
use crate::refusal::Refusal;
use crate::reservation;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::limits;
use gridbay_protocol::offer::{OfferTerms, Primary, offer_id};
use std::collections::BTreeMap;

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
    check_units(
        work,
        seller,
        terms,
        &id,
        Offer::most_units,
        limits::CLASS_UNITS,
    )?;
    if terms.mechanism == Primary::Reservation {
        let limit = limits::RESERVABLE_UNITS;
        check_units(work, seller, terms, &id, reservation::reservable, limit)?;
    }
    Ok(())
}

/// Who shares the room of a class: a founding member's own account, or all others that it answers for.
type Party = (AccountId, bool);

fn party(work: &Work<'_>, seller: &AccountId) -> Party {
    let sponsor = work.sponsor(seller);
    (sponsor, sponsor == *seller)
}

/// Whether the units of all offers, each with as many as `of` it, and this one's stay within a limit, with what is
/// kept for others.
fn check_units(
    work: &Work<'_>,
    seller: &AccountId,
    terms: &OfferTerms,
    id: &OfferId,
    of: impl Fn(&Offer) -> u32,
    limit: u32,
) -> Result<(), Refusal> {
    let bound = work.tables.offers.get(id).map_or(0, |o| o.bound);
    let own = party(work, seller);
    let mut taken = BTreeMap::from([(own, u64::from(terms.units.max(bound)))]);
    for (other, offer) in market::offers(work, &terms.class) {
        if other != *id {
            *taken.entry(party(work, &offer.seller)).or_default() += u64::from(of(offer));
        }
    }
    let parties = 2 * work.constitution.members.len().max(1);
    let kept = u64::from(limit) / (2 * parties as u64);
    let absent = parties.saturating_sub(taken.len()) as u64;
    let with_kept = taken.iter().map(|(party, units)| match *party == own {
        true => *units,
        false => kept.max(*units),
    });
    let units = with_kept.sum::<u64>() + absent * kept;
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
        disputed_by: Vec::new(),
        disputed_in: 0,
    };
    let mut offer = work.tables.offers.get(&id).cloned().unwrap_or_else(fresh);
    offer.pending = Some(Pending::Set(Box::new(terms.clone())));
    work.tables.offers.insert(id, offer);
}
