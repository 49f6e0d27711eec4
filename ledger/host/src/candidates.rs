//! The candidates of the running height: proposals, bodies, verdicts and the changes that each
//! block would make.
//!
//! 1. A proposal counts if it is signed by the validator elected for its round; at most
//!    [`limits::PROPOSALS_PER_ROUND`] different ones per round are followed.
//! 2. A body is wanted if a proposal that counts names it, of a round up to
//!    [`limits::BODIES_AHEAD`] after the running one; no other body is taken. A liar could have a
//!    block executed for each of its turns to come.
//! 3. A body is executed once, when it arrives; its effects are kept for the decision.
//! 4. When there is no room for another body, one that the ledger refuses goes first, then the one
//!    whose latest proposal is farthest from the current round, so that a height with any number of
//!    failed rounds can still be decided. This node's own block stays, and so does the one that it
//!    precommitted last: a node that helped to decide a block must be able to hand it out.
//! 5. Consensus remembers its verdict on a body that had to go. A proposal that names such a block
//!    again is withheld from it until the body is back, lest all vote for a block that nobody has.
//! 6. One body may wait for its entries, beside the room of the others (`host/short.rs`).

use crate::catchup::Peer;
use crate::guard::Statement;
use crate::journal::Recovered;
use crate::limits;
use crate::message::SignedProposal;
use gridbay_ledger::{CheckedBlock, Delta, NamedBlock};
use gridbay_protocol::ids::{BlockId, EntryId};
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::vote::Proposal;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A block that a proposal names.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The block.
    pub(crate) block: Arc<CheckedBlock>,
    /// Its changes; `None` if the ledger refuses it.
    pub(crate) delta: Option<Delta>,
    /// Whether this node votes for it.
    pub(crate) valid: bool,
}

/// A candidate with the bytes of its body.
#[derive(Debug)]
struct Held {
    candidate: Candidate,
    bytes: usize,
}

/// How much a body matters: whether the ledger executes it, then how near the current round it was
/// named.
pub(crate) type Worth = (bool, Reverse<u32>);

/// A block that waits for its entries.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) block: NamedBlock,
    /// The entries that came with it.
    pub(crate) along: BTreeMap<EntryId, Arc<Authentic>>,
}

/// A body that is missing.
#[derive(Debug)]
struct Wanted {
    /// The peers that may have it, next one first.
    holders: Vec<Peer>,
    /// When to ask.
    ask_at: u64,
}

/// All candidates of one height.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    proposals: BTreeMap<u32, Vec<SignedProposal>>,
    bodies: BTreeMap<BlockId, Held>,
    bytes: usize,
    wanted: BTreeMap<BlockId, Wanted>,
    /// Blocks whose bodies had to go.
    evicted: BTreeSet<BlockId>,
    /// Which validator's node was given which body when.
    given: BTreeMap<(Peer, BlockId), u64>,
    /// The block that this node precommitted last.
    locked: Option<BlockId>,
    /// Blocks this node made, by round.
    pub(crate) own: BTreeMap<u32, BlockId>,
    /// A body that waits for its entries.
    pub(crate) waiting: Option<Waiting>,
    /// Blocks whose proposers sent them short, and rightly.
    short: BTreeSet<BlockId>,
}

/// How a proposal relates to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Novelty {
    /// Not seen before.
    New,
    /// Seen before.
    Known,
    /// One more of a proposer that has equivocated often enough.
    Excess,
}

