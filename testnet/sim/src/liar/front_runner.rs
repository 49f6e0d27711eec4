//! Reads others' entries and tries to be there first: copies their commitments under its own name,
//! opens with their openings, buys what they buy, tells the others of its own entries only when it
//! has seen theirs, and puts its own entries first in its blocks.
//!
//! Attacks I5 and I7. A copied seal opens to nothing, because it binds the account; the order
//! inside a block is by the beacon, so a block in another order is refused by every ledger.

use super::craft::{Instead, heard, with_entries};
use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_host::message::HostMessage;
use gridbay_protocol::block::Block;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{EntryId, Hash32};
use gridbay_protocol::order::Open;
use std::collections::{BTreeMap, BTreeSet};

/// Commitments copied at the most at any time.
const COPIES: usize = 64;
/// Entries that wait for its next whim at the most.
const WAITING: usize = 32;
/// Own entries remembered as sent.
const SENT: usize = 4_096;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct FrontRunner {
    /// Its own entries, by the seal that they copied.
    copies: BTreeMap<Hash32, EntryId>,
    /// Seals of others, by their entries.
    seals: BTreeMap<EntryId, Hash32>,
    waiting: Vec<SignedEntry>,
    /// The entries that it has sent: two of its kind would otherwise run ahead of one another for
    /// ever.
    sent: BTreeSet<EntryId>,
    instead: Instead,
    deeds: u64,
}

impl FrontRunner {
    /// Its own version of somebody's entry.
    fn run_ahead(&mut self, puppet: &Puppet<'_>, signed: &SignedEntry) -> Option<SignedEntry> {
        let own = puppet.core.account()?;
        if signed.entry.account == own {
            return None;
        }
        match &signed.entry.body {
            EntryBody::Commit(commit) => {
                let seal = commit.seal;
                if self.copies.contains_key(&seal) {
                    return None;
                }
                if self.copies.len() >= COPIES {
                    self.copies.clear();
                    self.seals.clear();
                }
                let copy = puppet.entry(EntryBody::Commit(commit.clone()))?;
                self.copies.insert(seal, copy.id());
                self.seals.insert(signed.id(), seal);
                Some(copy)
            }
            EntryBody::Open(open) => {
                let seal = self.seals.get(&open.commit)?;
                let commit = *self.copies.get(seal)?;
                let open = Open {
                    commit,
                    ..open.clone()
                };
                puppet.entry(EntryBody::Open(open))
            }
            EntryBody::Buy(buy) => puppet.entry(EntryBody::Buy(buy.clone())),
            _ => None,
        }
    }
}

/// The same block with the node's own entries first.
fn own_first(puppet: &Puppet<'_>, block: &Block) -> Option<Block> {
    let own = puppet.core.account()?;
    let mut entries = block.entries.clone();
    entries.sort_by_key(|signed| signed.entry.account != own);
    let moved = entries != block.entries;
    moved.then(|| with_entries(block.clone(), |all| *all = entries))
}

impl Lie for FrontRunner {
    fn input(&mut self, puppet: &mut Puppet<'_>, input: Input) -> Option<Input> {
        let entries = match heard(&input) {
            Some(HostMessage::Entries(entries)) => entries,
            Some(HostMessage::Proposal(offered)) => {
                let body = offered.body.map(|body| body.block().entries.clone());
                body.unwrap_or_default()
            }
            _ => vec![],
        };
        for signed in &entries {
            if self.waiting.len() < WAITING {
                let ahead = self.run_ahead(puppet, signed);
                if self.sent.len() >= SENT {
                    self.sent.clear();
                }
                self.waiting
                    .extend(ahead.filter(|entry| self.sent.insert(entry.id())));
            }
        }
        Some(input)
    }
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let mut out = Vec::new();
        // Its own go out before what its process relays in this very step.
        let mut everybody = puppet.voters();
        everybody.push(puppet.node);
        for entry in std::mem::take(&mut self.waiting) {
            self.deeds += 1;
            out.extend(puppet.tell(&everybody, &entry));
        }
        out.extend(self.instead.bend(puppet, effects, |puppet, block| {
            let dares = puppet.rng.chance(300_000);
            dares.then(|| own_first(puppet, block)).flatten()
        }));
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds + self.instead.count
    }
}
