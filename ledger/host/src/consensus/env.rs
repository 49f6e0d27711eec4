//! The core's effects: signatures and checks are answered at once, the rest becomes actions.

use super::certify::Checker;
use super::context::{self, Core};
use super::convert;
use super::moves::{Action, Stimulus, Timer, TimerKind};
use crate::fault::Fault;
use crate::guard::{Guard, Statement};
use arc_malachitebft_core_consensus as core;
use arc_malachitebft_core_types::{Round, SignedMessage, Timeout, TimeoutKind};
use core::{ConsensusMsg, Effect, Input, LivenessMsg, Resumable, Resume, SignedConsensusMsg};
use gridbay_protocol::codec;
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::keys::Signature;

/// The state that effects work on.
pub(super) struct Env {
    pub(super) checker: Checker,
    pub(super) actions: Vec<Action>,
    pub(super) replaying: bool,
    pub(super) fault: Option<Fault>,
}

impl Env {
    pub(super) fn new(network: NetworkId) -> Env {
        Env {
            checker: Checker::new(network),
            actions: Vec::new(),
            replaying: false,
            fault: None,
        }
    }
    pub(super) fn handle(&mut self, effect: Effect<Core>, guard: &mut Guard) -> Resume<Core> {
        match effect {
            Effect::SignVote(vote, r) => r.resume_with(self.sign_vote(vote, guard)),
            Effect::SignProposal(proposal, r) => r.resume_with(self.sign_proposal(proposal, guard)),
            Effect::VerifySignature(message, key, r) => {
                let (domain, bytes) = match &message.message {
                    ConsensusMsg::Vote(v) => (Domain::Vote, codec::encode(&convert::vote_out(v))),
                    ConsensusMsg::Proposal(p) => {
                        (Domain::Proposal, codec::encode(&convert::proposal_out(p)))
                    }
                };
                let right = self.checker.check(domain, &key, &bytes, &message.signature);
                if !right {
                    self.actions.push(Action::Forged);
                }
                r.resume_with(right)
            }
            Effect::VerifyCommitCertificate(certificate, set, thresholds, r) => {
                r.resume_with(self.checker.commit(&certificate, &set, thresholds))
            }
            Effect::VerifyExtendedCommitCertificate(certificate, set, thresholds, _, r) => {
                let plain = certificate.trim_vote_extensions();
                r.resume_with(self.checker.commit(&plain, &set, thresholds))
            }
            Effect::VerifyPolkaCertificate(certificate, set, thresholds, r) => {
                let verdict = self.checker.polka(&certificate, &set, thresholds);
                self.note(verdict.is_ok());
                r.resume_with(verdict)
            }
            Effect::VerifyRoundCertificate(certificate, set, thresholds, r) => {
                let verdict = self.checker.round(&certificate, &set, thresholds);
                self.note(verdict.is_ok());
                r.resume_with(verdict)
            }
            Effect::ExtendVote(.., r) => r.resume_with(None),
            Effect::VerifyVoteExtension(.., r) => r.resume_with(Ok(())),
            other => self.act(other),
        }
    }
    /// Effects that become actions and resume with nothing.
    fn act(&mut self, effect: Effect<Core>) -> Resume<Core> {
        let action = match effect {
            Effect::CancelAllTimeouts(_) => Some(Action::DisarmAll),
            Effect::CancelTimeout(timeout, _) => timer_out(timeout).map(Action::Disarm),
            Effect::ScheduleTimeout(timeout, _) => timer_out(timeout).map(Action::Arm),
            Effect::StartRound(_, round, ..) => Some(Action::RoundBegun(convert::round_out(round))),
            Effect::PublishConsensusMsg(message, _) => Some(Action::Publish(match message {
                SignedConsensusMsg::Vote(v) => Statement::Vote(convert::signed_vote_out(&v)),
                SignedConsensusMsg::Proposal(p) => {
                    Statement::Proposal(convert::signed_proposal_out(&p))
                }
            })),
            Effect::PublishLivenessMsg(message, _) => Some(match message {
                LivenessMsg::Vote(v) => Action::Repeat(convert::signed_vote_out(&v)),
                LivenessMsg::PolkaCertificate(p) => Action::Polka(convert::polka_out(&p)),
                LivenessMsg::SkipRoundCertificate(c) => Action::Round(convert::round_proof_out(&c)),
            }),
            Effect::RepublishVote(v, _) => Some(Action::Repeat(convert::signed_vote_out(&v))),
            Effect::RepublishRoundCertificate(c, _) => {
                Some(Action::Round(convert::round_proof_out(&c)))
            }
            Effect::GetValue(_, round, ..) => Some(Action::NeedValue {
                round: convert::round_out(round),
            }),
            Effect::RestreamProposal(..) => Some(Action::Restream),
            Effect::WalAppend(_, input, _) => (!self.replaying)
                .then(|| stimulus_out(input))
                .flatten()
                .map(Action::Log),
            Effect::Decide(certificate, ..) => {
                Some(Action::Decided(convert::certificate_out(&certificate)))
            }
            Effect::Finalize(_, _, evidence, _) => {
                self.evidence(&evidence);
                None
            }
            // Blocks of peers that are ahead never pass through the core.
            _ => None,
        };
        self.actions.extend(action);
        Resume::Continue
    }
    fn note(&mut self, right: bool) {
        if !right {
            self.actions.push(Action::Forged);
        }
    }
    pub(super) fn evidence(&mut self, evidence: &core::MisbehaviorEvidence<Core>) {
        let votes = evidence.votes.iter().flat_map(|(_, pairs)| pairs);
        let votes: Vec<Evidence> = votes
            .map(|(a, b)| (convert::signed_vote_out(a), convert::signed_vote_out(b)))
            // In the order that convicts, not in the order of arrival.
            .map(|(one, other)| {
                Evidence::new((one.vote, one.signature), (other.vote, other.signature))
            })
            .collect();
        let proposals = evidence.proposals.iter().flat_map(|(_, pairs)| pairs);
        let proposals: Vec<_> = proposals
            .map(|(a, b)| {
                (
                    convert::signed_proposal_out(a),
                    convert::signed_proposal_out(b),
                )
            })
            .collect();
        if !votes.is_empty() {
            self.actions.push(Action::Votes(votes));
        }
        if !proposals.is_empty() {
            self.actions.push(Action::Proposals(proposals));
        }
    }
    fn sign_vote(
        &mut self,
        vote: context::CoreVote,
        guard: &mut Guard,
    ) -> SignedMessage<Core, context::CoreVote> {
        let signature = match guard.sign_vote(convert::vote_out(&vote)) {
            Ok(signed) => {
                let (key, bytes) = (guard.public(), codec::encode(&signed.vote));
                self.checker
                    .vouch(Domain::Vote, &key, &bytes, &signed.signature);
                self.actions.push(Action::Keep(Statement::Vote(signed)));
                signed.signature
            }
            Err(fault) => self.refused(fault),
        };
        SignedMessage::new(vote, signature)
    }
    fn sign_proposal(
        &mut self,
        proposal: context::CoreProposal,
        guard: &mut Guard,
    ) -> SignedMessage<Core, context::CoreProposal> {
        let signature = match guard.sign_proposal(convert::proposal_out(&proposal)) {
            Ok(signed) => {
                let (key, bytes) = (guard.public(), codec::encode(&signed.proposal));
                self.checker
                    .vouch(Domain::Proposal, &key, &bytes, &signed.signature);
                self.actions.push(Action::Keep(Statement::Proposal(signed)));
                signed.signature
            }
            Err(fault) => self.refused(fault),
        };
        SignedMessage::new(proposal, signature)
    }
    /// The core cannot be told "no". It gets no signature; the fault stops the host before any of
    /// this input's actions is looked at.
    fn refused(&mut self, fault: Fault) -> Signature {
        self.fault.get_or_insert(fault);
        Signature([0; 64])
    }
}

