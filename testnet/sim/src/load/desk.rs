//! Entries handed in by hand: an owner of a key needs no node of its own.

use super::Load;
use super::key::Key;
use crate::check::Sight;
use crate::found::node_key;
use crate::world::World;
use gridbay_core::input::Input;
use gridbay_host::message::HostMessage;
use gridbay_ledger::State;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, ClassId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::stage::WellFormed;
use std::sync::Arc;

/// Transport key of somebody whom no node knows.
pub(super) const STRANGER: usize = 1_000;
/// Heights for which an entry may wait; a few more tell equal ones apart.
const WAIT: u64 = 20;
/// Entries remembered for those who send things twice.
const HANDED: usize = 64;

/// The desk at which a user writes an entry: the ledger of the node it asks, and the users' memory.
pub(super) struct Desk<'a> {
    pub(super) state: &'a State,
    pub(super) load: &'a mut Load,
    pub(super) classes: &'a [ClassId],
    /// The member that opens accounts for others.
    pub(super) patron: usize,
}

impl Desk<'_> {
    /// Signs an entry.
    pub(super) fn sign(&mut self, account: AccountId, key: &Key, body: EntryBody) -> SignedEntry {
        let valid_until = self.state.height() + WAIT + self.load.rng.below(WAIT);
        self.sign_until(account, key, body, valid_until)
    }
    pub(super) fn sign_until(
        &self,
        account: AccountId,
        key: &Key,
        body: EntryBody,
        valid_until: u64,
    ) -> SignedEntry {
        let entry = Entry {
            network: self.state.network(),
            account,
            key: key.public,
            valid_until,
            body,
        };
        SignedEntry::new(entry, &key.secret)
    }
    /// The account of a node, once the ledger has it.
    pub(super) fn account(&self, node: usize) -> Option<AccountId> {
        self.state.account_of(&self.load.keys.get(node)?.public)
    }
    /// Every account that users have a key of.
    pub(super) fn owners(&self) -> Vec<(AccountId, Key)> {
        let clients = self.load.clients.iter().flat_map(|client| &client.keys);
        let keys = self.load.keys.iter().chain(clients);
        keys.filter_map(|key| Some((self.state.account_of(&key.public)?, key.clone())))
            .collect()
    }
    /// One of them.
    pub(super) fn owner(&mut self) -> Option<(AccountId, Key)> {
        let owners = self.owners();
        self.load.rng.pick(&owners).cloned()
    }
    /// A key of an account.
    pub(super) fn key_of(&self, account: &AccountId) -> Option<Key> {
        let mut owners = self.owners().into_iter();
        owners.find(|(a, _)| a == account).map(|(_, key)| key)
    }
}

impl World {
    /// A validator that is up.
    pub(super) fn some_validator(&mut self) -> Option<usize> {
        let up = |n: &usize| self.machines[*n].is_up();
        let up: Vec<usize> = (0..self.plan.validators).filter(up).collect();
        self.load.rng.pick(&up).copied()
    }
    /// Somebody writes an entry after a look at the ledger of node `to`, and hands it in there.
    pub(super) fn write(
        &mut self,
        to: usize,
        make: impl FnOnce(&mut Desk<'_>) -> Option<SignedEntry>,
    ) -> bool {
        let entry = self.draw_up(to, make);
        let written = entry.is_some();
        if let Some(entry) = entry {
            self.hand_in(to, vec![entry]);
        }
        written
    }
    /// An entry made by the ledger of a node; `None` if the node is down or there is nothing to
    /// write.
    pub(super) fn draw_up(
        &mut self,
        by: usize,
        make: impl FnOnce(&mut Desk<'_>) -> Option<SignedEntry>,
    ) -> Option<SignedEntry> {
        let classes = self.classes();
        let core = self.machines[by].core.as_ref()?;
        make(&mut Desk {
            state: core.state(),
            load: &mut self.load,
            classes: &classes,
            patron: self.plan.validators,
        })
    }
    /// Sends entries to a node, and notes what its ledger says of them.
    pub(super) fn hand_in(&mut self, to: usize, entries: Vec<SignedEntry>) {
        self.hand_in_as(node_key(STRANGER), to, entries);
    }
    /// As [`World::hand_in`], as a stranger with this transport key.
    pub(super) fn hand_in_as(&mut self, from: PublicKey, to: usize, entries: Vec<SignedEntry>) {
        let Some(core) = self.machines[to].core.as_ref() else {
            return;
        };
        let state = core.state();
        let mut admitted = Vec::new();
        for entry in &entries {
            let formed = WellFormed::check(&state.network(), entry.clone());
            let authentic = formed.expect("users write well-formed entries");
            let authentic = authentic.authenticate();
            let authentic = Arc::new(authentic.expect("users sign with the key they name"));
            match state.admit(&authentic) {
                Ok(_) => admitted.push(authentic),
                Err(refusal) => {
                    self.cover.refusal(&refusal);
                    self.load.promises.note(&authentic, &refusal);
                }
            }
            if self.load.handed.len() == HANDED {
                self.load.handed.remove(0);
            }
            self.load.handed.push(entry.clone());
        }
        for entry in &admitted {
            self.show(&Sight::Handed { node: to, entry });
        }
        let bytes = HostMessage::Entries(entries).encode();
        let after = self.load.rng.range(1, 20);
        self.input(to, after, Input::Host { from, bytes });
    }
    /// Somebody sends what is no message at all.
    pub(super) fn make_noise(&mut self) {
        let Some(to) = self.some_validator() else {
            return;
        };
        self.cover.deed("noise");
        let from = node_key(STRANGER);
        let bytes = self.load.rng.bytes32().to_vec();
        self.input(to, 1, Input::Host { from, bytes });
    }
}
