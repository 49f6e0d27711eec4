//! Messages between the agents of buyers and sellers, node to node.
//!
//! ```text
//! buyer                                   seller
//!   Start(signed, spec, salt)  ─────────►  checks lease, work hash, signature; stages; starts
//!   Content(id, from)          ◄─────────  pulls the inputs
//!   Poll(jobs, offsets)        ─────────►  phase, output since the offsets
//!   Output(job, path, from)    ─────────►  files to bring back
//!   Connect(cluster)           ─────────►  opens the lease's network (`cluster`)
//!   Checkpoint(job)            ─────────►  what it has kept of its progress: a manifest
//!   Kept(job, content, from)   ─────────►  the files of it
//!   Keep(signed copy)          ─────────►  (of another seller) keeps it (`keeper`)
//!   CopyOf(job, seller)        ─────────►  (of another seller) what it keeps of it
//!   Links(lease)               ─────────►  which other members it reaches (`relay`)
//!   Relay(wish)                ─────────►  carries packets between members (`relay`)
//!   Mirror                     ─────────►  the port of its data plane, which tells others where
//!                                          they are seen
//!   Stop(job)                  ─────────►  TERM, grace, KILL
//! guest                                   buyer
//!   Visit(signed)              ─────────►  takes it into its lease's network (`cluster`)
//! ```
//!
//! Any node may also ask another for adverts: for its own, or for a page of those that it knows
//! ([`Adverts`](AgentRequest::Adverts)).
//!
//! Every request is answered on its own; all are idempotent, so either side may crash and ask
//! again.

use crate::cluster::{Cluster, Visit};
use crate::presence::Presence;
use crate::relay::{Carried, Links, Signed, Wish};
use gridbay_protocol::advert::SignedAdvert;
use gridbay_protocol::checkpoint::{MANIFEST_BYTES, Snapshot};
use gridbay_protocol::codec;
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::{AccountId, ContentId, LeaseId, NetworkId, OfferId, to_hex};
use gridbay_protocol::job::{JobExit, JobSpec};
use gridbay_protocol::keys::{KeyError, PublicKey, SecretKey, Signature};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Bytes of one request at the most: a full job spec with room for its frame.
pub const REQUEST_BYTES: usize = gridbay_protocol::job::JOB_BYTES + 4 * 1024;
/// Bytes of one reply at the most.
pub const REPLY_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of a file in one chunk at the most.
pub const CHUNK_BYTES: usize = 512 * 1024;
/// Bytes of one output stream in one report at the least that a full poll leaves room for.
pub const STREAM_BYTES: usize = 32 * 1024;
/// Bytes of output in one answer to a poll at the most, of all its jobs.
pub const OUTPUT_BYTES: usize = 1024 * 1024;
/// Adverts in one answer at the most; with [`ADVERT_BYTES`](gridbay_protocol::limits::ADVERT_BYTES)
/// each they fit [`REPLY_BYTES`].
pub const ADVERTS_PAGE: usize = 64;
/// Jobs in one poll at the most; with [`STREAM_BYTES`] a full answer fits [`REPLY_BYTES`].
pub const POLL_JOBS: usize = 16;

const _: () = assert!(OUTPUT_BYTES + POLL_JOBS * 512 < REPLY_BYTES);
const _: () = assert!(OUTPUT_BYTES / (2 * POLL_JOBS) >= STREAM_BYTES);
const _: () = assert!(CHUNK_BYTES + 64 < REPLY_BYTES);
const _: () = assert!(MANIFEST_BYTES + 64 < REPLY_BYTES);
const _: () = assert!(MANIFEST_BYTES <= CHUNK_BYTES);
const _: () = assert!(ADVERTS_PAGE * gridbay_protocol::limits::ADVERT_BYTES + 64 < REPLY_BYTES);

/// Bytes of one output stream in one report at the most, in an answer about so many jobs: the fewer
/// they are, the more output comes with each round trip.
pub fn stream_bytes(jobs: usize) -> usize {
    (OUTPUT_BYTES / (2 * jobs.max(1))).max(STREAM_BYTES)
}

/// One run of one task on one unit of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunId {
    /// The lease.
    pub lease: LeaseId,
    /// The task's index, also its rank.
    pub task: u32,
    /// Counts the starts of this task.
    pub attempt: u32,
}

/// A name that is safe for a folder: half of the lease's hex digits, task, attempt.
impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}-{}-{}",
            to_hex(&self.lease.0[..16]),
            self.task,
            self.attempt
        )
    }
}

