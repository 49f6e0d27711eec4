//! `withdraw_offer`: no sale any more, from when `catalogue` says.

use crate::catalogue;
use crate::record::Pending;
use crate::refusal::Refusal;
use crate::view::Shelf;
use crate::work::Work;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::offer::offer_id;

pub(super) fn check(work: &Work<'_>, seller: &AccountId, label: u32) -> Result<(), Refusal> {
    let id = offer_id(seller, label);
    let offer = work.tables.offers.get(&id).ok_or(Refusal::NoOffer(id))?;
    let sells = match &offer.pending {
        Some(Pending::Withdraw) => false,
        Some(Pending::Set(_)) => true,
        None => offer.active,
    };
    if sells {
        Ok(())
    } else {
        Err(Refusal::NoOffer(id))
    }
}

pub(super) fn apply(at: &mut Shelf<'_, '_>, seller: &AccountId, label: u32) {
    let id = offer_id(seller, label);
    let offer = at.tables.offers.get(&id).cloned();
    let mut offer = offer.expect("the offer was checked");
    offer.pending = Some(Pending::Withdraw);
    catalogue::put(at, id, Some(offer));
}
