//! The inputs that move consensus, and its requests to the host in return.

use crate::guard::Statement;
use crate::message::{Polka, RoundProof, SignedProposal, SignedVote};
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::ids::{BlockId, ValidatorId};
use gridbay_protocol::vote::Certificate;
use serde::{Deserialize, Serialize};

/// The purpose of a timer.
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

/// An input that moves consensus. The journal keeps those that [`Action::Log`] hands out.
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

/// A request of consensus to the host.
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
    Restream,
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
