//! `complain`: a buyer was not served by an offer in a slot of a lease (see `retention`).

use crate::refusal::Refusal;
use crate::retention::{self, Complaint};
use crate::view::Till;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, LeaseId, OfferId};

fn said(lease: &LeaseId, offer: &OfferId, slot: u64) -> Complaint {
    Complaint {
        lease: *lease,
        offer: *offer,
        slot,
    }
}

pub(super) fn check(
    work: &Work<'_>,
    buyer: &AccountId,
    lease: &LeaseId,
    offer: &OfferId,
    slot: u64,
) -> Result<(), Refusal> {
    retention::check(work, buyer, &said(lease, offer, slot))
}

pub(super) fn apply(
    at: &mut Till<'_, '_>,
    buyer: &AccountId,
    lease: &LeaseId,
    offer: &OfferId,
    slot: u64,
) {
    retention::complain(at, buyer, &said(lease, offer, slot));
}
