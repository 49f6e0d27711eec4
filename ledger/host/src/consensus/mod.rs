//! Consensus on one height: the Malachite core, driven by stimuli and answering with actions.
//!
//! No other module names the core. An [`Engine`] lives for one height; the host makes it when it
//! starts the height and drops it when the block is decided, by the engine or by a certificate that a
//! peer sent. The engine does no I/O. It never decides whether a block is good: the host feeds a
//! [`Stimulus::Value`] with its verdict for every body it has.
//!
//! After a crash the host feeds what the journal holds through [`Engine::replay`]: the same stimuli
//! lead to the same state, and statements already signed are taken from the journal, not made anew.

mod certify;
mod context;
mod convert;

use crate::fault::Fault;
use crate::guard::{Guard, Statement};
use crate::message::{Polka, RoundProof, SignedProposal, SignedVote};
use arc_malachitebft_core_consensus as core;
use arc_malachitebft_core_types::{
    Round, SignedMessage, ThresholdParams, Timeout, TimeoutKind, Validity, ValueOrigin,
    ValuePayload, VoteExtensionPolicy,
};
use certify::Checker;
use context::{Core, CoreAddress, CoreHeight, CoreSet, CoreValidator, CoreValue};
use core::{ConsensusMsg, Effect, Input, LivenessMsg, Resumable, Resume, SignedConsensusMsg};
use gridbay_protocol::codec;
use gridbay_protocol::election;
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::{BlockId, NetworkId, ValidatorId};
use gridbay_protocol::keys::Signature;
use gridbay_protocol::validator::ValidatorSet;
use gridbay_protocol::vote::Certificate;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimerKind {
    /// Waiting for a proposal.
    Propose,
    /// Waiting for more prevotes.
    Prevote,
    /// Waiting for more precommits.
    Precommit,
    /// Repeating our votes.
    Rebroadcast,
}

/// A timer of one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Timer {
    /// What for.
    pub(crate) kind: TimerKind,
    /// The round.
    pub(crate) round: u32,
}

/// What moves consensus. The journal keeps those that [`Action::Log`] hands out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stimulus {
    /// A vote.
    Vote(SignedVote),
    /// A proposal.
    Proposal(SignedProposal),
    /// A quorum of prevotes.
    Polka(Polka),
    /// Votes that justify a round.
    Round(RoundProof),
    /// The host's verdict on a block it has.
    Value {
        /// Round of a proposal that names it.
        round: u32,
        /// The block.
        block: BlockId,
        /// The validator in its header.
        proposer: ValidatorId,
        /// Whether to vote for it.
        valid: bool,
    },
    /// The host's answer to [`Action::NeedValue`].
    Propose {
        /// Round.
        round: u32,
        /// The block, which the host has and holds for valid.
        block: BlockId,
    },
    /// A timer ran out.
    Timeout(Timer),
}

/// What consensus asks of the host.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Keep a statement before anything that was signed leaves the node.
    Keep(Statement),
    /// Keep a stimulus for a replay.
    Log(Stimulus),
    /// Send a statement of ours to all validators.
    Publish(Statement),
    /// Send a vote of ours again.
    Repeat(SignedVote),
    /// Send a quorum of prevotes.
    Polka(Polka),
    /// Send the proof of a round.
    Round(RoundProof),
    /// Push the body of a block again.
    Restream(BlockId),
    /// We are the proposer of a round: answer with [`Stimulus::Propose`].
    NeedValue {
        /// The round.
        round: u32,
    },
    /// Arm a timer.
    Arm(Timer),
    /// Disarm a timer.
    Disarm(Timer),
    /// Disarm all timers.
    DisarmAll,
    /// A round has begun.
    RoundBegun(u32),
    /// A signature that came with the stimulus is wrong.
    Forged,
    /// The height is decided.
    Decided(Certificate),
    /// Equivocations seen at this height.
    Votes(Vec<Evidence>),
    /// Two different proposals of one validator for one round.
    Proposals(Vec<(SignedProposal, SignedProposal)>),
}

