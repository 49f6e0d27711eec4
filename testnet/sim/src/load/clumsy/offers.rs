//! Blunders with offers.

use super::super::desk::Desk;
use super::super::key::Key;
use super::super::seller::{self, HOARD};
use crate::found::node_key;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::units::Price;

impl Desk<'_> {
    /// Somebody who offers as often as an account may.
    fn hoarder(&mut self) -> Option<(AccountId, Key)> {
        let full = |(account, _): &(AccountId, Key)| {
            self.state.offers_of(account).count() >= limits::OFFERS_PER_ACCOUNT
        };
        self.owners().into_iter().find(full)
    }
}

pub(super) fn no_offer(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.by_owner(EntryBody::WithdrawOffer { label: u32::MAX })
}

pub(super) fn offer_class(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let offers: Vec<_> = desk.state.offers().collect();
    let (_, offer) = desk.load.rng.pick(&offers).copied()?;
    let key = desk.key_of(&offer.seller)?;
    let mut classes = desk.classes.iter();
    let terms = OfferTerms {
        class: *classes.find(|class| **class != offer.terms.class)?,
        ..offer.terms.clone()
    };
    Some(desk.sign(offer.seller, &key, EntryBody::SetOffer(terms)))
}

pub(super) fn offer_quota(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (seller, key) = desk.hoarder()?;
    let terms = seller::hoarded(desk.classes[2], desk.patron, u32::MAX);
    Some(desk.sign(seller, &key, EntryBody::SetOffer(terms)))
}

pub(super) fn class_units(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (seller, key) = desk.hoarder()?;
    let offers: Vec<_> = desk.state.offers_of(&seller).collect();
    let (_, offer) = offers.iter().find(|(_, o)| o.terms.label >= HOARD)?;
    let terms = OfferTerms {
        units: limits::OFFER_UNITS,
        node: node_key(desk.patron),
        ..offer.terms.clone()
    };
    Some(desk.sign(seller, &key, EntryBody::SetOffer(terms)))
}

/// Units under reservation for more than the posted price.
pub(super) fn unbookable(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let class = desk.state.class(&desk.classes[0])?;
    let terms = OfferTerms {
        reserve: Price(class.reference_price.0 + 1),
        buy_price: None,
        reclaim: Reclaim::None,
        mechanism: Primary::Reservation,
        ..seller::hoarded(desk.classes[0], desk.patron, HOARD)
    };
    desk.by_owner(EntryBody::SetOffer(OfferTerms { units: 1, ..terms }))
}
