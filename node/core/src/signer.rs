//! The signer of entries of the node's account.

use gridbay_ledger::State;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::keys::SecretKey;

/// Heights for which an entry of the owner or the agents may wait for its inclusion.
pub const ENTRY_HEIGHTS: u64 = 40;

/// An account with its key.
pub struct Signer<'a> {
    /// The account.
    pub account: AccountId,
    /// Its key.
    pub key: &'a SecretKey,
}

impl Signer<'_> {
    /// Signs an entry of the account.
    pub fn sign(&self, state: &State, body: EntryBody, valid_until: u64) -> SignedEntry {
        let entry = Entry {
            network: state.network(),
            account: self.account,
            key: self.key.public(),
            valid_until,
            body,
        };
        SignedEntry::new(entry, self.key)
    }
}
