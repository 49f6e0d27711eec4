//! Joining: opens this node's account with an invitation, trying again until the ledger has it.

use crate::core::Core;
use crate::wallet;
use gridbay_ledger::{Refusal, State};
use gridbay_protocol::account::AccountKey;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::invitation::Invitation;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::units::Credits;
use std::sync::Arc;

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
    /// The opening entry, if none is on its way. A token opens one account however often it is
    /// tried: of two attempts the ledger takes one.
    pub(crate) fn entry_due(&mut self, state: &State) -> Option<SignedEntry> {
        // While this node is behind it may not know the inviter yet, and would refuse the entry.
        let inviter = &self.invitation.grant.grant.inviter;
        if state.height() < self.valid_until || state.account(inviter).is_none() {
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

impl Core {
    /// The reason, by the node's state, why the ledger does not open its account with the
    /// invitation; `None` if there is none, or the account is open. Means nothing while the node is
    /// behind.
    pub fn join_refusal(&self) -> Option<Refusal> {
        let joining = self.joining.as_ref().filter(|_| self.account.is_none())?;
        let state = self.host.state();
        let entry = wallet::authentic(state, joining.entry(state)).ok()?;
        state.admit(&Arc::new(entry)).err()
    }
    /// Whether this node's account was closed since the node started, and no other one is open.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Looks for the account of this node's key, which may have been closed. While there is none,
    /// an invited node joins.
    pub(crate) fn find_account(&mut self) -> Vec<SignedEntry> {
        let (state, before) = (self.host.state(), self.account);
        self.account = before.filter(|id| state.account(id).is_some());
        self.closed |= before.is_some() && self.account.is_none();
        if self.account.is_none() {
            self.account = self.host.state().account_of(&self.key.public());
            if let Some(account) = self.account {
                self.closed = false;
                self.seller.set_account(account);
                self.joining = None;
            }
        }
        let state = self.host.state();
        self.joining
            .as_mut()
            .and_then(|joining| joining.entry_due(state))
            .into_iter()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::AccountId;
    use gridbay_protocol::invitation::{Grant, SignedGrant};
    use gridbay_sample as sample;

    fn key(n: u8) -> SecretKey {
        SecretKey::from_seed(&[n; 32])
    }

    fn joining(state: &State, inviter: AccountId) -> Joining {
        let network = state.network();
        let grant = Grant {
            inviter,
            key: key(1).public(),
            token: key(2).public(),
            endowment: Credits::ZERO,
            valid_until: 1_000,
        };
        let invitation = Invitation {
            network,
            grant: SignedGrant::new(&network, grant, &key(1)),
            token_seed: [2; 32],
            bootstrap: vec![],
        };
        Joining::new(invitation, vec![])
    }

    #[test]
    fn a_newcomer_tries_once_it_knows_its_inviter_and_then_now_and_then() {
        let founder = gridbay_protocol::genesis::Member {
            validator: Some(sample::validator(key(3).public(), key(4).public(), [5; 32])),
            ..sample::member("founder", key(1).public(), Credits::ZERO)
        };
        let class = sample::class("small", 1, 512, 100);
        let genesis = sample::genesis("joining", vec![class], vec![founder]);
        let state = State::genesis(&genesis).expect("sound");
        let known = state.account_of(&key(1).public()).expect("a member");

        let mut early = joining(&state, AccountId([9; 32]));
        assert!(early.entry_due(&state).is_none());
        assert_eq!(early.valid_until, 0, "it tries as soon as it can");

        let mut due = joining(&state, known);
        assert!(due.entry_due(&state).is_some());
        assert!(due.entry_due(&state).is_none());
        assert_eq!(due.valid_until, ATTEMPT_HEIGHTS);
    }
}