/// The consensus of one height.
pub(crate) struct Engine {
    core: core::State<Core>,
    env: Env,
}

/// What effects work on.
struct Env {
    checker: Checker,
    actions: Vec<Action>,
    replaying: bool,
    fault: Option<Fault>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("height", &self.height())
            .field("round", &self.round())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// The engine of `height` for validator `own`; nothing happens before [`Engine::start`].
    pub(crate) fn new(
        network: NetworkId,
        height: u64,
        set: &ValidatorSet,
        seed: &[u8; 32],
        own: ValidatorId,
    ) -> Engine {
        let validators = election::ranking(seed, height, set)
            .iter()
            .filter_map(|id| set.get(id))
            .map(|v| CoreValidator {
                address: CoreAddress(v.id),
                key: v.key,
                power: v.power,
            })
            .collect();
        let params = core::Params {
            address: CoreAddress(own),
            threshold_params: ThresholdParams::default(),
            value_payload: ValuePayload::ProposalAndParts,
            enabled: true,
        };
        let set = CoreSet(Arc::new(validators));
        // The host buffers messages of later heights itself; the core's queue stays empty.
        let core = core::State::new(Core, CoreHeight(height), set, params, 1, 1);
        let env = Env {
            checker: Checker::new(network),
            actions: Vec::new(),
            replaying: false,
            fault: None,
        };
        Engine { core, env }
    }
    /// The height.
    pub(crate) fn height(&self) -> u64 {
        self.core.height().0
    }
    /// The current round.
    pub(crate) fn round(&self) -> u32 {
        convert::round_out(self.core.round())
    }
    /// Begins round 0.
    pub(crate) fn start(&mut self, guard: &mut Guard) -> Result<Vec<Action>, Fault> {
        self.run(self.start_input(), guard)?;
        self.finish()
    }
    /// Begins round 0 and repeats what was logged before a crash.
    pub(crate) fn replay(
        &mut self,
        logged: &[Stimulus],
        guard: &mut Guard,
    ) -> Result<Vec<Action>, Fault> {
        self.env.replaying = true;
        self.run(self.start_input(), guard)?;
        let inputs: Vec<Input<Core>> = logged.iter().map(|s| self.input(s)).collect();
        self.core.index_wal_entries(inputs.iter());
        for input in inputs {
            self.run(input, guard)?;
        }
        self.core.reset_entries_index();
        self.env.replaying = false;
        // A request for a value that the replay went on from needs no answer any more.
        let (height, round) = (self.height(), self.round());
        let undecided = !self
            .env
            .actions
            .iter()
            .any(|a| matches!(a, Action::Decided(_)));
        self.env.actions.retain(|action| match action {
            Action::NeedValue { round: asked } => undecided && *asked == round,
            _ => true,
        });
        tracing::info!(height, round, stimuli = logged.len(), "replayed the journal");
        self.finish()
    }
    /// Moves consensus.
    pub(crate) fn feed(
        &mut self,
        stimulus: &Stimulus,
        guard: &mut Guard,
    ) -> Result<Vec<Action>, Fault> {
        let input = self.input(stimulus);
        self.run(input, guard)?;
        self.finish()
    }

