//! `deliver`: a seller's acknowledgement that its units of a lease are ready; again only after a
//! slot without a sign of life (see `heartbeat`). It is a sign of life itself.

use crate::refusal::Refusal;
use crate::view::Floor;
use crate::work::Work;
use crate::{heartbeat, lease};
use gridbay_protocol::ids::{AccountId, LeaseId, OfferId};

pub(super) fn check(work: &Work<'_>, seller: &AccountId, id: &LeaseId) -> Result<(), Refusal> {
    let lease = work.tables.leases.get(id).ok_or(Refusal::NoLease(*id))?;
    let own = offers_of(work, seller, id);
    let open = own
        .iter()
        .any(|o| lease.delivered.binary_search(o).is_err());
    if open {
        Ok(())
    } else {
        Err(Refusal::NothingToDeliver {
            lease: *id,
            seller: *seller,
        })
    }
}

pub(super) fn apply(at: &mut Floor<'_, '_>, seller: &AccountId, id: &LeaseId) {
    let own = offers_of(at, seller, id);
    for offer in &own {
        heartbeat::beat(at, offer);
    }
    lease::change(at, id, |lease| {
        lease.delivered.extend(own);
        lease.delivered.sort_unstable();
        lease.delivered.dedup();
    });
}

/// Offers of a seller in a lease.
pub(super) fn offers_of(work: &Work<'_>, seller: &AccountId, id: &LeaseId) -> Vec<OfferId> {
    let Some(lease) = work.tables.leases.get(id) else {
        return Vec::new();
    };
    let is_own = |offer: &OfferId| {
        let offer = work.tables.offers.get(offer);
        offer.is_some_and(|o| o.seller == *seller)
    };
    let offers = lease.shares.iter().map(|s| s.offer);
    offers.filter(is_own).collect()
}
