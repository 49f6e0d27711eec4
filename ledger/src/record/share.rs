//! Claims on pools as the ledger keeps them.

use super::Way;
use super::live::{Crowd, List, Live, Ran};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::order::Claim;
use gridbay_protocol::record::share::Portion;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A claim on a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareOrder {
    /// The terms asked for.
    pub claim: Claim,
    /// Its allowance in the running slot; `None` without a lease.
    pub portion: Option<Portion>,
    /// Paid so far, less refunds.
    pub paid: Credits,
    /// Full slots used.
    pub slots_used: u32,
}

impl Live for ShareOrder {
    fn way(&self) -> Way {
        Way::Share
    }
    fn work(&self) -> Hash32 {
        self.claim.work
    }
    fn tasks(&self) -> u32 {
        self.claim.tasks
    }
    fn crowd(&self) -> Crowd {
        Crowd {
            claims: 1,
            ..Crowd::default()
        }
    }
    fn listed_at(&self) -> Option<List> {
        Some(List::Pool(self.claim.offer))
    }
    fn next_slot(&self) -> Option<(Credits, Credits)> {
        let left = self.claim.budget.saturating_sub(self.paid);
        Some((self.claim.rate, left))
    }
    fn paid_mut(&mut self) -> Option<&mut Credits> {
        Some(&mut self.paid)
    }
    fn timed_out(&self, height: u64, _slot: u64) -> bool {
        self.claim.stands_until < height
    }
    fn count(&mut self, slot: &Ran) -> Option<bool> {
        self.slots_used += u32::from(slot.counts);
        Some(self.slots_used >= self.claim.slots)
    }
    fn lease_ended(&mut self, _: LeaseEnd) {
        self.portion = None;
    }
    fn stands_again(&self, after: LeaseEnd, exiting: bool) -> bool {
        !exiting && after.order_stands()
    }
}
