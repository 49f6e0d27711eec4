//! Ways of selling units: what differs between them and is asked by those who do not know which it is.

use crate::view::Floor;
use crate::{reservation, tenancy};
use gridbay_protocol::ids::{LeaseId, OfferId};
use gridbay_protocol::lease::LeaseEnd;

/// The sellers of some offers fail a lease, or its buyer says so. A reservation goes on with what is left; others end.
pub(crate) fn lost(at: &mut Floor<'_, '_>, id: &LeaseId, offers: &[OfferId], why: LeaseEnd) {
    let lease = at.tables.leases.get(id).expect("the lease runs");
    let order = at.tables.orders.get(&lease.order);
    if order.is_some_and(|o| o.reservation().is_some()) {
        reservation::lose(at, id, offers, why);
    } else {
        tenancy::interrupt(at, id, why);
    }
}
