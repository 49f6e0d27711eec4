//! Jobs by deadlines as the ledger keeps them.

use super::Way;
use super::live::{Crowd, List, Live, Ran};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::order::Deadline;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// A job by a deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadlineOrder {
    /// The terms asked for.
    pub deadline: Deadline,
    /// Its progress since its seller took it; `None` before.
    pub taken: Option<Taken>,
}

/// How far a taken job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The slot at whose end it was taken: its age counts the slots after.
    pub since: u64,
    /// Work done, units times slots, at most the work declared.
    pub done: u64,
    /// Whether its seller failed to serve it in some slot.
    pub failed: bool,
    /// The seller's stake.
    pub bond: Credits,
}

impl DeadlineOrder {
    /// Adds the work of a slot, or notes that its seller failed.
    fn add(&mut self, units: u32, served: bool) {
        let whole = self.deadline.unit_slots;
        if let Some(taken) = &mut self.taken {
            let units = if served { u64::from(units) } else { 0 };
            taken.done = taken.done.saturating_add(units).min(whole);
            taken.failed |= !served;
        }
    }
}

impl Live for DeadlineOrder {
    fn way(&self) -> Way {
        Way::Deadline
    }
    fn work(&self) -> Hash32 {
        self.deadline.work
    }
    fn tasks(&self) -> u32 {
        self.deadline.tasks
    }
    fn crowd(&self) -> Crowd {
        Crowd {
            jobs: 1,
            ..Crowd::default()
        }
    }
    fn listed_at(&self) -> Option<List> {
        Some(List::Jobs(self.deadline.offer))
    }
    fn count(&mut self, slot: &Ran) -> Option<bool> {
        self.add(slot.units, slot.counts);
        None
    }
    fn lease_ended(&mut self, why: LeaseEnd) {
        if matches!(why, LeaseEnd::Undelivered | LeaseEnd::Disputed) {
            self.add(0, false);
        }
    }
    /// A taken job always does: its end is for the plan to say.
    fn stands_again(&self, _after: LeaseEnd, _exiting: bool) -> bool {
        self.taken.is_some()
    }
}