/// Order to start a job; the buyer signs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The run.
    pub job: RunId,
    /// The offer whose unit it uses.
    pub offer: OfferId,
    /// Tasks of the whole order: `GRIDBAY_SIZE`.
    pub tasks: u32,
    /// The text of the job.
    pub spec: JobSpec,
    /// Salt of the order's work hash.
    #[serde(with = "gridbay_protocol::ids::byte_array")]
    pub salt: [u8; 32],
    /// Key of the buyer's account that signs; needs the role `trade`.
    pub key: PublicKey,
    /// The progress of earlier attempts, to be put in place before it starts. Its files are
    /// contents of the buyer's node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Snapshot>,
}

/// A [`Start`] with its signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedStart {
    /// The order to start.
    pub start: Start,
    /// By `start.key`.
    pub signature: Signature,
}

impl SignedStart {
    /// Signs; the key named inside is the signer's.
    pub fn new(network: &NetworkId, mut start: Start, key: &SecretKey) -> SignedStart {
        start.key = key.public();
        let signature = key.sign(Domain::Agent, network, &codec::encode(&start));
        SignedStart { start, signature }
    }
    /// Checks the signature.
    pub fn verify(&self, network: &NetworkId) -> Result<(), KeyError> {
        let bytes = codec::encode(&self.start);
        self.start
            .key
            .verify(Domain::Agent, network, &bytes, &self.signature)
    }
}

/// How far the buyer has read a job's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PollJob {
    /// The run.
    pub job: RunId,
    /// Bytes of standard output already held.
    pub stdout_from: u64,
    /// Bytes of standard error already held.
    pub stderr_from: u64,
}

/// A question from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentRequest {
    /// The genesis of the network, for newcomers.
    Genesis,
    /// Start a job.
    Start(Box<SignedStart>),
    /// Stop a job.
    Stop(RunId),
    /// How are these jobs? At most [`POLL_JOBS`].
    Poll(Vec<PollJob>),
    /// A chunk of an input file, or of a checkpoint, from an offset. Only those have it who run a
    /// task of an order with it.
    Content {
        /// The file.
        content: ContentId,
        /// Offset in bytes.
        from: u64,
    },
    /// A chunk of an output file of an ended job from an offset.
    Output {
        /// The run.
        job: RunId,
        /// Path below its work directory; one of the spec's outputs.
        path: String,
        /// Offset in bytes.
        from: u64,
    },
    /// The other nodes that have tasks of a lease; answered with a [`Presence`].
    Connect(Box<Cluster>),
    /// How does this node reach the others of a lease's network?
    Links(LeaseId),
    /// Let this node into the network of a lease; the signature is of the key in it.
    Visit(Box<Signed<Visit>>),
    /// Carry packets for a lease's members; answered with [`AgentReply::Carried`].
    Relay(Box<Signed<Wish>>),
    /// At which UDP port does this node's data plane say from where datagrams come? Answered with
    /// [`AgentReply::Mirror`]; the address is that of the connection.
    Mirror,
    /// What does this node say of itself now?
    Advert,
    /// Which adverts does it know, after this seller and node? At most [`ADVERTS_PAGE`].
    Adverts(Option<(AccountId, PublicKey)>),
    /// What has this run kept of its progress by now?
    Checkpoint(RunId),
    /// A chunk of a file of the checkpoint that was told last, from an offset.
    Kept {
        /// The run.
        job: RunId,
        /// The file.
        content: ContentId,
        /// Offset in bytes.
        from: u64,
        /// Of the copy that is kept for this seller's node; `None`: of the asked node's own run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seller: Option<PublicKey>,
    },
    /// Keep a copy of what this run has kept; signed by the transport key of its seller's node. Its
    /// files are pulled by [`AgentRequest::Kept`], the manifest among them.
    Keep(Box<Signed<Copy>>),
    /// Which copy of what this run had kept does this node keep for its seller's node? Whoever
    /// keeps copies here may name any run, so the run alone does not tell whose word it is.
    CopyOf {
        /// The run.
        job: RunId,
        /// Its seller's node.
        seller: PublicKey,
    },
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The seller does not know it (any more).
    Unknown,
    /// Inputs are on their way.
    Staging,
    /// Running since this time.
    Running {
        /// First instruction, milliseconds since 1970 by the seller's clock.
        started_ms: u64,
    },
    /// Ended.
    Ended {
        /// How.
        exit: JobExit,
        /// First instruction; 0 if it never ran.
        started_ms: u64,
        /// End.
        ended_ms: u64,
        /// Processor time used in milliseconds.
        cpu_ms: u64,
        /// Largest resident memory in KiB.
        rss_kib: u64,
    },
}

