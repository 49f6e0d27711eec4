//! Heartbeats: signs of life of sellers, one small entry per node and slot for all leases at the
//! node.
//!
//! 1. A heartbeat counts for the slot of its block and for the node of the offer that it names. An
//!    acknowledgement is a sign of life as well, so a lease's first slot needs nothing more. A
//!    heartbeat is taken even from a seller that has spent its budget of entries, so it is refused
//!    unless a lease holds acknowledged units of its offer: there are no more heartbeats than nodes
//!    at work.
//! 2. At the slot boundary, before anything is paid, units of nodes that gave no sign of life in
//!    the slot are no longer acknowledged, if earnings are held at all (see `retention`). So the
//!    slot is not paid for these units, and it counts as little as one that was not acknowledged in
//!    time.
//! 3. The seller may acknowledge again, within as many heights as at the start of a lease. A seller
//!    that is back in time has lost the missed slot and nothing more; any other fails the lease,
//!    and its offer is withdrawn (see `close`).
//!
//! Units that left their lease inside the slot are exempt: they were acknowledged when they ran.

use crate::record::Lease;
use crate::view::Floor;
use crate::work::Work;
use crate::{lease, retention};
use gridbay_protocol::ids::{AccountId, LeaseId, OfferId};
use gridbay_protocol::keys::PublicKey;

/// The seller and the node that give signs of life for an offer's units; `None` if there is no such
/// offer.
fn who(work: &Work<'_>, offer: &OfferId) -> Option<(AccountId, PublicKey)> {
    let offer = work.tables.offers.get(offer)?;
    Some((offer.seller, offer.terms.node))
}

/// Notes a sign of life of an offer's node.
pub(crate) fn beat(at: &mut Floor<'_, '_>, offer: &OfferId) {
    if let Some(who) = who(at, offer) {
        at.heartbeats().insert(who, ());
    }
}

/// Whether an offer's node gave a sign of life in the running slot.
pub(crate) fn is_alive(work: &Work<'_>, offer: &OfferId) -> bool {
    who(work, offer).is_some_and(|who| work.tables.heartbeats.contains(&who))
}

/// At a slot boundary: step 2. The next slot begins without signs of life.
pub(crate) fn turn(at: &mut Floor<'_, '_>) {
    if retention::window(at) > 0 {
        let silent = |lease: &Lease| -> Vec<OfferId> {
            let delivered = lease.delivered.iter();
            delivered.filter(|o| !is_alive(at, o)).copied().collect()
        };
        let leases = at.tables.leases.iter();
        let silent: Vec<(LeaseId, Vec<OfferId>)> = leases
            .map(|(id, lease)| (*id, silent(lease)))
            .filter(|(_, offers)| !offers.is_empty())
            .collect();
        let again = at.height() + at.constitution.policy.delivery_heights;
        for (id, offers) in silent {
            lease::change(at, &id, |lease| {
                lease.delivered.retain(|offer| !offers.contains(offer));
                lease.deliver_by = again;
            });
        }
    }
    let beaten: Vec<_> = at.tables.heartbeats.iter().map(|(who, ())| *who).collect();
    for who in beaten {
        at.heartbeats().remove(&who);
    }
}
