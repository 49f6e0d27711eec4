//! The tools of lies: signing with the node's own keys, reading its messages, and making another
//! block in place of its own.

use super::Puppet;
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_host::message::{Body, HostMessage, Offered, SignedProposal, SignedVote};
use gridbay_ledger::{CheckedBlock, Draft, log};
use gridbay_protocol::block::Block;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, BlockId, EntryId, Hash32, NetworkId, ValidatorId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::validator::validator_id;
use gridbay_protocol::vote::{Proposal, Vote};
use std::collections::BTreeMap;

/// Heights for which an entry of a liar may wait.
const ENTRY_HEIGHTS: u64 = 40;

impl Puppet<'_> {
    /// All other nodes.
    pub fn others(&self) -> Vec<usize> {
        (0..self.plan.nodes()).filter(|n| *n != self.node).collect()
    }
    /// All other validators' nodes.
    pub fn voters(&self) -> Vec<usize> {
        let all = 0..self.plan.validators;
        all.filter(|n| *n != self.node).collect()
    }
    /// One of the other nodes.
    pub fn somebody(&mut self) -> usize {
        let others = self.others();
        self.rng.pick(&others).copied().unwrap_or(0)
    }
    /// The network.
    pub fn network(&self) -> NetworkId {
        self.state().network()
    }
    /// Its validator.
    pub fn validator(&self) -> ValidatorId {
        validator_id(&self.consensus_key().public())
    }
    /// Signs a vote.
    pub fn vote(&self, vote: Vote) -> HostMessage {
        let signed = SignedVote::new(vote, &self.network(), &self.consensus_key());
        HostMessage::Vote(signed)
    }
    /// Signs a proposal.
    pub fn proposal(&self, proposal: Proposal, body: Option<Block>) -> HostMessage {
        let signed = SignedProposal::new(proposal, &self.network(), &self.consensus_key());
        let body = body.map(|block| Body::Whole(Box::new(block)));
        HostMessage::Proposal(Offered { signed, body })
    }
    /// A body that its node made, with all entries.
    pub fn whole(&self, body: &Body) -> Block {
        let mut block = body.block().clone();
        if let Body::Short(short) = body {
            let waiting = self.core.host().waiting();
            let entry = |id: &EntryId| waiting.iter().find(|entry| entry.id() == *id);
            let entries = short.ids.iter().filter_map(entry);
            block.entries = entries.map(|entry| entry.signed().clone()).collect();
        }
        block
    }
    /// Signs an entry of its account; `None` if it has no account.
    pub fn entry(&self, body: EntryBody) -> Option<SignedEntry> {
        let account = self.core.account()?;
        Some(self.entry_of(account, body, &self.account_key()))
    }
    /// An entry in the name of any account, signed with any key.
    pub fn entry_of(&self, account: AccountId, body: EntryBody, key: &SecretKey) -> SignedEntry {
        let entry = Entry {
            network: self.network(),
            account,
            key: key.public(),
            valid_until: self.state().height() + ENTRY_HEIGHTS,
            body,
        };
        SignedEntry::new(entry, key)
    }
    /// All accounts but its own, ascending.
    pub fn strangers(&self) -> Vec<AccountId> {
        let own = self.core.account();
        let all = self.state().accounts().map(|(id, _)| *id);
        all.filter(|id| Some(*id) != own).collect()
    }
    /// The block that the ledger makes of another draft than the node's own; `None` if the block is
    /// not for the next height.
    pub fn redraft(&self, block: &Block, change: impl FnOnce(&mut Draft)) -> Option<Block> {
        let header = &block.header;
        if header.height != self.state().height() + 1 {
            return None;
        }
        let checked = CheckedBlock::check(&self.network(), block.clone(), |_, _| None).ok()?;
        let mut draft = Draft {
            proposer: header.proposer,
            time_ms: header.time_ms,
            reveal: header.beacon_reveal.0,
            last_commit: block.last_commit.clone(),
            evidence: block.evidence.clone(),
            entries: checked.entries().to_vec(),
            hints: block.hints.clone(),
        };
        change(&mut draft);
        Some(self.state().propose(draft).block.block().clone())
    }
    /// Entries to tell some nodes of.
    pub fn tell(&self, nodes: &[usize], entry: &SignedEntry) -> Vec<Effect> {
        let message = HostMessage::Entries(vec![entry.clone()]);
        nodes.iter().map(|to| self.send(*to, &message)).collect()
    }
    /// Entries, if there are any, to tell all other validators of.
    pub fn tell_voters(&self, entries: Vec<SignedEntry>) -> Vec<Effect> {
        if entries.is_empty() {
            return vec![];
        }
        let message = HostMessage::Entries(entries);
        let voters = self.voters();
        voters.iter().map(|to| self.send(*to, &message)).collect()
    }
}