/// A seller's answer about one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobReport {
    /// The run.
    pub job: RunId,
    /// Where it stands.
    pub phase: Phase,
    /// Standard output from the offset asked for, at most [`stream_bytes`].
    #[serde(with = "serde_bytes")]
    pub stdout: Vec<u8>,
    /// Standard error likewise.
    #[serde(with = "serde_bytes")]
    pub stderr: Vec<u8>,
    /// Bytes of standard output there are.
    pub stdout_len: u64,
    /// Bytes of standard error there are.
    pub stderr_len: u64,
    /// Bytes of both streams that its seller did not keep, once it has ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
}

pub(crate) fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// Why a seller does not start a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum StartRefusal {
    /// Its ledger does not (yet) know the lease, or the lease has ended.
    #[error("the seller does not see the lease")]
    NoLease,
    /// The offer is not this node's, or not part of the lease.
    #[error("the offer is not this seller's")]
    NotMine,
    /// All units of the lease here are taken by other runs.
    #[error("all leased units are in use")]
    NoUnit,
    /// The job is not the one the order named.
    #[error("the job is not the one that was ordered")]
    OtherWork,
    /// Wrong signature, or a key without the right to trade for the lease's account.
    #[error("not signed by the buyer")]
    NotBuyer,
    /// Values out of range.
    #[error("the job is out of range")]
    Invalid,
    /// Its disk takes nothing now. It gives the lease up, so that the order can win units
    /// elsewhere.
    #[error("the seller's disk is nearly full")]
    NoRoom,
    /// Its machine cannot put the job into its lease's network. It gives the lease up likewise.
    #[error("the seller's machine has no networks for leases")]
    NoNetwork,
    /// It carries nothing for others. It gives the lease up likewise.
    #[error("the seller is no relay")]
    NoRelay,
    /// The lease's owner admitted the key, and has taken that back.
    #[error("the owner has dismissed the key")]
    Dismissed,
    /// Its machine lacks a runtime that the job needs. It gives the lease up likewise.
    #[error("the seller's machine lacks what the job needs")]
    NoRuntime,
}

/// What a run had kept at a time, in the words of its seller's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copy {
    /// The run.
    pub job: RunId,
    /// Its checkpoint.
    pub snapshot: Snapshot,
    /// When its newest file was written, milliseconds since 1970 by the seller's clock.
    pub taken_ms: u64,
}

/// Why a node does not keep a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum KeepRefusal {
    /// Its ledger does not know that both hold units of a live lease.
    #[error("not both nodes hold units of the lease by the ledger here; ask a node that does")]
    NoLease,
    /// It runs no task of the lease that keeps its progress, so it knows no buyer's node.
    #[error("no task of the lease that keeps its progress runs here; ask again once one does")]
    NoTask,
    /// The signature is not that of the asker.
    #[error("not signed by the node that asks; sign with its transport key")]
    NotSigned,
    /// More than a checkpoint of a unit of the seller may have.
    #[error("the checkpoint is larger than a unit of the lease allows; keep less in its folder")]
    TooLarge,
    /// It came too soon after the last one, or while that is being pulled.
    #[error("the last copy is too recent; ask again after the time between two checkpoints")]
    TooSoon,
    /// It keeps as much as it may, or its disk takes nothing now.
    #[error("no more copies are kept here now; ask again later")]
    Full,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentReply {
    /// Done, or already so.
    Ok,
    /// Not started.
    Refused(StartRefusal),
    /// Answer to a poll, in the order asked.
    Reports(Vec<JobReport>),
    /// A chunk of a file; empty at its end.
    Chunk {
        /// Bytes of the whole file.
        total: u64,
        /// From the offset asked for.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// There is no such thing here.
    NotFound,
    /// Adverts, ascending by seller and node; to be judged like gossiped ones.
    Adverts(Vec<SignedAdvert>),
    /// How the others of a lease reach this node.
    Present(Box<Presence>),
    /// A member's way to each other one, signed by its node's transport key.
    Links(Box<Signed<Links>>),
    /// What a relay carries, signed likewise.
    Carried(Box<Signed<Carried>>),
    /// The UDP port of this node's data plane.
    Mirror(u16),
    /// No copy is kept.
    NotKept(KeepRefusal),
    /// The copy that this node keeps of another's run, in the words of its seller's node.
    Copy(Box<Signed<Copy>>),
    /// The checkpoint of a run.
    Checkpoint {
        /// Its encoded manifest, at most [`MANIFEST_BYTES`].
        #[serde(with = "serde_bytes")]
        manifest: Vec<u8>,
        /// Milliseconds since its newest file was written.
        age_ms: u64,
    },
}
