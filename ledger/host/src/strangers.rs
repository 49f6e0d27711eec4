//! Entries of senders that the ledger does not know yet.
//!
//! Signing such an entry costs nothing, so they have a small place of their own: they take no room
//! from anybody the ledger knows, are passed on to nobody, and the oldest makes room for the next.
//! They are kept at all because a peer's book may be ahead of ours by the block that opens their
//! account.

use crate::limits;
use crate::mempool::Source;
use gridbay_ledger::Refusal;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::stage::Authentic;
use std::collections::VecDeque;
use std::sync::Arc;

/// Whether a refusal says that the ledger does not know who signed.
pub(crate) fn is_unknown(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::NoAccount(_) | Refusal::Role { .. })
}

/// The place, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strangers {
    entries: VecDeque<(Arc<Authentic>, Source)>,
}

impl Strangers {
    /// Takes an entry in; the oldest leaves if there is no room.
    pub(crate) fn add(&mut self, entry: Arc<Authentic>, source: Source) {
        if self.entries.len() >= limits::MEMPOOL_STRANGERS {
            self.entries.pop_front();
        }
        self.entries.push_back((entry, source));
    }
    /// The entry with an id.
    pub(crate) fn get(&self, id: &EntryId) -> Option<&Arc<Authentic>> {
        let mut entries = self.entries.iter().map(|(entry, _)| entry);
        entries.find(|entry| entry.id() == *id)
    }
    /// Takes all out, oldest first.
    pub(crate) fn take(&mut self) -> VecDeque<(Arc<Authentic>, Source)> {
        std::mem::take(&mut self.entries)
    }
}
