//! Joining: opens this node's account with an invitation, again and again until the ledger has it.

use gridbay_ledger::State;
use gridbay_protocol::account::AccountKey;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::invitation::Invitation;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::units::Credits;

/// Heights for which one attempt may wait for its inclusion.
const ATTEMPT_HEIGHTS: u64 = 40;

/// An account being opened.
pub(crate) struct Joining {
    invitation: Invitation,
    keys: Vec<AccountKey>,
    valid_until: u64,
}

impl Joining {
    /// Will open an account with these keys.
    pub(crate) fn new(invitation: Invitation, keys: Vec<AccountKey>) -> Joining {
        Joining {
            invitation,
            keys,
            valid_until: 0,
        }
    }
    /// The opening entry, if none is on its way. A token opens one account however often it is tried:
    /// of two attempts the ledger takes one.
    pub(crate) fn entry_due(&mut self, state: &State) -> Option<SignedEntry> {
        if state.height() < self.valid_until {
            return None;
        }
        self.valid_until = state.height() + ATTEMPT_HEIGHTS;
        Some(self.entry(state))
    }
    /// The opening entry as it would be sent now.
    pub(crate) fn entry(&self, state: &State) -> SignedEntry {
        let entry = Entry {
            network: state.network(),
            account: self.invitation.grant.grant.inviter,
            key: self.invitation.grant.grant.token,
            valid_until: state.height() + ATTEMPT_HEIGHTS,
            body: EntryBody::OpenAccount {
                grant: Some(Box::new(self.invitation.grant.clone())),
                keys: self.keys.clone(),
                endowment: Credits::ZERO,
            },
        };
        SignedEntry::new(entry, &SecretKey::from_seed(&self.invitation.token_seed))
    }
}
