//! Changes of leases, counted for the offers that serve them.

use crate::record::Lease;
use crate::work::Work;
use gridbay_protocol::ids::{LeaseId, OfferId};

/// Sets or removes a lease, and counts it for the offers that serve it (see [`serves`]).
pub(crate) fn put(work: &mut Work<'_>, id: LeaseId, lease: Option<Lease>) {
    let was = work.tables.leases.get(&id).cloned();
    for (lease, enters) in [(&was, false), (&lease, true)] {
        for offer in lease.iter().flat_map(Lease::served_by) {
            count(work, offer, enters);
        }
    }
    match lease {
        Some(lease) => work.tables.leases.insert(id, lease),
        None => drop(work.tables.leases.remove(&id)),
    }
}

/// Changes a running lease.
pub(crate) fn change(work: &mut Work<'_>, id: &LeaseId, change: impl FnOnce(&mut Lease)) {
    if let Some(mut lease) = work.tables.leases.get(id).cloned() {
        change(&mut lease);
        put(work, *id, Some(lease));
    }
}

/// Whether a lease holds acknowledged units of an offer.
pub(crate) fn serves(work: &Work<'_>, offer: &OfferId) -> bool {
    work.tables.serving.contains(offer)
}

fn count(work: &mut Work<'_>, offer: OfferId, enters: bool) {
    let before = work.tables.serving.get(&offer).copied().unwrap_or(0);
    match if enters {
        before + 1
    } else {
        before.saturating_sub(1)
    } {
        0 => drop(work.tables.serving.remove(&offer)),
        leases => work.tables.serving.insert(offer, leases),
    }
}
