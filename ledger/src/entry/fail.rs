//! `fail`: a seller cannot deliver its units of a lease. The lease ends at once (a reservation goes on without these
//! units), its unused part goes back, and the seller's units earn nothing for the part that was used.

use super::deliver::offers_of;
use crate::lease;
use crate::refusal::Refusal;
use crate::sell;
use crate::work::Work;
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

pub(super) fn apply(work: &mut Work<'_>, seller: &AccountId, id: &LeaseId) {
    let own = offers_of(work, seller, id);
    lease::change(work, id, |lease| {
        lease.delivered.retain(|offer| !own.contains(offer));
    });
    sell::lost(work, id, &own, LeaseEnd::Undelivered);
}
