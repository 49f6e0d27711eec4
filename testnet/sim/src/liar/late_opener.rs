//! Commits to bids and then holds the openings back: until the last block that may hold them, until
//! it is too late, or for ever. Its process's own openings suffer the same.
//!
//! Attacks the simultaneous release of bids (reliability.md, no free withdrawal) and I5. A bid that
//! is not opened in time forfeits its deposit, and the round clears without it on every node alike.

use super::craft::{said, say_instead};
use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_host::message::HostMessage;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{ClassId, EntryId, Hash32};
use gridbay_protocol::order::{Bid, Commit, Open, Step, order_of};
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;

/// Openings held back at the most.
const HELD: usize = 64;

/// How late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Late {
    /// For the last block that may hold it.
    Last,
    /// For the block after that.
    After,
    Never,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct LateOpener {
    held: BTreeMap<EntryId, (Late, SignedEntry)>,
    bids: u64,
    deeds: u64,
}

impl LateOpener {
    fn hold(&mut self, puppet: &mut Puppet<'_>, commit: EntryId, open: SignedEntry) {
        if self.held.contains_key(&commit) {
            return;
        }
        if self.held.len() >= HELD {
            self.held.pop_first();
        }
        let kinds = [Late::Last, Late::Last, Late::After, Late::Never];
        let late = puppet.rng.pick(&kinds).copied().unwrap_or(Late::Never);
        self.held.insert(commit, (late, open));
        self.deeds += 1;
    }
    /// Openings whose hour has come.
    fn due(&mut self, puppet: &Puppet<'_>) -> Vec<SignedEntry> {
        let state = puppet.state();
        let (calendar, next) = (state.calendar(), state.height() + 1);
        let mut due = Vec::new();
        self.held.retain(|commit, (late, open)| {
            let Some(order) = state.order(&order_of(commit)) else {
                // Not in the book yet, or forfeited.
                return next <= open.entry.valid_until;
            };
            let last = calendar.last_of_round(order.round + 1) - 1;
            let at = match late {
                Late::Last => last,
                Late::After => last + 1,
                Late::Never => u64::MAX,
            };
            if next >= at {
                due.push(open.clone());
            }
            next < at
        });
        due
    }
    /// A sealed bid of its own, and the opening that belongs to it.
    fn bid(&mut self, puppet: &mut Puppet<'_>) -> Option<SignedEntry> {
        let account = puppet.core.account()?;
        let classes: Vec<ClassId> = puppet
            .state()
            .classes()
            .iter()
            .map(|c| c.key.id())
            .collect();
        let class = *puppet.rng.pick(&classes)?;
        self.bids += 1;
        let bid = Bid {
            class,
            steps: vec![Step {
                units: 1,
                price: Price(puppet.rng.range(20, 300)),
            }],
            min: 1,
            slots: 1,
            budget: Credits::from_micros(1_000_000)?,
            stands_until: puppet.state().height() + 40,
            work: Hash32(puppet.rng.bytes32()),
        };
        let salt = puppet.rng.bytes32();
        let seal = bid.seal(&puppet.network(), &account, &salt);
        let bracket = 0;
        let commit = puppet.entry(EntryBody::Commit(Commit {
            class,
            seal,
            bracket,
        }))?;
        let open = Open {
            commit: commit.id(),
            wish: bid.into(),
            salt,
        };
        let open = puppet.entry(EntryBody::Open(open))?;
        self.hold(puppet, commit.id(), open);
        Some(commit)
    }
}

impl Lie for LateOpener {
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let own = puppet.core.account();
        let mut out = Vec::new();
        for effect in effects {
            let Some(HostMessage::Entries(mut entries)) = said(&effect) else {
                out.push(effect);
                continue;
            };
            entries.retain(|signed| match &signed.entry.body {
                EntryBody::Open(open) if Some(signed.entry.account) == own => {
                    self.hold(puppet, open.commit, signed.clone());
                    false
                }
                _ => true,
            });
            if !entries.is_empty() {
                out.push(say_instead(&effect, &HostMessage::Entries(entries)));
            }
        }
        let voters = puppet.voters();
        for open in self.due(puppet) {
            out.extend(puppet.tell(&voters, &open));
        }
        out
    }
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        if !puppet.rng.chance(300_000) {
            return vec![];
        }
        let voters = puppet.voters();
        let commit = self.bid(puppet);
        commit.map_or_else(Vec::new, |commit| puppet.tell(&voters, &commit))
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
