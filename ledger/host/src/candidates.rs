//! The candidates of the running height: proposals, bodies, verdicts and what each block would do.
//!
//! 1. A proposal counts if it is signed by the validator elected for its round; at most
//!    [`limits::PROPOSALS_PER_ROUND`] different ones per round are followed.
//! 2. A body is wanted if a proposal that counts names it; no other body is taken.
//! 3. A body is executed once, when it arrives; its effects are kept for the decision.

use crate::catchup::Peer;
use crate::limits;
use crate::message::SignedProposal;
use gridbay_ledger::{CheckedBlock, Delta};
use gridbay_protocol::ids::BlockId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A block that a proposal names.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The block.
    pub(crate) block: Arc<CheckedBlock>,
    /// What it does; `None` if the ledger refuses it.
    pub(crate) delta: Option<Delta>,
    /// Whether this node votes for it.
    pub(crate) valid: bool,
}

/// A body that is missing.
#[derive(Debug)]
struct Wanted {
    /// Who may have it, next one first.
    holders: Vec<Peer>,
    /// When to ask.
    ask_at: u64,
}

/// All candidates of one height.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    proposals: BTreeMap<u32, Vec<SignedProposal>>,
    bodies: BTreeMap<BlockId, Candidate>,
    bytes: usize,
    wanted: BTreeMap<BlockId, Wanted>,
    /// Blocks this node made, by round.
    pub(crate) own: BTreeMap<u32, BlockId>,
}

/// What a proposal is to the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Novelty {
    /// Not seen before.
    New,
    /// Seen before.
    Known,
    /// One more of a proposer who has equivocated often enough.
    Excess,
}

impl Candidates {
    /// What a proposal is to those before it.
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
    /// The body of a block.
    pub(crate) fn get(&self, block: &BlockId) -> Option<&Candidate> {
        self.bodies.get(block)
    }
    /// Changes the verdict on a block.
    pub(crate) fn judge(&mut self, block: &BlockId, valid: bool) {
        if let Some(candidate) = self.bodies.get_mut(block) {
            candidate.valid = valid;
        }
    }
    /// Takes the candidate that was decided out.
    pub(crate) fn take(&mut self, block: &BlockId) -> Option<Candidate> {
        self.bodies.remove(block)
    }
    /// Whether another body of `bytes` has room.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.bodies.len() < limits::BODIES && self.bytes + bytes <= limits::BODIES_BYTES
    }
    /// Keeps a body.
    pub(crate) fn keep(&mut self, candidate: Candidate, bytes: usize) {
        let id = candidate.block.id();
        self.wanted.remove(&id);
        self.bytes += bytes;
        self.bodies.insert(id, candidate);
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
