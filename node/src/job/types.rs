//! Jobs: requests, records, reasons.

use super::reason::{JobReason, JobState, WhyCheck};
use crate::api::types::{How, JobWorth, NetSetup, ShareNow, Want, amount, optional_amount};
use gridbay_protocol::checkpoint::Checkpoint;
use gridbay_protocol::ids::{AccountId, LeaseId, OrderId};
use gridbay_protocol::job::{InputFile, JobExit};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// `POST /jobs`: an order and its job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobRequest {
    /// Name for people; the program's if `None`.
    pub name: Option<String>,
    /// The units wanted.
    pub want: Want,
    /// Its worth when it is done, if it bids by that; nothing before.
    #[serde(default)]
    pub worth: Option<JobWorth>,
    /// Program and arguments.
    #[schema(min_items = 1, max_items = 1024)]
    pub argv: Vec<String>,
    /// Environment, sorted by name.
    #[schema(max_items = 1024)]
    pub env: Vec<(String, String)>,
    /// Staged input files, sorted by path.
    #[schema(max_items = 1024)]
    pub inputs: Vec<InputFile>,
    /// Files to bring back, sorted.
    #[schema(max_items = 1024)]
    pub outputs: Vec<String>,
    /// Whether its tasks reach one another, over a network of their own.
    #[serde(default)]
    pub network: bool,
    /// Whether it may reach the web, by sellers that let their jobs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub internet: bool,
    /// How those of them that have no way to one another are relayed.
    #[serde(default, skip_serializing_if = "Relays::are_free")]
    pub relays: Relays,
    /// How it keeps its progress, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// The project that pays for it, whose bounds it must keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// Relays of a job's network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Relays {
    /// Those that cost nothing.
    #[default]
    Free,
    /// None.
    Off,
    /// Those, and where they do not carry, leased ones for so many credits per hour at the most.
    Paid(#[serde(with = "amount")] Credits),
}

impl Relays {
    fn are_free(&self) -> bool {
        *self == Relays::Free
    }
}

/// Id of a job on this node: 16 hex digits. Where one is looked up, its beginning (8 digits or
/// more) and the id of its order do as well.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, pattern = "^[0-9a-f]{8,64}$")]
pub struct JobId(String);

impl JobId {
    /// The id of 8 bytes.
    pub fn from_bytes(bytes: [u8; 8]) -> JobId {
        JobId(gridbay_protocol::ids::to_hex(&bytes))
    }
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for JobId {
    type Error = String;
    fn try_from(text: String) -> Result<JobId, String> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if (8..=64).contains(&text.len()) && text.bytes().all(hex) {
            Ok(JobId(text))
        } else {
            Err(format!("`{text}` is no job id: want 8 to 64 hex digits"))
        }
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> String {
        id.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A node that runs part of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobSeller {
    /// Seller.
    pub account: AccountId,
    /// Its name, if it is a member.
    pub name: Option<String>,
    /// Transport key of its node.
    pub node: PublicKey,
    /// Ranks that run there.
    pub ranks: Vec<u32>,
}

/// How one rank ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RankExit {
    /// Rank.
    pub rank: u32,
    /// How.
    pub exit: JobExit,
    /// Bytes of its output that were dropped: its seller keeps 16 MiB of each stream, and this node
    /// `limits.output`. Files of the job's outputs have neither bound.
    #[serde(default)]
    pub dropped: u64,
}

/// A file that a rank brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobFile {
    /// Rank.
    pub rank: u32,
    /// Path, as in the request's outputs.
    pub path: String,
    /// Bytes.
    pub bytes: u64,
}

/// `GET /jobs/{id}`. A final state comes after output and files are on this node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobRecord {
    /// Id on this node.
    pub id: JobId,
    /// Order, once it is known.
    pub order: Option<OrderId>,
    /// Name.
    pub name: String,
    /// The project that pays for it, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The user who sent it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Name of the class; of a buy of several, the first: `how` tells the others.
    pub class: String,
    /// Nodes asked for, of all classes.
    pub nodes: u32,
    /// How it gets them.
    pub how: How,
    /// Most per node-hour.
    #[serde(with = "amount")]
    pub max_price: Credits,
    /// Hard limit on the running time.
    pub seconds: u32,
    /// Most for the whole order.
    #[serde(with = "amount")]
    pub budget: Credits,
    /// State.
    pub state: JobState,
    /// Why.
    pub reason: Option<JobReason>,
    /// When the node accepted it.
    pub accepted_ms: u64,
    /// Height of its commitment or buy.
    pub committed_height: Option<u64>,
    /// Height at which its bid was opened.
    pub opened_height: Option<u64>,
    /// Height of the clearing that it (last) won.
    pub won_height: Option<u64>,
    /// Its (last) lease.
    pub lease: Option<LeaseId>,
    /// The sellers that run it.
    pub sellers: Vec<JobSeller>,
    /// First instruction.
    pub running_ms: Option<u64>,
    /// End.
    pub ended_ms: Option<u64>,
    /// How ranks ended, ascending.
    pub exits: Vec<RankExit>,
    /// Files brought back, by rank and path.
    pub files: Vec<JobFile>,
    /// Paid so far.
    #[serde(with = "amount")]
    pub paid: Credits,
    /// Locked for its order now.
    #[serde(default, with = "amount")]
    pub locked: Credits,
    /// Mean price per node-hour paid so far.
    #[serde(with = "optional_amount")]
    pub price: Option<Credits>,
    /// How often it lost a lease.
    pub preemptions: u32,
    /// Its worth, if it bids by that.
    pub worth: Option<JobWorth>,
    /// Seconds that it still needs behind the running slot, whole slots, if it bids by its worth.
    pub left_seconds: Option<u64>,
    /// The present allowance of its claim on a pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<ShareNow>,
    /// How it keeps its progress, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// Its last attempts, by rank and number.
    #[serde(default)]
    pub attempts: Vec<JobAttempt>,
    /// Seconds of work that all attempts of all ranks lost.
    #[serde(default)]
    pub lost_seconds: u64,
    /// How long the networks of its last leases took to stand, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub networks: Vec<JobNetwork>,
}

