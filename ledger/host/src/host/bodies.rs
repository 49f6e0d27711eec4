//! Bodies: which are taken, and which blocks this node votes for.
//!
//! A validator votes for a block if
//! 1. the ledger executes it (roots included);
//! 2. its header names the validator who proposed it: of the proposal itself, or, if the proposal repeats
//!    an earlier one, of a round up to that earlier one;
//! 3. its time is at most [`CLOCK_AHEAD_MS`] ahead of our clock;
//! 4. in a first proposal of rounds 0 to f, it omits no entry that we acknowledged two blocks ago and that fits.
//!
//! A refusal by 3 or 4 may be lifted when the block is proposed again.

use super::{Host, Offence};
use crate::candidates::Candidate;
use crate::consensus::{Engine, Stimulus};
use crate::fault::Fault;
use crate::message::{BodyRequest, HostMessage};
use gridbay_ledger::{CheckedBlock, Draft};
use gridbay_protocol::block::Block;
use gridbay_protocol::election;
use gridbay_protocol::ids::{AccountId, BlockId, EntryId};
use gridbay_protocol::limits::CLOCK_AHEAD_MS;
use gridbay_protocol::planted::{self, Planted};
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::vote::Proposal;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Host {
    /// Takes a body in, if a proposal names it.
    pub(super) fn take_body(&mut self, block: Block) -> Result<(), Fault> {
        let id = block.id();
        let running = self.engine.is_some() && block.header.height == self.state.height() + 1;
        if !running || self.candidates.get(&id).is_some() {
            return Ok(());
        }
        let Some(named_by) = self.candidates.naming(&id).map(|signed| signed.proposal) else {
            self.blame(Offence::Unasked);
            return Ok(());
        };
        let bytes = block.encode().len();
        let round = self.engine.as_ref().map_or(0, Engine::round);
        if !self.candidates.make_room(&id, bytes, round) {
            return Ok(());
        }
        let known = |id: &_, signature: &_| self.pool.known(id, signature);
        let block = match CheckedBlock::check(&self.state.network(), block, known) {
            Ok(block) => Arc::new(block),
            Err(error) => {
                // The header does not cover signatures, so this may be the sender's doing alone.
                tracing::debug!(block = %id, %error, "mangled body");
                self.blame(Offence::Body);
                return Ok(());
            }
        };
        let delta = match self.state.execute(&block) {
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
    fn is_acceptable(&self, block: &CheckedBlock, proposal: &Proposal) -> bool {
        let header = block.header();
        let set = self.state.validators();
        let made_by_its_proposer = match proposal.valid_round {
            _ if planted::is(Planted::ProposerUnchecked) => true,
            None => header.proposer == proposal.validator,
            Some(valid_round) => {
                let seed = self.state.election_seed();
                let ranking = election::ranking(&seed, header.height, set);
                let turns = ranking
                    .iter()
                    .take((valid_round as usize).saturating_add(1));
                turns.into_iter().any(|id| *id == header.proposer)
            }
        };
        let in_time = planted::is(Planted::TimeAheadAccepted)
            || header.time_ms <= self.now.wall_ms.saturating_add(CLOCK_AHEAD_MS);
        let faulty = (set.members().len() - 1) / 3;
        let judged = proposal.valid_round.is_none()
            && proposal.round as usize <= faulty
            && !planted::is(Planted::OmissionForgiven);
        let omitted = judged.then(|| self.omits(block)).flatten();
        if !(made_by_its_proposer && in_time) || omitted.is_some() {
            tracing::info!(block = %block.id(), made_by_its_proposer, in_time, ?omitted,
                "no vote for a candidate");
            return false;
        }
        true
    }
    /// An acknowledged entry that a block leaves out and that would have fitted into it.
    ///
    /// 1. It does if nothing else of its account is in the block.
    /// 2. Otherwise the block is made again with all such entries: one of them fits if it takes effect there and
    ///    puts out nothing that the block has. So a censor gains nothing by taking in another entry of its victim.
    fn omits(&self, block: &CheckedBlock) -> Option<EntryId> {
        let overdue = self.pool.omitted(self.state.height(), block.entries());
        if overdue.is_empty() {
            return None;
        }
        let account = |entry: &Authentic| entry.entry().account;
        let busy: BTreeSet<AccountId> = block.entries().iter().map(|e| account(e)).collect();
        if let Some(entry) = overdue.iter().find(|e| !busy.contains(&account(e))) {
            return Some(entry.id());
        }
        let header = block.header();
        let again = self.state.propose(Draft {
            proposer: header.proposer,
            time_ms: header.time_ms,
            reveal: header.beacon_reveal.0,
            last_commit: block.block().last_commit.clone(),
            evidence: block.block().evidence.clone(),
            entries: block.entries().iter().chain(&overdue).cloned().collect(),
            hints: block.block().hints.clone(),
        });
        let taken: BTreeSet<EntryId> = again.block.entries().iter().map(|e| e.id()).collect();
        let all_kept = block.entries().iter().all(|e| taken.contains(&e.id()));
        let mut fitting = overdue.iter().map(|e| e.id());
        fitting.find(|id| all_kept && taken.contains(id))
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
