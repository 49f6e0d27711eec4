//! `fail`: a seller cannot deliver its units of a lease. The lease ends at once (a reservation goes
//! on without these units), its unused part goes back, and the seller's units earn nothing for the
//! part that was used.

use super::deliver::offers_of;
use crate::refusal::Refusal;
use crate::view::Floor;
use crate::work::Work;
use crate::{lease, sell};
use gridbay_protocol::ids::{AccountId, LeaseId};
use gridbay_protocol::lease::LeaseEnd;

pub(super) fn check(work: &Work<'_>, seller: &AccountId, id: &LeaseId) -> Result<(), Refusal> {
    if !work.tables.leases.contains(id) {
        return Err(Refusal::NoLease(*id));
    }
    if offers_of(work, seller, id).is_empty() {
        return Err(Refusal::NothingToDeliver {
            lease: *id,
            seller: *seller,
        });
    }
    Ok(())
}

pub(super) fn apply(at: &mut Floor<'_, '_>, seller: &AccountId, id: &LeaseId) {
    let own = offers_of(at, seller, id);
    lease::change(at, id, |lease| {
        lease.delivered.retain(|offer| !own.contains(offer));
    });
    sell::lost(at, id, &own, LeaseEnd::Undelivered);
}
