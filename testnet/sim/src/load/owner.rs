//! Owners of accounts: they move money and change keys.

use super::buyer::micros;
use super::desk::Desk;
use super::key::Key;
use crate::world::World;
use gridbay_core::input::Command;
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::stage::WellFormed;
use std::sync::Arc;

/// A legal list of keys.
pub(super) fn key_list(keys: &[(&Key, Roles)]) -> Vec<AccountKey> {
    let listed = keys.iter().map(|(key, roles)| AccountKey {
        key: key.public,
        roles: *roles,
    });
    let mut list: Vec<AccountKey> = listed.collect();
    list.sort_by_key(|k| k.key);
    list
}

impl World {
    pub(super) fn transfer(&mut self, from: usize) {
        let to = self.load.rng.index(self.plan.nodes());
        let Some(to) = self.core(to).and_then(|core| core.account()) else {
            return;
        };
        let amount = micros(self.load.rng.range(1, 3_000_000));
        let memo = Hash32(self.load.rng.bytes32());
        // Half of the owners sign their transfers themselves, to send the same entry again if need
        // be.
        let signs = self.load.rng.chance(500_000);
        let signed = self.draw_up(from, |desk| {
            let account = desk.account(from).filter(|_| signs)?;
            let key = desk.load.keys.get(from)?.clone();
            let body = EntryBody::Transfer { to, amount, memo };
            Some(desk.sign(account, &key, body))
        });
        let signed = signed.and_then(|entry| {
            let formed = WellFormed::check(&entry.entry.network.clone(), entry);
            formed.ok()?.authenticate().ok()
        });
        let command = match signed {
            Some(entry) => Command::Send(vec![Arc::new(entry)]),
            None => Command::Transfer { to, amount, memo },
        };
        self.command(from, "transfer", command);
    }
    /// The owner of a node lets another of its keys trade; a client changes its key for a new one.
    pub(super) fn change_keys(&mut self, node: usize) {
        let Some(to) = self.some_validator() else {
            return;
        };
        let done = if self.load.rng.chance(500_000) {
            self.write(to, |desk| second_key(desk, node))
        } else {
            self.write(to, new_key)
        };
        if done {
            self.cover.deed("change of keys");
        }
    }
}

/// The node's own key stays: it can do nothing without.
fn second_key(desk: &mut Desk<'_>, node: usize) -> Option<SignedEntry> {
    let account = desk.account(node)?;
    let key = desk.load.keys.get(node)?.clone();
    let second = Key::fresh(&mut desk.load.rng);
    let keys = key_list(&[(&key, Roles::ALL), (&second, Roles::TRADE)]);
    Some(desk.sign(account, &key, EntryBody::SetKeys { keys }))
}

fn new_key(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let client = desk.load.rng.index(desk.load.clients.len());
    let (account, old) = desk.client(client)?;
    let new = Key::fresh(&mut desk.load.rng);
    let keys = key_list(&[(&new, Roles::ALL)]);
    desk.load.clients.get_mut(client)?.keys.push(new);
    Some(desk.sign(account, &old, EntryBody::SetKeys { keys }))
}
