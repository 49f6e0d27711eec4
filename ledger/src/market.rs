//! The market's supply: offers for sale, and their units that running leases hold.

use crate::record::{Lease, Offer};
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, ClassId, LeaseId, OfferId};
use std::collections::BTreeMap;

/// Units of an offer in leases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) firm: u32,
    pub(crate) preemptible: u32,
}

impl Held {
    pub(crate) fn all(self) -> u32 {
        self.firm + self.preemptible
    }
}

/// Units held, by offer; offers of which nothing is held are missing.
pub(crate) fn held(work: &Work<'_>) -> BTreeMap<OfferId, Held> {
    held_by(work.tables.leases.iter().map(|(_, lease)| lease))
}

/// Units held by some leases, by offer.
pub(crate) fn held_by<'l>(leases: impl Iterator<Item = &'l Lease>) -> BTreeMap<OfferId, Held> {
    let mut held: BTreeMap<OfferId, Held> = BTreeMap::new();
    for lease in leases {
        for share in &lease.shares {
            let entry = held.entry(share.offer).or_default();
            if lease.is_firm() {
                entry.firm += share.units;
            } else {
                entry.preemptible += share.units;
            }
        }
    }
    held
}

/// Offers of a class, ascending.
pub(crate) fn offers<'w>(work: &'w Work<'_>, class: &ClassId) -> Vec<(OfferId, &'w Offer)> {
    let all = work.tables.offers.iter();
    all.filter(|(_, offer)| offer.terms.class == *class)
        .map(|(id, offer)| (*id, offer))
        .collect()
}

/// The class of an offer's units.
pub(crate) fn class(work: &Work<'_>, offer: &OfferId) -> ClassId {
    let offer = work.tables.offers.get(offer);
    offer.expect("units in leases have their offer").terms.class
}

/// The account that earns for an offer's units.
pub(crate) fn seller(work: &Work<'_>, offer: &OfferId) -> AccountId {
    let offer = work.tables.offers.get(offer);
    offer.expect("units in leases have their offer").seller
}

/// Ids of all running leases, ascending.
pub(crate) fn leases(work: &Work<'_>) -> Vec<LeaseId> {
    work.tables.leases.iter().map(|(id, _)| *id).collect()
}

/// The slot whose time is for sale, and its heights that are left: the running slot, at a boundary
/// the next one.
pub(crate) fn time_left(work: &Work<'_>) -> (u64, u64) {
    let (calendar, height) = (work.calendar(), work.height());
    let slot = calendar.slot(height + 1);
    (slot, calendar.last_of_slot(slot) - height)
}
