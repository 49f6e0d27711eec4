//! The entries that this node insists on, and those that it tells others before it does.

use super::{Mempool, Pooled, Source, most, share};
use crate::limits;
use crate::mempool::promised::Promised;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits::INCLUSION_HEIGHTS;
use gridbay_protocol::stage::Authentic;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Mempool {
    /// Ready entries that were acknowledged [`INCLUSION_HEIGHTS`] before the next block, and of
    /// which this node told all validators a block ago, while they were ready as they are now: an
    /// entry that waited in between may have left others' mempools. Entries of a share that is full
    /// here are left out: others may hold as many other entries of the same account, and have no
    /// room for these. So are those of a house that crowds this mempool, unless they are promised:
    /// they may have had to leave other mempools.
    pub(crate) fn due(&self, tip: u64) -> Vec<Arc<Authentic>> {
        let old = |p: &&Pooled| {
            p.since
                .is_some_and(|since| since + INCLUSION_HEIGHTS <= tip + 1)
                && p.told.is_some_and(|told| told < tip)
        };
        let full = |p: &&Pooled| {
            let share = share(&p.entry);
            let taken = self.shares.get(&share);
            taken.is_some_and(|taken| taken.all >= most(&share))
        };
        let due = self
            .entries
            .values()
            .filter(|p| p.ready.is_some())
            .filter(old);
        let due = due.filter(|p| !full(p));
        let due = due.filter(|p| p.promised != Promised::No || !self.is_crowded_by(&p.house));
        due.map(|p| Arc::clone(&p.entry)).collect()
    }
    /// Whether the mempool is three quarters full, and a house has at least half of what the one
    /// with most has: then its entries may find no room in others' mempools.
    pub(super) fn is_crowded_by(&self, house: &AccountId) -> bool {
        let crowded = 4 * self.entries.len() >= 3 * limits::MEMPOOL_ENTRIES
            || 4 * self.bytes >= 3 * limits::MEMPOOL_BYTES;
        crowded && self.crowd.is_large(house)
    }
    /// Entries that blocks left out, to be sent to all validators: those of our own users after two
    /// blocks, and once more every eighth block; those that only a validator sent, and may have
    /// kept from others; and those that waited and are ready again.
    pub(crate) fn overdue(&mut self, tip: u64) -> Vec<SignedEntry> {
        let mut overdue = self.own_overdue(tip);
        overdue.extend(self.tell(tip));
        overdue
    }
    /// Whether entries of our own users wait, ready or not.
    pub(crate) fn has_own(&self) -> bool {
        self.entries
            .values()
            .any(|pooled| pooled.source == Source::Own)
    }
    /// The ready entries of our own users.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Arc<Authentic>> {
        let own = |pooled: &&Pooled| pooled.source == Source::Own && pooled.ready.is_some();
        self.entries
            .values()
            .filter(own)
            .map(|pooled| &pooled.entry)
    }
    /// Those of our own users.
    fn own_overdue(&mut self, tip: u64) -> Vec<SignedEntry> {
        let own = self.entries.values_mut().filter(|p| {
            let waited = p.since.map_or(0, |since| tip.saturating_sub(since));
            p.ready.is_some() && p.source == Source::Own && waited % 8 == 2
        });
        let own = own.take(limits::TOLD_AGAIN_ENTRIES);
        let sent = own.map(|p| {
            if p.ready.is_some_and(|ready| ready < tip) {
                p.told = p.told.or(Some(tip));
            }
            p.entry.signed().clone()
        });
        sent.collect()
    }
    /// Entries that are ready, were not told to all since, and that a block left out, once each:
    /// openings and appeals first, for they cannot wait, then house by house, the longest waiting
    /// first.
    fn tell(&mut self, tip: u64) -> Vec<SignedEntry> {
        let untold = self.entries.iter().filter_map(|(id, p)| {
            let untold = p.told.is_none() && p.ready.is_some_and(|ready| ready < tip);
            let since = p.since.filter(|_| untold)?;
            let body = &p.entry.entry().body;
            let waits = !matches!(body, EntryBody::Open(_) | EntryBody::Appeal(_));
            Some((waits, since, *id, p.house))
        });
        let mut untold: Vec<_> = untold.collect();
        untold.sort_unstable();
        let mut of: BTreeMap<(bool, AccountId), usize> = BTreeMap::new();
        let turns = untold.into_iter().map(|(waits, since, id, house)| {
            let turn = of.entry((waits, house)).or_default();
            *turn += 1;
            (waits, *turn, since, id)
        });
        let mut turns: Vec<_> = turns.collect();
        turns.sort_unstable();
        let mut told = Vec::new();
        for (_, _, _, id) in turns.into_iter().take(limits::TOLD_AGAIN_ENTRIES) {
            if let Some(pooled) = self.entries.get_mut(&id) {
                pooled.told = Some(tip);
                told.push(pooled.entry.signed().clone());
            }
        }
        told
    }
}
