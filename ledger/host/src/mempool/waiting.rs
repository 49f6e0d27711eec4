//! Entries become ready or wait as blocks come. Those that wait have a quarter of the mempool.

use super::{Mempool, Promised, share};
use crate::limits;
use gridbay_protocol::ids::{AccountId, EntryId};

impl Mempool {
    /// Marks an entry that waits as ready since the tip `height`.
    pub(super) fn mark_ready(&mut self, id: &EntryId, height: u64) {
        let Some(pooled) = self.entries.get_mut(id).filter(|p| p.ready.is_none()) else {
            return;
        };
        pooled.ready = Some(height);
        let arrival = (pooled.arrival, *id);
        self.waiting.remove(&pooled.house, 1, arrival);
        self.shares.entry(share(&pooled.entry)).or_default().waiting -= 1;
    }
    /// Marks a ready entry as waiting. It leaves if there is no room for it to wait, unless a
    /// promise binds it. Others' mempools may have dropped it for the same reason, so they are told
    /// of it anew.
    pub(super) fn mark_waiting(&mut self, id: &EntryId) {
        let Some(pooled) = self.entries.get(id).filter(|p| p.ready.is_some()) else {
            return;
        };
        let (house, promised) = (pooled.house, pooled.promised != Promised::No);
        if !promised && !self.make_room_to_wait(&house) {
            return self.evict(id);
        }
        let Some(pooled) = self.entries.get_mut(id) else {
            return;
        };
        (pooled.ready, pooled.told) = (None, None);
        let arrival = (pooled.arrival, *id);
        self.shares.entry(share(&pooled.entry)).or_default().waiting += 1;
        self.waiting.add(&house, 1, arrival);
        if promised {
            self.waiting.bind(&house, arrival);
        }
    }
    /// Makes room in the quarter of waiting entries, as far as houses with more have it.
    pub(super) fn make_room_to_wait(&mut self, house: &AccountId) -> bool {
        while self.waiting.len() >= limits::MEMPOOL_ENTRIES / 4 {
            let Some(id) = self.waiting.yields_to(house, 1) else {
                return false;
            };
            self.evict(&id);
        }
        true
    }
}
