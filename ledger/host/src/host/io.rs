//! The inputs and the effects of a host.

use crate::catchup::Peer;
use crate::mempool::MempoolRefusal;
use crate::message::{HostMessage, SignedProposal};
use crate::trouble::Trouble;
use gridbay_ledger::CheckedBlock;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::vote::Certificate;
use std::sync::Arc;

/// The time of a step, as the caller's clocks show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds of a clock that never goes back; its origin does not matter.
    pub mono_ms: u64,
    /// Milliseconds since 1970. Only block times depend on it.
    pub wall_ms: u64,
}

/// A message as it arrived.
#[derive(Clone, Debug)]
pub enum Received {
    /// Bytes from the wire.
    Bytes(Vec<u8>),
    /// A message that never was bytes, as in the simulator.
    Message(HostMessage),
}

/// An input of a host.
#[derive(Clone, Debug)]
pub enum HostInput {
    /// The first input after [`super::Host::open`].
    Start,
    /// A message of a peer.
    Message {
        /// Transport key of the peer it came from, which need not be its author.
        from: Peer,
        /// The message.
        message: Received,
    },
    /// The time of the last [`HostEffect::WakeAt`] has come.
    Tick,
    /// Entries of this node's own users or agents, which go to the validators together.
    Submit(Vec<Arc<Authentic>>),
    /// A peer is connected.
    PeerUp(Peer),
    /// A peer is gone.
    PeerDown(Peer),
}

/// A peer's misdeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Offence {
    /// Bytes that are no message.
    #[error("malformed message")]
    Malformed,
    /// A wrong signature, or one of somebody who may not sign this.
    #[error("wrong signature")]
    Signature,
    /// A body that nobody asked for.
    #[error("unasked body")]
    Unasked,
    /// A body that is not what its header says.
    #[error("mangled body")]
    Body,
    /// Decided blocks whose certificates prove nothing.
    #[error("worthless certificate")]
    Certificate,
    /// An entry that is malformed or not authentic.
    #[error("worthless entry")]
    Entry,
    /// More entries than it may have checked for nothing.
    #[error("too many entries of no use")]
    Entries,
}

/// Proof that a validator contradicted itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equivocation {
    /// Two votes.
    Votes(Box<Evidence>),
    /// Two proposals for one round.
    Proposals(Box<(SignedProposal, SignedProposal)>),
}

/// A request of a host to its caller. All that these effects rely on is safe on disk.
#[derive(Clone, Debug)]
pub enum HostEffect {
    /// Send to every validator.
    Broadcast(HostMessage),
    /// Send to one peer.
    Send {
        /// To whom.
        to: Peer,
        /// What.
        message: HostMessage,
    },
    /// Give [`HostInput::Tick`] at this monotonic time; replaces the time asked for before.
    WakeAt(u64),
    /// A block was decided and applied.
    Decided {
        /// The block.
        block: Arc<CheckedBlock>,
        /// This node's proof of the decision.
        certificate: Certificate,
        /// The effects of the block, in order.
        effects: Arc<[Effect]>,
    },
    /// An entry waits for a block.
    EntryAdmitted {
        /// The entry.
        entry: EntryId,
    },
    /// An entry does not, or no longer, wait for a block.
    EntryRefused {
        /// The entry.
        entry: EntryId,
        /// Why.
        refusal: MempoolRefusal,
    },
    /// This validator knows that the entry was relayed to all others, or relays it once a block
    /// omits it, and will not vote for later blocks that omit it, also after a crash. The senders
    /// of the entry get its receipt.
    Acknowledged {
        /// The entry.
        entry: EntryId,
    },
    /// Receipts of more than two thirds of the power are here for an entry of this node's own.
    Receipted {
        /// The entry.
        entry: EntryId,
    },
    /// A peer misbehaved.
    Penalise {
        /// Who.
        peer: Peer,
        /// How.
        offence: Offence,
    },
    /// A validator contradicted itself.
    Equivocation(Equivocation),
    /// A trouble of this node begins, changes or (`None`) ends.
    Trouble(Option<Trouble>),
}