/// The message that a node sends by an effect.
pub(super) fn said(effect: &Effect) -> Option<HostMessage> {
    match effect {
        Effect::Broadcast { bytes } | Effect::Send { bytes, .. } => HostMessage::decode(bytes).ok(),
        _ => None,
    }
}

/// The message that a node hears by an input.
pub(super) fn heard(input: &Input) -> Option<HostMessage> {
    match input {
        Input::Host { bytes, .. } => HostMessage::decode(bytes).ok(),
        _ => None,
    }
}

/// Says something else to the same ears.
pub(super) fn say_instead(effect: &Effect, message: &HostMessage) -> Effect {
    let bytes = message.encode();
    match effect {
        Effect::Broadcast { .. } => Effect::Broadcast { bytes },
        Effect::Send { to, .. } => Effect::Send { to: *to, bytes },
        other => other.clone(),
    }
}

/// A block with other entries and the root over them; nothing else is made to fit.
pub(super) fn with_entries(mut block: Block, change: impl FnOnce(&mut Vec<SignedEntry>)) -> Block {
    change(&mut block.entries);
    let ids: Vec<[u8; 32]> = block.entries.iter().map(|e| e.id().0).collect();
    block.header.entries_root = Hash32(log::merkle_root(&ids));
    block
}

/// Turns one bit of a hash over.
pub(super) fn flip(hash: &mut Hash32, n: u64) {
    hash.0[n as usize % 32] ^= 1 << (n % 8);
}

/// Blocks that a liar offers in the place of those that its own process made. Its votes follow: in
/// public it votes for the block that it showed.
#[derive(Debug, Default)]
pub(super) struct Instead {
    shown: BTreeMap<BlockId, BlockId>,
    /// Blocks replaced.
    pub(super) count: u64,
}

/// Replacements remembered; those of decided heights are of no use.
const REMEMBERED: usize = 64;

impl Instead {
    /// Replaces the node's blocks by what `make` makes of them; where it makes nothing the block
    /// stays.
    pub(super) fn bend(
        &mut self,
        puppet: &mut Puppet<'_>,
        effects: Vec<Effect>,
        mut make: impl FnMut(&mut Puppet<'_>, &Block) -> Option<Block>,
    ) -> Vec<Effect> {
        let own = puppet.validator();
        let bend = |effect: Effect| match said(&effect) {
            Some(HostMessage::Proposal(offered)) => {
                let (mut proposal, body) = (offered.signed.proposal, offered.body);
                if proposal.validator != own {
                    return effect;
                }
                let whole = body.map(|body| puppet.whole(&body));
                let other = whole.and_then(|block| make(puppet, &block));
                if let Some(other) = &other {
                    self.remember(proposal.block, other.id());
                }
                let Some(shown) = self.shown.get(&proposal.block) else {
                    return effect;
                };
                proposal.block = *shown;
                say_instead(&effect, &puppet.proposal(proposal, other))
            }
            Some(HostMessage::Vote(signed)) if signed.vote.validator == own => {
                let mut vote = signed.vote;
                let Some(shown) = vote.block.and_then(|block| self.shown.get(&block)) else {
                    return effect;
                };
                vote.block = Some(*shown);
                say_instead(&effect, &puppet.vote(vote))
            }
            _ => effect,
        };
        effects.into_iter().map(bend).collect()
    }
    fn remember(&mut self, made: BlockId, shown: BlockId) {
        if self.shown.len() >= REMEMBERED {
            self.shown.clear();
        }
        self.shown.insert(made, shown);
        self.count += 1;
    }
}
