//! The running height: its start, the requests of consensus, and this node's own blocks.

use super::{Equivocation, Host, HostEffect, Offence};
use crate::candidates::Candidate;
use crate::candidates::Novelty;
use crate::consensus::{Action, Engine, Stimulus, TimerKind};
use crate::fault::Fault;
use crate::guard::{Guard, Statement};
use crate::journal::Recovered;
use crate::limits;
use crate::message::{HostMessage, Offered, SignedProposal};
use crate::stages::Stage;
use gridbay_ledger::{CheckedBlock, Draft};
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::ids::BlockId;
use gridbay_protocol::vote::Certificate;
use std::collections::VecDeque;
use std::sync::Arc;

impl Host {
    /// When the next height starts here; `None` if one is running, we may not vote, or too few are
    /// there.
    pub(super) fn height_due(&self) -> Option<u64> {
        let next = self.state.height() + 1;
        let guard = self.guard.as_ref()?;
        let votes = self.state.validators().get(&guard.validator()).is_some();
        if self.engine.is_some() || !votes || guard.height() > next {
            return None;
        }
        if self.resumes(next) {
            return Some(0);
        }
        let work = self.mempool.has_ready() || self.state.work_is_due();
        self.pace.due(work)
    }
    /// Whether we took part in this height before a restart.
    fn resumes(&self, height: u64) -> bool {
        self.recovered.as_ref().is_some_and(|r| r.height == height)
    }
    /// Starts the height after the tip, or resumes it from the journal.
    pub(super) fn begin_height(&mut self) -> Result<(), Fault> {
        let height = self.state.height() + 1;
        // The journal of a height may only be superseded once its block is safe.
        self.blocks.sync(&mut *self.disk)?;
        let open = || self.mempool.open_promises();
        self.journal.begin(&mut *self.disk, height, open)?;
        self.pace.start(self.now.mono_ms);
        let resumed = if self.resumes(height) {
            self.recovered.take()
        } else {
            None
        };
        if let Some(found) = &resumed {
            self.restore(found)?;
        }
        let Some(guard) = &mut self.guard else {
            return Err(Fault::Invariant("only a validator starts a height"));
        };
        guard.advance(height);
        let mut engine = Engine::new(
            self.state.network(),
            height,
            self.state.validators(),
            &self.state.election_seed(),
            guard.validator(),
        );
        let actions = match &resumed {
            Some(found) => engine.replay(&found.stimuli, guard)?,
            None => engine.start(guard)?,
        };
        self.engine = Some(engine);
        let mut queue = VecDeque::new();
        self.perform(actions, &mut queue)?;
        self.run(queue)?;
        for (from, message) in self.early.take(height) {
            self.deliver(from, message)?;
        }
        Ok(())
    }
    /// Brings back the candidates that the journal holds.
    fn restore(&mut self, found: &Recovered) -> Result<(), Fault> {
        let mut valid: Vec<BlockId> = found.own.iter().map(|(_, id)| *id).collect();
        for stimulus in &found.stimuli {
            match stimulus {
                Stimulus::Proposal(signed) if self.candidates.novelty(signed) == Novelty::New => {
                    self.candidates.follow(*signed);
                }
                Stimulus::Value {
                    block, valid: true, ..
                } => valid.push(*block),
                _ => {}
            }
        }
        let round = self.candidates.recall(found);
        // A verdict whose body was let go stands, as it did before.
        for stimulus in &found.stimuli {
            if let Stimulus::Value { block, .. } = stimulus
                && !found.bodies.iter().any(|(id, _)| id == block)
            {
                self.candidates.leave_out(*block);
            }
        }
        // One after the other from the disk, those that matter most first.
        let mut bodies = found.bodies.clone();
        bodies.sort_by_key(|(id, _)| std::cmp::Reverse(self.candidates.worth(id, true, round)));
        for (id, place) in bodies {
            let body = self.journal.read_body(&*self.disk, place)?;
            let bytes = body.encode().len();
            if !self.candidates.make_room(&id, bytes, round) {
                self.candidates.leave_out(id);
                continue;
            }
            let known = |_: &_, _: &_| None;
            let checked = CheckedBlock::check(&self.state.network(), body, known);
            let block = checked.map_err(|error| Fault::Refused {
                height: found.height,
                block: id,
                reason: super::open::causes(&error),
            })?;
            let candidate = Candidate {
                delta: self.state.execute(&block).ok(),
                block: Arc::new(block),
                valid: valid.contains(&id),
            };
            self.candidates.keep(candidate, bytes);
        }
        Ok(())
    }

