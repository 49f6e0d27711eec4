//! Where the tasks of an order may run: the units of its leases.

use super::order::OrderAgent;
use super::run::Place;
use super::seen::Seen;
use gridbay_ledger::State;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::lease::Share;

impl OrderAgent {
    /// Units of what it runs on; none if it does not run or is over.
    pub fn places(&self, state: &State) -> Vec<Place> {
        match self.seen {
            _ if self.is_over() => Vec::new(),
            Seen::Running(lease) => places_of(state, &lease, None),
            Seen::Contract => self.places_under_contract(state),
            _ => Vec::new(),
        }
    }
}

/// The units of a lease.
pub(super) fn places_of(state: &State, lease: &LeaseId, task: Option<u32>) -> Vec<Place> {
    let place = |share: &Share| {
        let offer = state.offer(&share.offer)?;
        Some(Place {
            lease: *lease,
            task,
            offer: share.offer,
            node: offer.terms.node,
            units: share.units,
        })
    };
    let shares = state.lease(lease).map(|l| l.shares.as_slice());
    let shares = shares.unwrap_or_default().iter();
    shares.filter_map(place).collect()
}