    fn finish(&mut self) -> Result<Vec<Action>, Fault> {
        Ok(std::mem::take(&mut self.env.actions))
    }
    fn start_input(&self) -> Input<Core> {
        let set = self.core.validator_set().clone();
        // No target time: the core would read the clock.
        let policy = VoteExtensionPolicy::Disabled;
        Input::StartHeight(self.core.height(), set, false, None, policy)
    }
    fn input(&self, stimulus: &Stimulus) -> Input<Core> {
        let height = self.core.height();
        match stimulus {
            Stimulus::Vote(signed) => Input::Vote(convert::signed_vote_in(signed)),
            Stimulus::Proposal(signed) => Input::Proposal(convert::signed_proposal_in(signed)),
            Stimulus::Polka(polka) => Input::PolkaCertificate(convert::polka_in(polka)),
            Stimulus::Round(proof) => Input::RoundCertificate(convert::round_in(proof)),
            Stimulus::Value {
                round,
                block,
                proposer,
                valid,
            } => {
                let value = core::ProposedValue {
                    height,
                    round: Round::new(*round),
                    valid_round: Round::Nil,
                    proposer: CoreAddress(*proposer),
                    value: CoreValue(*block),
                    validity: Validity::from_bool(*valid),
                };
                Input::ProposedValue(value, ValueOrigin::Consensus)
            }
            Stimulus::Propose { round, block } => Input::Propose(core::LocallyProposedValue::new(
                height,
                Round::new(*round),
                CoreValue(*block),
            )),
            Stimulus::Timeout(timer) => Input::TimeoutElapsed(timeout_in(*timer)),
        }
    }
    fn run(&mut self, input: Input<Core>, guard: &mut Guard) -> Result<(), Fault> {
        let height = self.height();
        let Engine { core, env } = self;
        let result: Result<(), core::Error<Core>> = core::process!(
            input: input,
            state: core,
            metrics: &(),
            with: effect => Ok::<_, Fault>(env.handle(effect, guard))
        );
        if let Some(fault) = self.env.fault.take() {
            return Err(fault);
        }
        result.map_err(|error| Fault::Consensus {
            height,
            reason: error.to_string(),
        })
    }
}

impl Env {
    fn handle(&mut self, effect: Effect<Core>, guard: &mut Guard) -> Resume<Core> {
        match effect {
            Effect::SignVote(vote, r) => r.resume_with(self.sign_vote(vote, guard)),
            Effect::SignProposal(proposal, r) => {
                r.resume_with(self.sign_proposal(proposal, guard))
            }
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
            Effect::StartRound(_, round, ..) => {
                Some(Action::RoundBegun(convert::round_out(round)))
            }
            Effect::PublishConsensusMsg(message, _) => Some(Action::Publish(match message {
                SignedConsensusMsg::Vote(v) => Statement::Vote(convert::signed_vote_out(&v)),
                SignedConsensusMsg::Proposal(p) => {
                    Statement::Proposal(convert::signed_proposal_out(&p))
                }
            })),
            Effect::PublishLivenessMsg(message, _) => Some(match message {
                LivenessMsg::Vote(v) => Action::Repeat(convert::signed_vote_out(&v)),
                LivenessMsg::PolkaCertificate(p) => Action::Polka(convert::polka_out(&p)),
                LivenessMsg::SkipRoundCertificate(c) => {
                    Action::Round(convert::round_proof_out(&c))
                }
            }),
            Effect::RepublishVote(v, _) => Some(Action::Repeat(convert::signed_vote_out(&v))),
            Effect::RepublishRoundCertificate(c, _) => {
                Some(Action::Round(convert::round_proof_out(&c)))
            }
            Effect::GetValue(_, round, ..) => Some(Action::NeedValue {
                round: convert::round_out(round),
            }),
            Effect::RestreamProposal(_, _, _, _, block, _) => Some(Action::Restream(block)),
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
            // Blocks of peers who are ahead never pass through the core.
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
    fn evidence(&mut self, evidence: &core::MisbehaviorEvidence<Core>) {
        let votes = evidence.votes.iter().flat_map(|(_, pairs)| pairs);
        let votes: Vec<Evidence> = votes
            .map(|(a, b)| (convert::signed_vote_out(a), convert::signed_vote_out(b)))
            .map(|(first, second)| Evidence {
                first: first.vote,
                first_signature: first.signature,
                second: second.vote,
                second_signature: second.signature,
            })
            .collect();
        let proposals = evidence.proposals.iter().flat_map(|(_, pairs)| pairs);
        let proposals: Vec<_> = proposals
            .map(|(a, b)| (convert::signed_proposal_out(a), convert::signed_proposal_out(b)))
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
                self.checker.vouch(Domain::Vote, &key, &bytes, &signed.signature);
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
                self.checker.vouch(Domain::Proposal, &key, &bytes, &signed.signature);
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

fn timeout_in(timer: Timer) -> Timeout {
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