    /// Feeds one stimulus, and its consequences, to consensus.
    pub(super) fn drive(&mut self, stimulus: Stimulus) -> Result<(), Fault> {
        self.run(VecDeque::from([stimulus]))
    }
    fn run(&mut self, mut queue: VecDeque<Stimulus>) -> Result<(), Fault> {
        while let Some(stimulus) = queue.pop_front() {
            let (Some(engine), Some(guard)) = (&mut self.engine, &mut self.guard) else {
                return Ok(());
            };
            let actions = engine.feed(&stimulus, guard)?;
            self.perform(actions, &mut queue)?;
        }
        Ok(())
    }
    /// Carries out the requests of consensus; answers to it go to `queue`.
    fn perform(
        &mut self,
        actions: Vec<Action>,
        queue: &mut VecDeque<Stimulus>,
    ) -> Result<(), Fault> {
        let mut decided = None;
        for action in actions {
            match action {
                Action::Keep(statement) => self.journal.statement(&mut *self.disk, statement)?,
                Action::Log(stimulus) => self.journal.stimulus(&mut *self.disk, stimulus)?,
                Action::Publish(statement) => self.publish(statement),
                Action::Repeat(vote) => {
                    self.broadcast(HostMessage::Vote(vote));
                    if vote.vote.round == 0 {
                        self.remind();
                    }
                }
                Action::Polka(polka) => self.broadcast(HostMessage::Polka(polka)),
                Action::Round(proof) => self.broadcast(HostMessage::Round(proof)),
                // A node without the body of a repeated proposal asks for it.
                Action::Restream => {}
                Action::NeedValue { round } => {
                    if let Some(block) = self.own_block(round)? {
                        queue.push_back(Stimulus::Propose { round, block });
                    }
                }
                Action::Arm(timer) => {
                    let wait = self.pace.timeout_ms(timer);
                    let at = self.now.mono_ms.saturating_add(wait);
                    self.timers.insert(timer, at);
                    if timer.kind == TimerKind::Propose {
                        self.pace.await_proposal(timer.round, self.now.mono_ms);
                    }
                }
                Action::Disarm(timer) => {
                    let ran = self.timers.remove(&timer).is_some();
                    if ran && timer.kind == TimerKind::Propose {
                        self.pace.proposed(timer.round, self.now.mono_ms);
                    }
                }
                Action::DisarmAll => self.timers.clear(),
                Action::RoundBegun(round) => {
                    tracing::debug!(height = self.state.height() + 1, round, "round begins");
                    self.want_coming(round);
                }
                Action::Forged => {
                    if let Some(peer) = self.sender {
                        self.penalise(peer, Offence::Signature);
                    }
                }
                Action::Votes(found) => self.convict(found),
                Action::Proposals(pairs) => self.report(pairs),
                Action::Decided(certificate) => decided = Some(certificate),
            }
        }
        match decided {
            Some(certificate) => self.decide(certificate),
            None => Ok(()),
        }
    }
    fn publish(&mut self, statement: Statement) {
        self.signed = true;
        if let Some(block) = statement.precommits() {
            self.candidates.lock(block);
        }
        match statement {
            Statement::Vote(vote) => self.broadcast(HostMessage::Vote(vote)),
            Statement::Proposal(signed) => {
                if self.candidates.novelty(&signed) == Novelty::New {
                    self.candidates.follow(signed);
                }
                // Others have the body of a proposal made again, or ask for it.
                let fresh = signed.proposal.valid_round.is_none();
                let candidate = self.candidates.get(&signed.proposal.block);
                let block = candidate.filter(|_| fresh).map(|c| Arc::clone(&c.block));
                let body = block.map(|block| self.offer(&block));
                self.broadcast(HostMessage::Proposal(Offered { signed, body }));
            }
        }
    }
    /// Takes over the evidence that the engine of an ended height has seen.
    pub(super) fn witness(&mut self, seen: Vec<Action>) {
        for action in seen {
            match action {
                Action::Votes(found) => self.convict(found),
                Action::Proposals(pairs) => self.report(pairs),
                _ => {}
            }
        }
    }
    /// Reports proposals that contradict one another.
    fn report(&mut self, pairs: Vec<(SignedProposal, SignedProposal)>) {
        let pairs = pairs.into_iter().map(Box::new);
        let pairs = pairs.map(Equivocation::Proposals);
        self.effects.extend(pairs.map(HostEffect::Equivocation));
    }
    /// Keeps evidence for a block of ours and reports it.
    fn convict(&mut self, found: Vec<Evidence>) {
        let network = self.state.network();
        for evidence in found {
            let vote = evidence.first;
            let crime = (vote.height, vote.round, vote.kind, vote.validator);
            let known = self.evidence.contains_key(&crime);
            let convicts = evidence.convicts(&network, self.state.validators());
            if known || !convicts || self.evidence.len() >= limits::EVIDENCE {
                continue;
            }
            self.evidence.insert(crime, evidence.clone());
            let equivocation = Equivocation::Votes(Box::new(evidence));
            self.effects.push(HostEffect::Equivocation(equivocation));
        }
    }
    /// The block we propose in a round: the one we made at this height before, or a new one.
    fn own_block(&mut self, round: u32) -> Result<Option<BlockId>, Fault> {
        if let Some(id) = self.candidates.own_block() {
            return Ok(Some(id));
        }
        let Some(proposer) = self.guard.as_ref().map(Guard::validator) else {
            return Ok(None);
        };
        let tip = self.state.beacon_tip(&proposer);
        let reveal = tip.and_then(|tip| self.reveals.as_mut()?.reveal(&tip));
        let Some(reveal) = reveal else {
            tracing::warn!(%proposer, "no beacon reveal: the beacon chain is used up or another's");
            return Ok(None);
        };
        let draft = Draft {
            proposer,
            time_ms: self.now.wall_ms.max(self.state.time_ms() + 1),
            reveal,
            last_commit: self.tip_certificate.clone(),
            evidence: self.evidence.values().cloned().collect(),
            entries: self.mempool.ready(),
            hints: self.hints.draft(&self.state),
        };
        let propose = || self.state.propose(draft);
        let proposed = self.stages.time(Stage::Execute, propose);
        if let Some(breach) = &proposed.breach {
            tracing::error!(%breach, "a mistake in this program: our block leaves everything out");
        }
        let (id, bytes) = (proposed.block.id(), proposed.block.bytes());
        self.journal.body(&mut *self.disk, proposed.block.block())?;
        self.journal.own(&mut *self.disk, round, id)?;
        let candidate = Candidate {
            block: Arc::new(proposed.block),
            delta: Some(proposed.delta),
            valid: true,
        };
        self.candidates.keep(candidate, bytes);
        self.candidates.own.insert(round, id);
        Ok(Some(id))
    }
    /// Applies the decision of our own engine. If the body had to go, the height ends when a peer
    /// that has it gives it (`sync`): those who precommitted the block kept it.
    fn decide(&mut self, certificate: Certificate) -> Result<(), Fault> {
        let candidate = self.candidates.take(&certificate.block);
        let Some(Candidate {
            block,
            delta: Some(delta),
            ..
        }) = candidate
        else {
            tracing::warn!(block = %certificate.block, "decided, but its body is gone: catching up");
            return Ok(());
        };
        self.commit(block, delta, certificate)
    }
    /// The proposals of the current round, for a peer that may have missed them.
    pub(super) fn current_proposals(&self) -> Vec<SignedProposal> {
        let round = self.engine.as_ref().map(Engine::round);
        round.map_or_else(Vec::new, |round| self.candidates.of_round(round).to_vec())
    }
}
