//! Consensus on one height: the Malachite core, driven by stimuli and answering with actions.
//!
//! No other module names the core. An [`Engine`] lives for one height; the host makes it when it
//! starts the height and drops it when the block is decided, by the engine or by a certificate that
//! a peer sent. The engine does no I/O. It never decides whether a block is good: the host feeds a
//! [`Stimulus::Value`] with its verdict for every body it has.
//!
//! After a crash the host feeds the journal's records through [`Engine::replay`]: the same stimuli
//! lead to the same state, and statements already signed are taken from the journal, not made anew.

mod certify;
mod context;
mod convert;
mod env;
mod moves;

pub(crate) use moves::{Action, Stimulus, Timer, TimerKind};

use crate::fault::Fault;
use crate::guard::Guard;
use crate::message::SignedProposal;
use arc_malachitebft_core_consensus as core;
use arc_malachitebft_core_types::{
    Round, ThresholdParams, ValidatorSet as _, Validity, ValueOrigin, ValuePayload,
    VoteExtensionPolicy,
};
use context::{Core, CoreAddress, CoreHeight, CoreSet, CoreValidator, CoreValue};
use core::Input;
use env::{Env, timeout_in};
use gridbay_protocol::codec;
use gridbay_protocol::election;
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::{NetworkId, ValidatorId};
use gridbay_protocol::validator::ValidatorSet;
use std::sync::Arc;

/// The consensus of one height.
pub(crate) struct Engine {
    core: core::State<Core>,
    env: Env,
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
        let env = Env::new(network);
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
    /// Takes the host's word that a proposal's signature is right.
    pub(crate) fn vouch(&mut self, signed: &SignedProposal) {
        let set = self.core.validator_set();
        let address = CoreAddress(signed.proposal.validator);
        if let Some(member) = set.get_by_address(&address) {
            let (key, bytes) = (member.key, codec::encode(&signed.proposal));
            let domain = Domain::Proposal;
            self.env
                .checker
                .vouch(domain, &key, &bytes, &signed.signature);
        }
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
        tracing::info!(
            height,
            round,
            stimuli = logged.len(),
            "replayed the journal"
        );
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

    /// Equivocation that it saw and has not reported yet. A height that ends by a peer's
    /// certificate is never finalised, and evidence seen at it would be forgotten with the engine.
    pub(crate) fn witnessed(&mut self) -> Vec<Action> {
        let evidence = core::MisbehaviorEvidence {
            proposals: self.core.driver.take_proposal_evidence(),
            votes: self.core.driver.take_vote_evidence(),
        };
        self.env.evidence(&evidence);
        std::mem::take(&mut self.env.actions)
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