impl Candidates {
    /// How a proposal relates to those before it.
    pub(crate) fn novelty(&self, signed: &SignedProposal) -> Novelty {
        let round = self.proposals.get(&signed.proposal.round);
        let seen = round.map_or(&[][..], Vec::as_slice);
        if seen.iter().any(|p| p.proposal == signed.proposal) {
            Novelty::Known
        } else if seen.len() >= limits::PROPOSALS_PER_ROUND {
            Novelty::Excess
        } else {
            Novelty::New
        }
    }
    /// Bodies held, and their bytes.
    pub(crate) fn bodies(&self) -> (usize, usize) {
        (self.bodies.len(), self.bytes)
    }
    /// The most proposals of one round that are followed.
    pub(crate) fn most_of_a_round(&self) -> usize {
        self.proposals.values().map(Vec::len).max().unwrap_or(0)
    }
    /// Follows a proposal.
    pub(crate) fn follow(&mut self, signed: SignedProposal) {
        let round = self.proposals.entry(signed.proposal.round).or_default();
        round.push(signed);
    }
    /// The proposals of a round.
    pub(crate) fn of_round(&self, round: u32) -> &[SignedProposal] {
        self.proposals.get(&round).map_or(&[], Vec::as_slice)
    }
    /// The latest proposal that names a block.
    pub(crate) fn naming(&self, block: &BlockId) -> Option<&SignedProposal> {
        let mut all = self.proposals.values().rev().flatten();
        all.find(|p| p.proposal.block == *block)
    }
    /// All proposals that name a block, earliest first.
    pub(crate) fn all_naming(&self, block: &BlockId) -> Vec<SignedProposal> {
        let all = self.proposals.values().flatten();
        all.filter(|p| p.proposal.block == *block)
            .copied()
            .collect()
    }
    /// Whether a proposal names a block that is of use in round `current` or soon after.
    pub(crate) fn is_near(&self, block: &BlockId, current: u32) -> bool {
        let near = ..=current.saturating_add(limits::BODIES_AHEAD);
        let mut near = self.proposals.range(near).flat_map(|(_, all)| all);
        near.any(|p| p.proposal.block == *block)
    }
    /// The proposals that come near in round `current`.
    pub(crate) fn coming_near(&self, current: u32) -> Vec<Proposal> {
        let near = current..=current.saturating_add(limits::BODIES_AHEAD);
        let near = self.proposals.range(near).flat_map(|(_, all)| all);
        near.map(|signed| signed.proposal).collect()
    }
    /// The body of a block.
    pub(crate) fn get(&self, block: &BlockId) -> Option<&Candidate> {
        self.bodies.get(block).map(|held| &held.candidate)
    }
    /// The latest block that this node made and has.
    pub(crate) fn own_block(&self) -> Option<BlockId> {
        let mut latest = self.own.values().rev();
        latest.find(|id| self.bodies.contains_key(id)).copied()
    }
    /// Notes that this node precommits a block.
    pub(crate) fn lock(&mut self, block: BlockId) {
        self.locked = Some(block);
    }
    /// Changes the verdict on a block.
    pub(crate) fn judge(&mut self, block: &BlockId, valid: bool) {
        if let Some(held) = self.bodies.get_mut(block) {
            held.candidate.valid = valid;
        }
    }
    /// Takes the candidate that was decided out.
    pub(crate) fn take(&mut self, block: &BlockId) -> Option<Candidate> {
        let held = self.bodies.remove(block)?;
        self.bytes -= held.bytes;
        Some(held.candidate)
    }
    /// Takes over from the journal which blocks stay; returns the round it was in.
    pub(crate) fn recall(&mut self, found: &Recovered) -> u32 {
        self.own = found.own.iter().copied().collect();
        self.locked = found
            .statements
            .iter()
            .rev()
            .find_map(Statement::precommits);
        let rounds = found.statements.iter().map(Statement::round);
        rounds.max().unwrap_or(0)
    }
    /// Whether a body stays whatever comes.
    fn stays(&self, block: &BlockId) -> bool {
        self.locked == Some(*block) || self.own.values().any(|own| own == block)
    }
    /// How much the body of a block matters in round `current`.
    pub(crate) fn worth(&self, block: &BlockId, executes: bool, current: u32) -> Worth {
        if self.stays(block) {
            return (true, Reverse(0));
        }
        let named = self.naming(block).map(|p| p.proposal.round);
        let far = named.map_or(u32::MAX, |round| round.abs_diff(current));
        (executes, Reverse(far))
    }
    /// Makes room for the body of `block`, in round `current`; `false` if all that is here matters
    /// more.
    pub(crate) fn make_room(&mut self, block: &BlockId, bytes: usize, current: u32) -> bool {
        let worth = self.worth(block, true, current);
        while self.bodies.len() >= limits::BODIES || self.bytes + bytes > limits::BODIES_BYTES {
            let others = self.bodies.iter().filter(|(id, _)| !self.stays(id));
            let least = others
                .map(|(id, held)| (self.worth(id, held.candidate.delta.is_some(), current), *id))
                .min();
            let Some((_, victim)) = least.filter(|(least, _)| *least < worth) else {
                self.wanted.remove(block);
                return false;
            };
            self.take(&victim);
            self.evicted.insert(victim);
        }
        true
    }
    /// Whether a body was here that had to go.
    pub(crate) fn is_evicted(&self, block: &BlockId) -> bool {
        self.evicted.contains(block)
    }
    /// Notes that a body of an earlier run has no place any more.
    pub(crate) fn leave_out(&mut self, block: BlockId) {
        self.evicted.insert(block);
    }
    /// Keeps a body; returns whether it was here before and had to go.
    pub(crate) fn keep(&mut self, candidate: Candidate, bytes: usize) -> bool {
        let id = candidate.block.id();
        self.wanted.remove(&id);
        self.waiting.take_if(|waiting| waiting.block.id() == id);
        self.bytes += bytes;
        self.bodies.insert(id, Held { candidate, bytes });
        self.evicted.remove(&id)
    }
    /// Notes that a body is missing and that `holder` should have it.
    pub(crate) fn want(&mut self, block: BlockId, holder: Peer, now: u64) {
        if self.bodies.contains_key(&block) {
            return;
        }
        let wanted = self.wanted.entry(block).or_insert_with(|| Wanted {
            holders: Vec::new(),
            ask_at: now.saturating_add(limits::BODY_WAIT_MS),
        });
        let room = wanted.holders.len() < gridbay_protocol::limits::VALIDATORS;
        if room && !wanted.holders.contains(&holder) {
            wanted.holders.push(holder);
        }
    }
    /// Notes that a proposer, which has all of a block, sent it short; whether for the first time.
    pub(crate) fn note_short(&mut self, block: BlockId, proposer: Peer) -> bool {
        if let Some(wanted) = self.wanted.get_mut(&block) {
            wanted.holders.retain(|holder| *holder != proposer);
            wanted.holders.insert(0, proposer);
        }
        self.short.insert(block)
    }
    /// Has a block wait for entries, unless another does that matters more in round `current`.
    pub(crate) fn wait_for_entries(&mut self, waiting: Waiting, current: u32) {
        let worth = |waiting: &Waiting| self.worth(&waiting.block.id(), true, current);
        let matters = |other: &Waiting| worth(&waiting) < worth(other);
        if !self.waiting.as_ref().is_some_and(matters) {
            self.waiting = Some(waiting);
        }
    }
    /// Whether a peer is given a body that is here: not again within [`limits::BODY_REST_MS`].
    pub(crate) fn may_give(&mut self, to: Peer, block: &BlockId, now: u64) -> bool {
        if !self.bodies.contains_key(block) {
            return false;
        }
        let rest = limits::BODY_REST_MS;
        self.given.retain(|_, at| now.saturating_sub(*at) < rest);
        let fresh = !self.given.contains_key(&(to, *block));
        if fresh {
            self.given.insert((to, *block), now);
        }
        fresh
    }
    /// When to ask for the next missing body.
    pub(crate) fn due(&self) -> Option<u64> {
        self.wanted.values().map(|w| w.ask_at).min()
    }
    /// Missing bodies to ask for now, with whom to ask; the holders take turns.
    pub(crate) fn ask(&mut self, now: u64) -> Vec<(BlockId, Peer)> {
        let mut requests = Vec::new();
        for (block, wanted) in &mut self.wanted {
            if wanted.ask_at > now {
                continue;
            }
            wanted.ask_at = now.saturating_add(limits::BODY_RETRY_MS);
            if let Some(holder) = wanted.holders.first().copied() {
                wanted.holders.rotate_left(1);
                requests.push((*block, holder));
            }
        }
        requests
    }
}
