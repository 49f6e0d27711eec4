//! All requests of a node to its body.

use crate::adverts::Verdict;
use crate::agent::{AgentReply, AgentRequest, Phase, PollJob, RunId};
use crate::cluster::Cluster;
use crate::hints::Question;
use crate::input::{AnswerToken, AskToken, CommandToken, GossipToken};
use crate::key::OrderKey;
use crate::relay::{Grant, Purse};
use crate::reply::Reply;
use gridbay_protocol::checkpoint::Snapshot;
use gridbay_protocol::ids::{BlockId, ContentId, LeaseId, OfferId};
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::keys::PublicKey;

/// One thing to do. The body performs effects in the order given; [`Effect::SaveOrder`] is durable
/// before a later effect starts.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Send [`crate::input::Input::Tick`] at this monotonic time; replaces an earlier request.
    WakeAt(u64),
    /// To every connected validator.
    Broadcast {
        /// Message of the ledger's host.
        bytes: Vec<u8>,
    },
    /// To one node.
    Send {
        /// Its transport key.
        to: [u8; 32],
        /// Message of the ledger's host.
        bytes: Vec<u8>,
    },
    /// A peer sent a message that no honest node sends.
    Penalise {
        /// Its transport key.
        peer: [u8; 32],
        /// Its misdeed.
        reason: String,
    },
    /// Gossip this node's advert.
    Gossip(Vec<u8>),
    /// Whether a gossiped message may be passed on.
    Judge {
        /// Of the message.
        token: GossipToken,
        /// The verdict.
        verdict: Verdict,
    },
    /// Ask another node; answer with [`crate::input::Input::Answered`].
    Ask {
        /// Of the question.
        token: AskToken,
        /// The node's transport key.
        to: PublicKey,
        /// The question.
        request: AgentRequest,
    },
    /// Answer another node.
    Answer {
        /// Of the question.
        token: AnswerToken,
        /// The answer.
        reply: AgentReply,
    },
    /// Read reports of local jobs and answer another node with them.
    Report {
        /// Of the question.
        token: AnswerToken,
        /// The runs, with the seller's knowledge of each; `None` where the asker must not know.
        jobs: Vec<(PollJob, Option<Phase>)>,
    },
    /// Read a chunk of an output file and answer another node with it.
    ReadOutput {
        /// Of the question.
        token: AnswerToken,
        /// The run.
        job: RunId,
        /// Path below its work directory, checked.
        path: String,
        /// Offset.
        from: u64,
    },
    /// Copy the checkpoint of a local job as it is now, and answer another node with its manifest.
    ShowCheckpoint {
        /// Of the question.
        token: AnswerToken,
        /// The run.
        job: RunId,
        /// Its folder below the work directory, checked.
        folder: String,
        /// The node that is offered the same.
        keeper: Option<PublicKey>,
    },
    /// Copy the checkpoint of a local job as it is now, and offer it to its keeper.
    OfferCopy {
        /// The run.
        job: RunId,
        /// Its folder below the work directory, checked.
        folder: String,
        /// The keeper.
        to: PublicKey,
    },
    /// Pull what another seller's run has kept; answer with [`crate::input::Input::Pulled`].
    PullCopy {
        /// Its place in the store of copies.
        slot: u32,
        /// The run.
        job: RunId,
        /// Its checkpoint.
        snapshot: Snapshot,
        /// The seller's node.
        from: PublicKey,
    },
    /// This is the copy of a place: forget all else there. `None`: there is none.
    KeepCopy {
        /// The place.
        slot: u32,
        /// The copy.
        keep: Option<Snapshot>,
    },
    /// Read a chunk of a copy and answer another node with it.
    ReadCopy {
        /// Of the question.
        token: AnswerToken,
        /// Its place.
        slot: u32,
        /// The file.
        content: ContentId,
        /// Offset.
        from: u64,
    },
    /// Keep durably which copies there are: canonical bytes, see [`crate::keeper::Held`].
    SaveCopies(Vec<u8>),
    /// Read a chunk of a copied checkpoint and answer another node with it.
    ReadKept {
        /// Of the question.
        token: AnswerToken,
        /// The run.
        job: RunId,
        /// The file.
        content: ContentId,
        /// Offset.
        from: u64,
    },
    /// Make the work directory of a job and fetch its inputs from the buyer's node.
    Stage {
        /// The run.
        job: RunId,
        /// The buyer's node.
        from: PublicKey,
        /// The job.
        spec: JobSpec,
        /// The checkpoint to be put in place, which also comes from the buyer's node.
        resume: Option<Snapshot>,
        /// The seller's memory of the job across a restart: canonical bytes.
        memo: Vec<u8>,
    },
    /// Start a staged job.
    StartJob {
        /// The run.
        job: RunId,
        /// The offer whose unit it uses.
        offer: OfferId,
        /// The job, its environment completed.
        spec: JobSpec,
    },
    /// Stop a job: TERM, the owner's grace or the job's own, KILL of the whole tree.
    StopJob(RunId),
    /// Forget a job and its files.
    RemoveJob(RunId),
    /// Let the tasks of a lease that run here reach these others, and no longer any that are not
    /// among them.
    Connect {
        /// Answer this question with the node's [`Card`](crate::cluster::Card).
        token: Option<AnswerToken>,
        /// The network, checked.
        cluster: Cluster,
    },
    /// Close the network of a lease and forget its keys.
    Disconnect(LeaseId),
    /// Say how this node reaches the others of a lease's network: answer with
    /// [`AgentReply::Links`], signed by the node's transport key.
    ShowLinks {
        /// Of the question.
        token: AnswerToken,
        /// The lease.
        lease: LeaseId,
        /// The others, with their keys for this lease.
        others: Vec<(PublicKey, [u8; 32])>,
    },
    /// Carry packets between the ends of a grant, and no longer between others of an earlier one
    /// with the same purse and lease.
    Relay {
        /// Answer this question with [`AgentReply::Carried`], signed by the node's transport key.
        token: Option<AnswerToken>,
        /// The grant, checked.
        grant: Grant,
    },
    /// Carry nothing more under a grant.
    EndRelay {
        /// What it draws on.
        purse: Purse,
        /// The lease whose members it is for.
        carries: LeaseId,
    },
    /// Keep a buyer's order durably.
    SaveOrder {
        /// The order.
        order: OrderKey,
        /// Its record: canonical bytes.
        record: Vec<u8>,
    },
    /// Append to the output that the buyer keeps.
    AppendOutput {
        /// The order.
        order: OrderKey,
        /// The task.
        task: u32,
        /// Whether it is standard error.
        stderr: bool,
        /// Offset at which these bytes belong.
        from: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A task starts anew: what earlier attempts put out is kept apart from what follows.
    ResetOutput {
        /// The order.
        order: OrderKey,
        /// The task.
        task: u32,
        /// Number of the attempt that starts.
        attempt: u32,
    },
    /// Fetch the checkpoint of a run from the seller's node; answer with
    /// [`crate::input::Input::Checkpointed`].
    FetchCheckpoint {
        /// The order.
        order: OrderKey,
        /// The run.
        job: RunId,
        /// The seller's node.
        from: PublicKey,
    },
    /// Ask other nodes for a copy of what a run had kept whose seller says nothing more, and fetch
    /// the newest that bears its signature; answer with [`crate::input::Input::Checkpointed`].
    FetchCopy {
        /// The order.
        order: OrderKey,
        /// The run.
        job: RunId,
        /// Its seller's node.
        seller: PublicKey,
        /// The nodes.
        keepers: Vec<PublicKey>,
        /// Milliseconds since 1970: an older one is of no use.
        newer_than: Option<u64>,
    },
    /// This checkpoint is the task's: forget all others, and what came of others. `None`: the task
    /// has none; if its order is over, the output of its earlier attempts goes as well.
    KeepCheckpoint {
        /// The order.
        order: OrderKey,
        /// The task.
        task: u32,
        /// The checkpoint.
        keep: Option<Snapshot>,
    },
    /// Fetch output files from the seller's node.
    FetchOutputs {
        /// The order.
        order: OrderKey,
        /// The run.
        job: RunId,
        /// The seller's node.
        from: PublicKey,
        /// Paths.
        paths: Vec<String>,
    },
    /// The files fetched for this run are the task's: keep them in place of earlier ones.
    KeepFiles {
        /// The order.
        order: OrderKey,
        /// The run.
        job: RunId,
    },
    /// Keep durably which offers are held back: canonical bytes, see [`crate::withheld::Withheld`].
    SaveWithheld(Vec<u8>),
    /// Reply to a local command.
    Reply {
        /// Of the command.
        token: CommandToken,
        /// The reply.
        reply: Reply,
    },
    /// Look for better allocations of reservations than the rule finds; answer with
    /// [`crate::input::Input::Hinted`], if at all. Replaces an earlier request.
    SeekHints(Question),
    /// A block was decided and is durable.
    Decided {
        /// Its height.
        height: u64,
        /// Its id.
        block: BlockId,
    },
}
