//! Messages of peers: they are judged, sorted by height and handed on.

use super::{Host, Offence, Received};
use crate::candidates::Novelty;
use crate::catchup::Peer;
use crate::consensus::{Engine, Stimulus};
use crate::fault::Fault;
use crate::limits;
use crate::message::{Body, HostMessage, Large, Offered, SignedProposal, SignedVote, Status};
use crate::stages::Stage;
use gridbay_protocol::election;
use std::cmp::Ordering;

/// The height that a consensus message is about.
fn height_of(message: &HostMessage) -> Option<u64> {
    match message {
        HostMessage::Vote(signed) => Some(signed.vote.height),
        HostMessage::Proposal(offered) => Some(offered.signed.proposal.height),
        HostMessage::Polka(polka) => Some(polka.height),
        HostMessage::Round(proof) => Some(proof.height),
        _ => None,
    }
}

impl Host {
    pub(super) fn receive(&mut self, from: Peer, received: Received) -> Result<(), Fault> {
        let large = match &received {
            Received::Message(message) => message.large(),
            Received::Bytes(bytes) => HostMessage::claims_large(bytes),
        };
        if large.is_some_and(|large| !self.is_expected(from, large)) {
            return Ok(());
        }
        let message = match received {
            Received::Message(message) if message.counts_fit() => Some(message),
            Received::Message(_) => None,
            Received::Bytes(bytes) => {
                let decode = || HostMessage::decode(&bytes).ok();
                self.stages.time(Stage::Encode, decode)
            }
        };
        match message {
            Some(message) => self.deliver(from, message),
            None => {
                self.penalise(from, Offence::Malformed);
                Ok(())
            }
        }
    }
    /// Whether a large message may be of use. Others are not even parsed, which would take this
    /// thread from its votes for a tenth of a second each.
    fn is_expected(&self, from: Peer, large: Large) -> bool {
        self.is_validators_node(&from)
            || match large {
                Large::Body => false,
                Large::Blocks => self.catchup.owes(&from),
            }
    }
    pub(super) fn deliver(&mut self, from: Peer, message: HostMessage) -> Result<(), Fault> {
        self.sender = Some(from);
        let done = match height_of(&message) {
            Some(height) => self.deliver_at(from, height, message),
            None => self.deliver_other(from, message),
        };
        self.sender = None;
        done
    }
    fn deliver_other(&mut self, from: Peer, message: HostMessage) -> Result<(), Fault> {
        match message {
            HostMessage::BodyRequest(request) => {
                // Only validators need bodies before the decision.
                if !self.is_validators_node(&from) {
                    return Ok(());
                }
                self.spread.asked(&request.block);
                if request.height == self.state.height() + 1 {
                    self.give_body(from, &request.block);
                } else if request.height <= self.state.height() {
                    // Decided meanwhile: the block with its certificate is worth more than the
                    // body, and a validator that lacks one falls behind no further.
                    self.serving.ask(from, request.height, false);
                    return self.serve();
                }
            }
            HostMessage::Body(block) => return self.take_body(*block),
            HostMessage::Status(status) => self.heard(from, status.tip),
            HostMessage::SyncRequest(request) => {
                let stranger = !self.is_validators_node(&from);
                self.serving.ask(from, request.from, stranger);
                return self.serve();
            }
            HostMessage::SyncResponse(items) => return self.take_blocks(from, items),
            HostMessage::Entries(entries) => {
                self.take_entries(from, entries);
                return self.complete();
            }
            HostMessage::Receipts(receipts) => self.take_receipts(from, receipts),
            HostMessage::Acknowledged(all) => self.take_acknowledgement(from, &all),
            HostMessage::Vote(_)
            | HostMessage::Proposal(_)
            | HostMessage::Polka(_)
            | HostMessage::Round(_) => {}
        }
        Ok(())
    }
    fn heard(&mut self, from: Peer, tip: u64) {
        let (own, now) = (self.state.height(), self.now.mono_ms);
        self.catchup.heard(from, tip, own, now);
    }
    /// A consensus message: for the running height it moves consensus, for the next ones it waits.
    fn deliver_at(&mut self, from: Peer, height: u64, message: HostMessage) -> Result<(), Fault> {
        let next = self.state.height() + 1;
        match height.cmp(&next) {
            Ordering::Less => return Ok(()),
            Ordering::Greater => {
                self.heard(from, height - 1);
                if height == next + 1 {
                    self.keep_early(from, height, message);
                }
                return Ok(());
            }
            Ordering::Equal => {}
        }
        if self.engine.is_none() {
            self.keep_early(from, height, message);
            return Ok(());
        }
        match message {
            HostMessage::Vote(signed) => self.drive(Stimulus::Vote(signed)),
            HostMessage::Polka(polka) => self.drive(Stimulus::Polka(polka)),
            HostMessage::Round(proof) => self.drive(Stimulus::Round(proof)),
            HostMessage::Proposal(offered) => self.take_proposal(from, offered),
            _ => Ok(()),
        }
    }
    /// A message for one of the next two heights, which has not started here. A validator that
    /// signs for the next height shows that it has started it.
    fn keep_early(&mut self, from: Peer, height: u64, message: HostMessage) {
        if !self.votes() {
            return;
        }
        let next = self.state.height() + 1;
        let (signer, right) = match &message {
            HostMessage::Vote(signed) => (signed.vote.validator, self.is_right_vote(signed)),
            // The election of a later height is known only when that height comes.
            HostMessage::Proposal(Offered { signed, .. }) if height > next => {
                (signed.proposal.validator, self.is_signed(signed))
            }
            HostMessage::Proposal(Offered { signed, .. }) => {
                (signed.proposal.validator, self.is_elected(signed))
            }
            _ if self.is_validators_node(&from) => {
                return self.early.keep_proof(height, from, message);
            }
            _ => return,
        };
        if !right {
            self.blame(Offence::Signature);
            return;
        }
        if height == next {
            self.pace.call(signer, self.state.validators());
        }
        if let Some(home) = self.node_of(&signer) {
            self.early.keep(height, (signer, home), from, message);
        }
    }
    /// Counts the validators that have started the next height already.
    pub(super) fn recall_callers(&mut self) {
        for signer in self.early.signers(self.state.height() + 1) {
            self.pace.call(signer, self.state.validators());
        }
    }
    fn is_right_vote(&self, signed: &SignedVote) -> bool {
        let member = self.state.validators().get(&signed.vote.validator);
        member.is_some_and(|m| signed.verify(&self.state.network(), &m.key).is_ok())
    }
    fn is_signed(&self, signed: &SignedProposal) -> bool {
        let member = self.state.validators().get(&signed.proposal.validator);
        member.is_some_and(|m| signed.verify(&self.state.network(), &m.key).is_ok())
    }
    /// Whether a proposal for the next height is signed by the validator elected for its round.
    fn is_elected(&self, signed: &SignedProposal) -> bool {
        let proposal = &signed.proposal;
        let (set, seed) = (self.state.validators(), self.state.election_seed());
        let elected = election::proposer(&seed, proposal.height, proposal.round, set);
        elected == proposal.validator && self.is_signed(signed)
    }
    /// A proposal for the running height: followed and relayed once, its body taken or asked for.
    fn take_proposal(&mut self, from: Peer, offered: Offered) -> Result<(), Fault> {
        let Offered { signed, body } = offered;
        let proposal = signed.proposal;
        let round = self.engine.as_ref().map_or(0, Engine::round);
        if proposal.round > round.saturating_add(limits::ROUNDS_AHEAD) {
            return Ok(());
        }
        let novelty = self.candidates.novelty(&signed);
        if novelty == Novelty::Excess {
            return Ok(());
        }
        if novelty == Novelty::New {
            if !self.is_elected(&signed) {
                self.blame(Offence::Signature);
                return Ok(());
            }
            if let Some(engine) = &mut self.engine {
                engine.vouch(&signed);
            }
            self.candidates.follow(signed);
            // Relayed to all, so that a proposer that tells different peers different things is
            // seen.
            self.broadcast(HostMessage::Proposal(Offered { signed, body: None }));
        }
        let near = self.candidates.is_near(&proposal.block, round);
        if near {
            self.candidates.want(proposal.block, from, self.now.mono_ms);
        }
        match body.filter(|_| near) {
            Some(body) if body.id() != proposal.block => self.blame(Offence::Unasked),
            Some(Body::Whole(block)) => self.take_body(*block)?,
            Some(Body::Short(short)) => self.take_short(from, *short)?,
            None => {}
        }
        if novelty == Novelty::New {
            self.judge_again(&proposal)?;
            if !self.candidates.is_evicted(&proposal.block) {
                self.drive(Stimulus::Proposal(signed))?;
            }
        }
        Ok(())
    }
    /// Tells a new peer this node's tip, and the proposals being voted on.
    pub(super) fn greet(&mut self, peer: Peer) {
        let tip = self.state.height();
        self.send(peer, HostMessage::Status(Status { tip }));
        for signed in self.current_proposals() {
            let offered = Offered { signed, body: None };
            self.send(peer, HostMessage::Proposal(offered));
        }
    }
}
