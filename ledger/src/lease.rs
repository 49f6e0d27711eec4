//! Changes of leases, counted for the offers that serve them.

use crate::record::Lease;
use crate::view::Floor;
use crate::work::Work;
use gridbay_protocol::ids::{LeaseId, OfferId};

/// Sets or removes a lease, and counts it for the offers that serve it (see [`serves`]).
pub(crate) fn put(at: &mut Floor<'_, '_>, id: LeaseId, lease: Option<Lease>) {
    let was = at.tables.leases.get(&id).cloned();
    for (lease, enters) in [(&was, false), (&lease, true)] {
        for offer in lease.iter().flat_map(Lease::served_by) {
            count(at, offer, enters);
        }
    }
    match lease {
        Some(lease) => at.leases().insert(id, lease),
        None => drop(at.leases().remove(&id)),
    }
}

/// Changes a running lease.
pub(crate) fn change(at: &mut Floor<'_, '_>, id: &LeaseId, change: impl FnOnce(&mut Lease)) {
    if let Some(mut lease) = at.tables.leases.get(id).cloned() {
        change(&mut lease);
        put(at, *id, Some(lease));
    }
}

/// Whether a lease holds acknowledged units of an offer.
pub(crate) fn serves(work: &Work<'_>, offer: &OfferId) -> bool {
    work.tables.serving.contains(offer)
}

fn count(at: &mut Floor<'_, '_>, offer: OfferId, enters: bool) {
    let before = at.tables.serving.get(&offer).copied().unwrap_or(0);
    match if enters {
        before + 1
    } else {
        before.saturating_sub(1)
    } {
        0 => drop(at.serving().remove(&offer)),
        leases => at.serving().insert(offer, leases),
    }
}
