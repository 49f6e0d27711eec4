//! An account's recent spending of its budget of entries.

use gridbay_protocol::entry_budget::EntryBudget;
use serde::{Deserialize, Serialize};

/// An account's spending in an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// The epoch.
    pub epoch: u64,
    /// Entries.
    pub entries: u32,
    /// Bytes of them, without signatures.
    pub bytes: u64,
    /// Entries beyond its budget that replaced keys; they count here alone.
    pub keys: u32,
}

impl Spent {
    /// The spending that counts in `epoch`: none if this is of another.
    pub(crate) fn in_epoch(self, epoch: u64) -> Spent {
        let nothing = Spent {
            epoch,
            ..Spent::default()
        };
        if self.epoch == epoch { self } else { nothing }
    }
    pub(crate) fn with(self, bytes: usize) -> Spent {
        Spent {
            entries: self.entries.saturating_add(1),
            bytes: self.bytes.saturating_add(bytes as u64),
            ..self
        }
    }
    pub(crate) fn fits(&self, budget: &EntryBudget) -> bool {
        self.entries <= budget.entries && self.bytes <= budget.bytes
    }
}
