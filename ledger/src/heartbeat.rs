//! Heartbeats: a seller's sign of life, one small entry per node and slot for all leases there.
//!
//! 1. A heartbeat counts for the slot of its block and for the node of the offer that it names. An
//!    acknowledgement is a sign of life of its nodes as well, so a lease's first slot asks for
//!    nothing more. An offer gives none while no lease holds acknowledged units of it: it is taken
//!    whatever its seller has spent of its budget, so there must be no more of them than of nodes
//!    at work.
//! 2. At the slot boundary, before anything is paid, every unit whose seller's node gave no sign of
//!    life in the slot is no longer acknowledged. So the slot is not paid for these units and
//!    counts for nobody, as one that was not acknowledged in time.
//! 3. The seller may acknowledge anew, within as many heights as at the start of a lease. One that
//!    is back in time has lost the slot that it missed and nothing more; one that is not fails the
//!    lease, and its offer is withdrawn (see `close`).
//!
//! Units that left their lease inside the slot are not asked about: they were acknowledged when
//! they ran.

use crate::record::Lease;
use crate::view::Floor;
use crate::work::Work;
use crate::{lease, retention};
use gridbay_protocol::ids::{AccountId, LeaseId, OfferId};
use gridbay_protocol::keys::PublicKey;

/// Who gives a sign of life for an offer's units; nobody if there is no such offer.
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
