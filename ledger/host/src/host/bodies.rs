//! Bodies: which are taken, and which blocks this node votes for.
//!
//! A validator votes for a block if
//! 1. the ledger executes it (roots included);
//! 2. its header names the validator that proposed it: of the proposal itself, or, if the proposal
//!    repeats an earlier one, of a round up to that earlier one;
//! 3. its time is at most [`CLOCK_AHEAD_MS`] ahead of our clock;
//! 4. in a first proposal of the turns among which an honest one is, it misses no entry that we
//!    acknowledged three blocks ago and, if only a validator told us, told all others a block ago.
//!    Missing entries go along with the vote against the block, so that the next proposer has them
//!    for certain.
//!
//! A refusal by 3 or 4 may be lifted when the block is proposed again.

use super::{Host, Offence};
use crate::candidates::Candidate;
use crate::consensus::Stimulus;
use crate::fault::Fault;
use crate::limits;
use crate::message::{BodyRequest, HostMessage};
use crate::stages::Stage;
use gridbay_ledger::{BlockRefusal, CheckedBlock, FormedBlock};
use gridbay_protocol::block::Block;
use gridbay_protocol::election;
use gridbay_protocol::ids::{BlockId, EntryId, ValidatorId};
use gridbay_protocol::limits::CLOCK_AHEAD_MS;
use gridbay_protocol::validator::ValidatorSet;
use gridbay_protocol::vote::Proposal;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many turns of a ranking it takes until one is an honest validator's for certain: those that
/// lie have less than a third of the power.
fn turns_with_an_honest_one(set: &ValidatorSet, ranking: &[ValidatorId]) -> usize {
    let mut others = set.total_power();
    let powers = ranking.iter().filter_map(|id| Some(set.get(id)?.power));
    let turns = powers.take_while(|power| {
        let before = set.is_quorum(others);
        others = others.saturating_sub(*power);
        before
    });
    turns.count()
}

