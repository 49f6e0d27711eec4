//! Entries that the owner sent lately. Two equal entries have one id and take effect once, so an owner who
//! pays the same sum twice needs two that differ: the later one is valid a height longer.

use crate::buyer::order::Signer;
use crate::core::ENTRY_HEIGHTS;
use gridbay_ledger::State;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::EntryId;
use std::collections::BTreeMap;

/// Entries remembered at the most: as many as validators keep of one account.
const ENTRIES: usize = gridbay_host::limits::POOL_PER_ACCOUNT;

/// The entries that may still be included, with their last height.
#[derive(Debug, Default)]
pub(crate) struct Sent(BTreeMap<EntryId, u64>);

impl Sent {
    /// Signs an entry unlike all that were sent; `None` if too many of them wait.
    pub(crate) fn sign(
        &mut self,
        state: &State,
        signer: &Signer<'_>,
        body: &EntryBody,
    ) -> Option<SignedEntry> {
        self.0.retain(|_, until| *until > state.height());
        if self.0.len() >= ENTRIES {
            return None;
        }
        let first = state.height() + ENTRY_HEIGHTS;
        let entries = (first..).map(|until| signer.sign(state, body.clone(), until));
        entries
            .take(ENTRIES)
            .find(|e| !self.0.contains_key(&e.id()))
    }
    /// Remembers an entry that goes out.
    pub(crate) fn note(&mut self, id: EntryId, valid_until: u64) {
        self.0.insert(id, valid_until);
    }
}
