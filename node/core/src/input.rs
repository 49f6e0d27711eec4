//! All that can happen to a node.

use crate::adverts::{About, Heard};
use crate::agent::{AgentReply, AgentRequest, Phase, RunId};
use crate::buy::NewOrder;
use crate::key::OrderKey;
use crate::project::{ProjectBounds, ProjectMark};
use gridbay_protocol::account::AccountKey;
use gridbay_protocol::checkpoint::Snapshot;
use gridbay_protocol::ids::{AccountId, Hash32, LeaseId};
use gridbay_protocol::invitation::Invitation;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::offer::OfferTerms;
use gridbay_protocol::order::{ContractEntry, Step};
use gridbay_protocol::record::reservation::hint::Hint;
use gridbay_protocol::stage::Authentic;
use gridbay_protocol::units::Credits;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The caller's clocks at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Monotonic milliseconds since the node's start: for timers.
    pub mono_ms: u64,
    /// Milliseconds since 1970: for ledger time and for people.
    pub wall_ms: u64,
}

/// A question in flight between nodes; chosen by the asker.
pub type AskToken = u64;
/// A question of another node that waits for the answer; chosen by the body.
pub type AnswerToken = u64;
/// A gossiped message that waits for a verdict; chosen by the body.
pub type GossipToken = u64;
/// A local command that waits for its reply; chosen by the body.
pub type CommandToken = u64;

/// The result of fetching the output files of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// All are here.
    Whole,
    /// The seller did not give them.
    NotYet,
    /// This node's disk does not take them now.
    NoRoom,
    /// The seller's files exceed the limit, whenever it is asked.
    Never,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// The node has started; comes once, first.
    Start,
    /// The time asked for by [`crate::effect::Effect::WakeAt`] has come.
    Tick,
    /// A peer is connected.
    PeerUp(PublicKey),
    /// A peer is gone.
    PeerDown(PublicKey),
    /// Bytes of the ledger's host on another node.
    Host {
        /// The sender's transport key.
        from: PublicKey,
        /// The message.
        bytes: Vec<u8>,
    },
    /// An advert of another node.
    Advert {
        /// For the verdict.
        token: GossipToken,
        /// How it came.
        heard: Heard,
        /// The message.
        bytes: Vec<u8>,
    },
    /// The node's statements about itself in its adverts from now on.
    About(About),
    /// Another node asks.
    Asked {
        /// For the answer.
        token: AnswerToken,
        /// The asker's transport key.
        from: PublicKey,
        /// The question.
        request: AgentRequest,
    },
    /// Another node answered, or did not (`None`).
    Answered {
        /// Of the question.
        token: AskToken,
        /// The answer.
        reply: Option<AgentReply>,
    },
    /// A local command.
    Command {
        /// For the reply.
        token: CommandToken,
        /// The command.
        command: Command,
    },
    /// The inputs of a job are in place, or could not be fetched.
    Staged {
        /// The run.
        job: RunId,
        /// Whether all is there.
        ok: bool,
    },
    /// A local job changed its phase.
    JobPhase {
        /// The run.
        job: RunId,
        /// The new phase.
        phase: Phase,
    },
    /// The output files of a task are here, or could not be fetched.
    Fetched {
        /// The order.
        order: OrderKey,
        /// The run.
        job: RunId,
        /// The result.
        fetch: Fetch,
    },
    /// The checkpoint of a run is here as a whole, or was not to be had.
    Checkpointed {
        /// The order.
        order: OrderKey,
        /// The run.
        job: RunId,
        /// The checkpoint, and the milliseconds since its newest file was written when it was asked
        /// for.
        kept: Option<(Snapshot, u64)>,
        /// Whether others were asked for a copy of it ([`crate::effect::Effect::FetchCopy`]), and
        /// not its seller's node ([`crate::effect::Effect::FetchCheckpoint`]): the answer to one
        /// question is none to the other.
        copy: bool,
    },
    /// A copy of another seller's checkpoint is here as a whole, or was not to be had.
    Pulled {
        /// Its place.
        slot: u32,
        /// Whether it is.
        whole: bool,
    },
    /// Whether the disk is short of room. Offers are held back while it is.
    Short(bool),
    /// An allocation that the body found; it need not be right.
    Hinted(Hint),
}

/// A command of the node's owner.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one of them at a time, and the largest is among the most frequent"
)]
pub enum Command {
    /// Place an order. The record is durable before the reply.
    Order(Box<NewOrder>),
    /// The same for a project, if it fits into the bounds.
    ProjectOrder(Box<NewOrder>, ProjectMark, ProjectBounds),
    /// Cancel an order.
    Cancel(OrderKey),
    /// Make this node a member of the networks of an order's leases, or none any more.
    Attend(OrderKey, bool),
    /// Whose nodes may become members of the networks of an order's leases: all their keys.
    Admit(OrderKey, BTreeSet<PublicKey>),
    /// Become a member of the network of another's lease, asking its owner's node; or leave it.
    Visit(LeaseId, Option<PublicKey>),
    /// Close this node's account; its money goes to another.
    CloseAccount(AccountId),
    /// Amend a bid that stands or runs, from the next clearing on that can be reached.
    Amend {
        /// The order.
        order: OrderKey,
        /// Marginal values, for as many units as before.
        steps: Vec<Step>,
        /// Most to pay over the whole order; `None` leaves it.
        budget: Option<Credits>,
    },
    /// Set an offer.
    SetOffer(OfferTerms),
    /// Withdraw an offer.
    WithdrawOffer(u32),
    /// Move money.
    Transfer {
        /// To whom.
        to: AccountId,
        /// How much.
        amount: Credits,
        /// Hash of a note.
        memo: Hash32,
    },
    /// Say something about a contract.
    Contract(ContractEntry),
    /// Send entries of this node's account that the caller has signed and keeps, for the first time
    /// or again, together. Each is answered for.
    Send(Vec<Arc<Authentic>>),
    /// Open an account with an invitation.
    Join {
        /// The invitation.
        invitation: Box<Invitation>,
        /// Keys of the new account.
        keys: Vec<AccountKey>,
    },
    /// Take no new leases, and hold the node's offers back until it is started again or resumes.
    Drain,
    /// Take new leases again, and set the offers that were held back.
    Resume,
}