fn timer_out(timeout: Timeout) -> Option<Timer> {
    let kind = match timeout.kind {
        TimeoutKind::Propose => TimerKind::Propose,
        TimeoutKind::Prevote => TimerKind::Prevote,
        TimeoutKind::Precommit => TimerKind::Precommit,
        TimeoutKind::Rebroadcast => TimerKind::Rebroadcast,
        TimeoutKind::FinalizeHeight(_) => return None,
    };
    let round = convert::round_out(timeout.round);
    Some(Timer { kind, round })
}

pub(super) fn timeout_in(timer: Timer) -> Timeout {
    let kind = match timer.kind {
        TimerKind::Propose => TimeoutKind::Propose,
        TimerKind::Prevote => TimeoutKind::Prevote,
        TimerKind::Precommit => TimeoutKind::Precommit,
        TimerKind::Rebroadcast => TimeoutKind::Rebroadcast,
    };
    Timeout::new(Round::new(timer.round), kind)
}

/// The five kinds of inputs that the core wants logged.
fn stimulus_out(input: Input<Core>) -> Option<Stimulus> {
    match input {
        Input::Vote(v) => Some(Stimulus::Vote(convert::signed_vote_out(&v))),
        Input::Proposal(p) => Some(Stimulus::Proposal(convert::signed_proposal_out(&p))),
        Input::PolkaCertificate(c) => Some(Stimulus::Polka(convert::polka_out(&c))),
        Input::ProposedValue(v, _) => Some(Stimulus::Value {
            round: convert::round_out(v.round),
            block: v.value.0,
            proposer: v.proposer.0,
            valid: v.validity.is_valid(),
        }),
        Input::TimeoutElapsed(t) => timer_out(t).map(Stimulus::Timeout),
        _ => None,
    }
}
