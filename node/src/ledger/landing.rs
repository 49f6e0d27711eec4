//! Which entries are waited for, and which of them the last look found in blocks. See `awaited`.

use crate::backend::at_height::AtHeight;
use gridbay_protocol::ids::EntryId;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Mutex as Look, MutexGuard as Turn};

/// Entries whose blocks somebody waits for.
#[derive(Default)]
pub(crate) struct Landing {
    /// With the number of those that wait for each.
    waiting: Mutex<BTreeMap<EntryId, usize>>,
    /// Those that are in blocks, of all that waited at a height.
    pub(super) landed: AtHeight<(), BTreeMap<EntryId, u64>>,
    look: Look<()>,
}

/// Keeps an entry among those looked for.
pub(super) struct Watch<'a> {
    landing: &'a Landing,
    entry: EntryId,
}

impl Landing {
    /// One of those that wait looks for all, one after the other.
    pub(super) async fn turn(&self) -> Turn<'_, ()> {
        self.look.lock().await
    }
    /// The entries that are looked for.
    pub(super) fn watched(&self) -> Vec<EntryId> {
        self.waiting().keys().copied().collect()
    }
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<EntryId, usize>> {
        // Each change leaves the map whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Looks for an entry as long as the watch is kept.
    pub(super) fn watch(&self, entry: EntryId) -> Watch<'_> {
        *self.waiting().entry(entry).or_default() += 1;
        Watch {
            landing: self,
            entry,
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let mut waiting = self.landing.waiting();
        if let Some(count) = waiting.get_mut(&self.entry) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(&self.entry);
            }
        }
    }
}
