//! Where the ledger has an order.

use gridbay_ledger::State;
use gridbay_protocol::ids::{LeaseId, OrderId};

/// Where the ledger has an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nowhere.
    Absent,
    /// A sealed bid of this round.
    Sealed(u64),
    /// Not opened in its round: its deposit waits for an appeal.
    Unopened,
    /// Opened, or a queued buy.
    Standing,
    /// Reserved from this slot on.
    Booked(u64),
    /// Running on a lease.
    Running(LeaseId),
    /// A contract that its provider has not signed.
    Proposed,
    /// A signed contract.
    Contract,
}

impl Seen {
    pub(super) fn of(state: &State, order: &OrderId) -> Seen {
        let Some(found) = state.order(order) else {
            let contract = state.contract(order).map(|c| c.progress.is_some());
            return match (state.unopened(order), contract) {
                (Some(_), _) => Seen::Unopened,
                (None, Some(true)) => Seen::Contract,
                (None, Some(false)) => Seen::Proposed,
                (None, None) => Seen::Absent,
            };
        };
        match found.lease {
            Some(lease) => Seen::Running(lease),
            None if found.is_sealed() => Seen::Sealed(found.round),
            None => match found.reservation().and_then(|r| r.booking.as_ref()) {
                Some(booking) => Seen::Booked(booking.start),
                None => Seen::Standing,
            },
        }
    }
}
