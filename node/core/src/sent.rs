//! Entries that the owner sent lately. Two equal entries have one id and take effect once, so an
//! owner who asks for the same twice needs two that differ: the later one is valid a height longer.

use crate::signer::{ENTRY_HEIGHTS, Signer};
use gridbay_ledger::State;
use gridbay_protocol::codec;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use std::collections::BTreeMap;

/// Different requests remembered at the most, and equal ones that may wait: as many as validators
/// keep of one account.
const ENTRIES: usize = gridbay_host::limits::MEMPOOL_PER_ACCOUNT;

/// The last height of the latest entry that may still be included, by what it asks for (canonical
/// bytes).
#[derive(Debug, Default)]
pub(crate) struct Sent(BTreeMap<Vec<u8>, u64>);

impl Sent {
    /// Signs an entry unlike all that were sent; `None` if too many of them wait.
    pub(crate) fn sign(
        &mut self,
        state: &State,
        signer: &Signer<'_>,
        body: &EntryBody,
    ) -> Option<SignedEntry> {
        self.0.retain(|_, until| *until > state.height());
        let first = state.height() + ENTRY_HEIGHTS;
        let last = self.0.get(&codec::encode(body)).copied();
        if last.is_none() && self.0.len() >= ENTRIES {
            return None;
        }
        let until = last.map_or(first, |last| first.max(last + 1));
        let fits = until - first < ENTRIES as u64;
        fits.then(|| signer.sign(state, body.clone(), until))
    }
    /// Remembers an entry that goes out.
    pub(crate) fn note(&mut self, body: &EntryBody, valid_until: u64) {
        self.0.insert(codec::encode(body), valid_until);
    }
}
