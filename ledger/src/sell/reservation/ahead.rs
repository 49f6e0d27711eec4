//! Units for sale under reservation that are free ahead of time, slot by slot, as things stand.

use super::{busy, for_sale, next_slot};
use crate::state::State;
use crate::work::Work;
use gridbay_protocol::ids::{ClassId, OfferId};

/// The units of an offer that are free in each slot of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeAhead {
    /// The offer.
    pub offer: OfferId,
    /// Units for sale under reservation.
    pub units: u32,
    /// Of these, free ones by slot, from the first that is for sale on.
    pub free: Vec<u32>,
}

impl State {
    /// The first slot for sale ahead of time, and the units that are free from there on, by offer,
    /// ascending.
    pub fn free_ahead(&self, class: &ClassId) -> (u64, Vec<FreeAhead>) {
        let work = Work::begin(self, self.time_ms().saturating_add(1), &[0; 32]);
        let first = next_slot(&work);
        let stays = busy::stays(&work, first);
        let slots = work.constitution.policy.reservation.slots;
        let of = |share: &gridbay_protocol::lease::Share| {
            let stays = stays.get(&share.offer).map_or(&[][..], Vec::as_slice);
            let free = (first..).take(slots as usize).map(|slot| {
                let there = stays.iter().filter(|stay| stay.covers(slot));
                let taken = there.map(busy::Stay::units).fold(0, u32::saturating_add);
                share.units.saturating_sub(taken)
            });
            FreeAhead {
                offer: share.offer,
                units: share.units,
                free: free.collect(),
            }
        };
        (first, for_sale(&work, class).iter().map(of).collect())
    }
}
