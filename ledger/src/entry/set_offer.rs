//! `set_offer`: new terms, in force after the clearing of the round that includes them (see `catalogue`).

use crate::market;
use crate::offer::{Offer, Pending};
use crate::refusal::Refusal;
use crate::work::Work;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits;
use gridbay_protocol::offer::{OfferTerms, offer_id};

pub(super) fn check(
    work: &Work<'_>,
    seller: &AccountId,
    terms: &OfferTerms,
) -> Result<(), Refusal> {
    let class = terms.class;
    if work.class(&class).is_none() {
        return Err(Refusal::NoClass(class));
    }
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
    let others = market::offers(work, &class).into_iter();
    let others = others.filter(|(other, _)| *other != id);
    let taken: u64 = others.map(|(_, o)| u64::from(o.most_units())).sum();
    let bound = work.tables.offers.get(&id).map_or(0, |o| o.bound);
    let units = taken + u64::from(terms.units.max(bound));
    if units > u64::from(limits::CLASS_UNITS) {
        return Err(Refusal::ClassUnits {
            class,
            units,
            limit: limits::CLASS_UNITS,
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