impl Host {
    /// Checks a block; signatures of entries that never came by themselves are checked together.
    pub(super) fn check_block(&mut self, block: Block) -> Result<CheckedBlock, BlockRefusal> {
        let (state, mempool, signatures) = (&self.state, &self.mempool, &mut self.signatures);
        self.stages.time(Stage::Verify, || {
            let formed = FormedBlock::check(&state.network(), block)?;
            let new = formed.entries().iter();
            let new = new.filter(|entry| !mempool.contains(&entry.id()));
            let right = signatures.check(&new.cloned().collect::<Vec<_>>());
            let right = right.into_iter().flatten();
            let right: BTreeMap<_, _> = right.map(|e| (e.id(), Arc::new(e))).collect();
            formed.authenticate(|id, signature| {
                let own = mempool.known(id, signature);
                let known = own.or_else(|| right.get(id).cloned());
                signatures.checked += u64::from(known.is_none());
                known
            })
        })
    }
    /// Takes a body in, if a proposal names it.
    pub(super) fn take_body(&mut self, block: Block) -> Result<(), Fault> {
        let id = block.id();
        let running = self.engine.is_some() && block.header.height == self.state.height() + 1;
        if !running || self.candidates.get(&id).is_some() {
            return Ok(());
        }
        if self.candidates.naming(&id).is_none() {
            self.blame(Offence::Unasked);
            return Ok(());
        }
        if !self.candidates.is_near(&id, self.round().unwrap_or(0)) {
            return Ok(());
        }
        let bytes = block.encode().len();
        if !self.makes_room(&id, bytes) {
            return Ok(());
        }
        match self.check_block(block) {
            Ok(block) => self.take_checked(block, bytes),
            Err(error) => {
                // The header does not cover signatures, so this may be the sender's doing alone.
                tracing::debug!(block = %id, %error, "mangled body");
                self.blame(Offence::Body);
                Ok(())
            }
        }
    }
    /// Makes room for a body, if what is here matters less.
    pub(super) fn makes_room(&mut self, id: &BlockId, bytes: usize) -> bool {
        let round = self.round().unwrap_or(0);
        self.candidates.make_room(id, bytes, round)
    }
    /// Takes in the checked body of a block that a proposal names, and for which there is room.
    pub(super) fn take_checked(&mut self, block: CheckedBlock, bytes: usize) -> Result<(), Fault> {
        let (id, block) = (block.id(), Arc::new(block));
        let Some(named_by) = self.candidates.naming(&id).map(|signed| signed.proposal) else {
            return Ok(());
        };
        let execute = || self.state.execute(&block);
        let delta = match self.stages.time(Stage::Execute, execute) {
            Ok(delta) => Some(delta),
            Err(error) => {
                let reason = super::open::causes(&error);
                tracing::info!(block = %id, reason, "the ledger refuses a candidate");
                None
            }
        };
        let valid = delta.is_some() && self.is_acceptable(&block, &named_by);
        self.journal.body(&mut *self.disk, block.block())?;
        let proposer = block.header().proposer;
        let candidate = Candidate {
            block,
            delta,
            valid,
        };
        let returns = self.candidates.keep(candidate, bytes);
        self.drive(Stimulus::Value {
            round: named_by.round,
            block: id,
            proposer,
            valid,
        })?;
        if returns {
            for signed in self.candidates.all_naming(&id) {
                self.drive(Stimulus::Proposal(signed))?;
            }
        }
        Ok(())
    }
    /// Judges a block again that another proposal names.
    pub(super) fn judge_again(&mut self, proposal: &Proposal) -> Result<(), Fault> {
        let Some(candidate) = self.candidates.get(&proposal.block) else {
            return Ok(());
        };
        if candidate.valid || candidate.delta.is_none() {
            return Ok(());
        }
        let block = Arc::clone(&candidate.block);
        if !self.is_acceptable(&block, proposal) {
            return Ok(());
        }
        self.candidates.judge(&proposal.block, true);
        self.drive(Stimulus::Value {
            round: proposal.round,
            block: proposal.block,
            proposer: block.header().proposer,
            valid: true,
        })
    }
    fn is_acceptable(&mut self, block: &CheckedBlock, proposal: &Proposal) -> bool {
        let header = block.header();
        let set = self.state.validators();
        let ranking = election::ranking(&self.state.election_seed(), header.height, set);
        let made_by_its_proposer = match proposal.valid_round {
            None => header.proposer == proposal.validator,
            Some(valid_round) => {
                let turns = (valid_round as usize).saturating_add(1);
                ranking.iter().take(turns).any(|id| *id == header.proposer)
            }
        };
        let in_time = header.time_ms <= self.now.wall_ms.saturating_add(CLOCK_AHEAD_MS);
        let judged = proposal.valid_round.is_none()
            && (proposal.round as usize) < turns_with_an_honest_one(set, &ranking);
        let missing = match judged {
            true => self
                .state
                .missing(block, &self.mempool.due(self.state.height())),
            false => Vec::new(),
        };
        if made_by_its_proposer && in_time && missing.is_empty() {
            return true;
        }
        tracing::info!(block = %block.id(), made_by_its_proposer, in_time, missing = missing.len(),
            first_missing = ?missing.first(), "no vote for a candidate");
        self.tell_missing(&missing);
        false
    }
    /// Sends entries that a block misses to all validators: its proposer, and those whose turn is
    /// next, may not have them.
    fn tell_missing(&mut self, missing: &[EntryId]) {
        for id in missing {
            if self.missing_told.len() >= limits::MISSING_TOLD {
                return;
            }
            if let Some(entry) = self.mempool.get(id)
                && self.missing_told.insert(*id)
            {
                self.relay.push(entry.signed().clone());
            }
        }
    }
    /// The blocks of proposals that came before their round was near are wanted now.
    pub(super) fn want_coming(&mut self, round: u32) {
        for proposal in self.candidates.coming_near(round) {
            if let Some(holder) = self.node_of(&proposal.validator) {
                self.candidates
                    .want(proposal.block, holder, self.now.mono_ms);
            }
        }
    }
    /// Asks for bodies that are overdue.
    pub(super) fn ask_for_bodies(&mut self) {
        let height = self.state.height() + 1;
        for (block, holder) in self.candidates.ask(self.now.mono_ms) {
            let request = BodyRequest { height, block };
            self.send(holder, HostMessage::BodyRequest(request));
        }
    }
    /// Answers a validator's request for a body of the running height.
    pub(super) fn give_body(&mut self, to: crate::catchup::Peer, block: &BlockId) {
        if !self.candidates.may_give(to, block, self.now.mono_ms) {
            return;
        }
        if let Some(candidate) = self.candidates.get(block) {
            let body = Box::new(candidate.block.block().clone());
            self.send(to, HostMessage::Body(body));
        }
    }
    /// Penalises the sender of the message being handled.
    pub(super) fn blame(&mut self, offence: Offence) {
        if let Some(peer) = self.sender {
            self.penalise(peer, offence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::AccountId;
    use gridbay_protocol::keys::SecretKey;
    use gridbay_protocol::validator::{Validator, validator_id};

    /// Turns until an honest one, by powers in the order of the ranking.
    fn turns(powers: &[u64]) -> usize {
        let member = |(i, power): (usize, &u64)| {
            let key = SecretKey::from_seed(&[i as u8 + 1; 32]).public();
            Validator {
                id: validator_id(&key),
                key,
                node: key,
                account: AccountId::default(),
                power: *power,
            }
        };
        let members: Vec<Validator> = powers.iter().enumerate().map(member).collect();
        let ranking: Vec<ValidatorId> = members.iter().map(|member| member.id).collect();
        let set = ValidatorSet::new(members).unwrap();
        turns_with_an_honest_one(&set, &ranking)
    }

    #[test]
    fn omissions_are_judged_until_a_third_of_the_power_had_its_turn() {
        assert_eq!(turns(&[1]), 1);
        assert_eq!(turns(&[1, 1, 1]), 1);
        assert_eq!(turns(&[1; 4]), 2);
        assert_eq!(turns(&[1; 7]), 3);
        assert_eq!(turns(&[1; 10]), 4);
        assert_eq!(turns(&[10, 1, 1, 1]), 1, "it may not lie");
        assert_eq!(turns(&[1, 1, 1, 10]), 4, "all the small ones may");
    }
}