/// The network of a lease that came to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobNetwork {
    /// The lease.
    pub lease: LeaseId,
    /// How long it took.
    #[serde(flatten)]
    pub setup: NetSetup,
}

/// One attempt at one rank. Times are by this node's clock, milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobAttempt {
    /// Rank.
    pub rank: u32,
    /// Counts the attempts of the rank, from 0 on.
    pub attempt: u32,
    /// Transport key of the seller's node.
    pub node: PublicKey,
    /// The seller's name, if it is a member that still offers.
    pub seller: Option<String>,
    /// When it was first seen running.
    pub started_ms: Option<u64>,
    /// Its end.
    pub ended_ms: Option<u64>,
    /// Why it ended: `done`, `unit_lost`, `stopped`, `lost`, `silent`, `refused` or `no_output`; of
    /// a unit that the market took, why, as in `preempted`.
    pub end: Option<String>,
    /// The checkpoint that it went on from.
    pub resumed: Option<ResumedFrom>,
    /// Seconds of work lost: from its last checkpoint, or its start, to its end.
    pub lost_seconds: u64,
}

/// A checkpoint that an attempt went on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResumedFrom {
    /// The attempt that had made it.
    pub attempt: u32,
    /// Bytes.
    pub bytes: u64,
    /// Seconds from its making to the start.
    pub age_seconds: u64,
}

/// `GET /jobs/{id}/why`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Why {
    /// Job.
    pub id: JobId,
    /// State.
    pub state: JobState,
    /// Reason.
    pub reason: Option<JobReason>,
    /// Why the ledger does not take its entry, in a word; see the list of refusals.
    pub refusal: Option<String>,
    /// One sentence.
    pub summary: String,
    /// Conditions, each with figures.
    pub checks: Vec<WhyCheck>,
    /// The changes that would help, one line each.
    pub remedies: Vec<String>,
    /// That the network makes no blocks, and whose validators do not answer; `None` while it does,
    /// and of a job that has ended.
    #[serde(default)]
    pub stall: Option<String>,
    /// Milliseconds, at the pace of blocks, until the clearing that it waits for; `None` if it
    /// waits for none.
    #[serde(default)]
    pub closes_ms: Option<u64>,
}

/// One of a job's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogChunk {
    /// Bytes from the offset asked for; empty if there are none yet.
    pub bytes: Vec<u8>,
    /// Offset of what follows.
    pub next: u64,
    /// Whether nothing will follow.
    pub last: bool,
    /// The present attempt, whichever was asked for; `None` of a rank that has not run yet.
    pub present: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_ids() {
        assert_eq!(JobId::from_bytes([0xab; 8]).as_str(), "abababababababab");
        assert!(JobId::try_from("0123abcd".to_owned()).is_ok());
        for bad in ["", "0123abc", "0123ABCD", "../../etc", &"a".repeat(65)] {
            assert!(JobId::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
