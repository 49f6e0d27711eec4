//! Wants one account's entries out of the book: does not hear them, does not pass them on, leaves
//! them out of its own blocks in every round and votes nil on blocks that hold them.
//!
//! Attacks I6. Honest nodes notice by the entries that they acknowledged: in the first rounds they
//! vote nil on a block that omits it, so the next proposer's block has it.

use super::craft::{Instead, heard, said, say_instead};
use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_host::message::HostMessage;
use gridbay_protocol::block::Block;
use gridbay_protocol::ids::{AccountId, BlockId};
use gridbay_protocol::vote::Vote;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Censor {
    victim: Option<AccountId>,
    /// Height, and its blocks that hold what the victim wants.
    hated: (u64, Vec<BlockId>),
    instead: Instead,
    deeds: u64,
}

impl Censor {
    fn victim(&mut self, puppet: &mut Puppet<'_>) -> Option<AccountId> {
        if self.victim.is_none() {
            let strangers = puppet.strangers();
            self.victim = puppet.rng.pick(&strangers).copied();
        }
        self.victim
    }
    /// Remembers a block that holds an entry of the victim.
    fn look(&mut self, victim: &AccountId, block: &Block) {
        let height = block.header.height;
        if self.hated.0 != height {
            self.hated = (height, Vec::new());
        }
        if block.entries.iter().any(|e| e.entry.account == *victim) {
            self.hated.1.push(block.id());
        }
    }
    /// The rest of a message without the victim's entries; `None` if there is none.
    fn strip(&mut self, victim: &AccountId, message: HostMessage) -> Option<HostMessage> {
        let HostMessage::Entries(mut entries) = message else {
            return Some(message);
        };
        let before = entries.len();
        entries.retain(|signed| signed.entry.account != *victim);
        self.deeds += (before - entries.len()) as u64;
        (!entries.is_empty()).then_some(HostMessage::Entries(entries))
    }
}

impl Lie for Censor {
    fn input(&mut self, puppet: &mut Puppet<'_>, input: Input) -> Option<Input> {
        let Some(victim) = self.victim(puppet) else {
            return Some(input);
        };
        let message = heard(&input);
        let Input::Host { from, bytes } = input else {
            return Some(input);
        };
        match message {
            Some(HostMessage::Proposal(offered)) => {
                if let Some(body) = &offered.body {
                    // Its node lacks the victim's entries, and asks for the whole body.
                    self.look(&victim, body.block());
                }
            }
            Some(HostMessage::Body(block)) => self.look(&victim, &block),
            Some(entries @ HostMessage::Entries(_)) => {
                let bytes = self.strip(&victim, entries)?.encode();
                return Some(Input::Host { from, bytes });
            }
            _ => {}
        }
        Some(Input::Host { from, bytes })
    }
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let Some(victim) = self.victim else {
            return effects;
        };
        let effects = self.instead.bend(puppet, effects, |puppet, block| {
            let hates = block.entries.iter().any(|e| e.entry.account == victim);
            let without = |draft: &mut gridbay_ledger::Draft| {
                draft.entries.retain(|e| e.entry().account != victim);
            };
            hates.then(|| puppet.redraft(block, without)).flatten()
        });
        let own = puppet.validator();
        let mut out = Vec::new();
        for effect in effects {
            match said(&effect) {
                Some(entries @ HostMessage::Entries(_)) => {
                    let left = self.strip(&victim, entries);
                    out.extend(left.map(|message| say_instead(&effect, &message)));
                }
                Some(HostMessage::Vote(signed))
                    if signed.vote.validator == own
                        && signed.vote.block.is_some_and(|b| self.hated.1.contains(&b)) =>
                {
                    self.deeds += 1;
                    let block = None;
                    let nil = puppet.vote(Vote {
                        block,
                        ..signed.vote
                    });
                    out.push(say_instead(&effect, &nil));
                }
                _ => out.push(effect),
            }
        }
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds + self.instead.count
    }
}
