//! Jobs: requests, records, reasons.

use crate::api::types::{How, Want, amount, optional_amount};
use gridbay_protocol::ids::{AccountId, LeaseId, OrderId};
use gridbay_protocol::job::{InputFile, JobExit};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::fmt;

/// `POST /jobs`: an order and its job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRequest {
    /// Name for people; the program's if `None`.
    pub name: Option<String>,
    /// What is wanted.
    pub want: Want,
    /// What it is worth when it is done, if it bids by that; nothing before.
    #[serde(default)]
    pub worth: Option<JobWorth>,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Environment, sorted by name.
    pub env: Vec<(String, String)>,
    /// Staged input files, sorted by path.
    pub inputs: Vec<InputFile>,
    /// Files to bring back, sorted.
    pub outputs: Vec<String>,
}

/// A job that is worth something only when it is done. Its bid for all nodes and a slot is the worth divided by the slots
/// it still needs, so it rises with every slot done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobWorth {
    /// What it is worth.
    #[serde(with = "amount")]
    pub worth: Credits,
    /// Seconds that it needs on end, on all its nodes.
    pub length_seconds: u32,
}

/// A job's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Accepted; its order waits for its round.
    Queued,
    /// Its order is on the ledger and not yet decided, or outbid and standing.
    Bidding,
    /// It has a lease.
    Won,
    /// Sellers fetch its files.
    Staging,
    /// Its first instruction has run.
    Running,
    /// It was told to stop.
    Preempting,
    /// Its lease ended before it did; the order stands again.
    Requeued,
    /// Every rank ended with 0.
    Done,
    /// A rank ended otherwise, or the job could not run.
    Failed,
    /// The user ended it.
    Cancelled,
    /// The order ended without (further) units.
    Expired,
}

impl JobState {
    /// All states, in the order in which they are usually passed.
    pub const ALL: [JobState; 11] = [
        JobState::Queued,
        JobState::Bidding,
        JobState::Won,
        JobState::Staging,
        JobState::Running,
        JobState::Preempting,
        JobState::Requeued,
        JobState::Done,
        JobState::Failed,
        JobState::Cancelled,
        JobState::Expired,
    ];
    /// Whether nothing follows.
    pub fn is_final(self) -> bool {
        self >= JobState::Done
    }
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            JobState::Queued => "queued",
            JobState::Bidding => "bidding",
            JobState::Won => "won",
            JobState::Staging => "staging",
            JobState::Running => "running",
            JobState::Preempting => "preempting",
            JobState::Requeued => "requeued",
            JobState::Done => "done",
            JobState::Failed => "failed",
            JobState::Cancelled => "cancelled",
            JobState::Expired => "expired",
        }
    }
}

/// Why a job is in its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobReason {
    /// Its commitment waits to be opened.
    Sealed,
    /// Others bid more, or its reserve was not met.
    Outbid,
    /// Fewer units are offered than it needs.
    NoUnits,
    /// Its nodes are reserved for slots to come.
    Booked,
    /// A buy-it-now took its units.
    Preempted,
    /// A seller did not deliver.
    Undelivered,
    /// Its claim was not drawn for this slot, or its pool sells nothing.
    Unserved,
    /// The bid did not reach the ledger in its round.
    NotOpened,
    /// Balance or budget could not cover the next slot.
    Unfunded,
    /// A buy dearer than its limit, or a job by its worth for which even the reserves are too dear.
    TooDear,
    /// The order stood until its last height.
    TimedOut,
    /// The user ended it.
    Cancelled,
    /// A rank ended with a code other than 0, or by a signal.
    ExitCode,
    /// A rank reached its time limit.
    TimeLimit,
    /// All slots of the order were used before the job ended.
    LeaseEnded,
    /// A rank was lost with its host, or could not be started.
    Lost,
    /// An input file could not be staged.
    Staging,
    /// The ledger or a seller refused it.
    Refused,
    /// It would not have earned its seller enough.
    NoGain,
    /// Its seller has no room for it until its hard deadline.
    NoRoom,
    /// Its seller could not stake the bond on it.
    Unstaked,
    /// Its seller's plan has no units for it in this slot.
    Paused,
    /// Its seller did not do it by its hard deadline.
    Missed,
    /// The provider of its contract has not signed, or did not in time.
    NotSigned,
    /// Its contract was settled before all its jobs ended.
    Settled,
    /// A seller acknowledged its lease and did not serve it; this node complained.
    Disputed,
    /// A rank held more on the disk than its unit has.
    DiskLimit,
}

impl JobReason {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            JobReason::Sealed => "sealed",
            JobReason::Outbid => "outbid",
            JobReason::NoUnits => "no_units",
            JobReason::Booked => "booked",
            JobReason::Preempted => "preempted",
            JobReason::Undelivered => "undelivered",
            JobReason::Unserved => "unserved",
            JobReason::NotOpened => "not_opened",
            JobReason::Unfunded => "unfunded",
            JobReason::TooDear => "too_dear",
            JobReason::TimedOut => "timed_out",
            JobReason::Cancelled => "cancelled",
            JobReason::ExitCode => "exit_code",
            JobReason::TimeLimit => "time_limit",
            JobReason::LeaseEnded => "lease_ended",
            JobReason::Lost => "lost",
            JobReason::Staging => "staging",
            JobReason::Refused => "refused",
            JobReason::NoGain => "no_gain",
            JobReason::NoRoom => "no_room",
            JobReason::Unstaked => "unstaked",
            JobReason::Paused => "paused",
            JobReason::DiskLimit => "disk_limit",
            JobReason::Missed => "missed",
            JobReason::NotSigned => "not_signed",
            JobReason::Settled => "settled",
            JobReason::Disputed => "disputed",
        }
    }
}

/// Id of a job on this node: 16 hex digits. Where one is looked up, its beginning (8 digits or
/// more) and the id of its order do as well.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankExit {
    /// Rank.
    pub rank: u32,
    /// How.
    pub exit: JobExit,
}

/// A file that a rank brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFile {
    /// Rank.
    pub rank: u32,
    /// Path, as in the request's outputs.
    pub path: String,
    /// Bytes.
    pub bytes: u64,
}

/// `GET /jobs/{id}`. A final state comes after output and files are on this node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Id on this node.
    pub id: JobId,
    /// Order, once it is known.
    pub order: Option<OrderId>,
    /// Name.
    pub name: String,
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
    /// Who runs it.
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
    /// What it is worth, if it bids by that.
    pub worth: Option<JobWorth>,
    /// Seconds that it still needs behind the running slot, whole slots, if it bids by its worth.
    pub left_seconds: Option<u64>,
    /// What its claim on a pool may use now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<ShareNow>,
}

/// What a claim on a pool may use in the running slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareNow {
    /// Ranks that run at a time.
    pub nodes: u32,
    /// Nodes' worth of processors that its share comes to, in thousandths: what its ranks weigh together.
    pub processors_milli: u64,
    /// Memory of each rank in MiB.
    pub memory_mib: u64,
    /// Disk of each rank in MiB.
    pub disk_mib: u64,
}

/// One condition that an order must meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhyCheck {
    /// What is asked, as in `units of class small`.
    pub condition: String,
    /// Whether it is met.
    pub met: bool,
    /// Figures: what is there, what is wanted.
    pub figures: String,
}

/// `GET /jobs/{id}/why`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// What would change it, one line each.
    pub remedies: Vec<String>,
}

/// One of a job's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for state in JobState::ALL {
            let json = serde_json::to_string(&state).unwrap();
            assert_eq!(json, format!("\"{}\"", state.name()));
        }
        for reason in [JobReason::NoUnits, JobReason::TimedOut, JobReason::Sealed] {
            let json = serde_json::to_string(&reason).unwrap();
            assert_eq!(json, format!("\"{}\"", reason.name()));
        }
    }

    #[test]
    fn four_states_are_final() {
        let last: Vec<_> = JobState::ALL.into_iter().filter(|s| s.is_final()).collect();
        assert_eq!(last, JobState::ALL[7..]);
    }

    #[test]
    fn job_ids() {
        assert_eq!(JobId::from_bytes([0xab; 8]).as_str(), "abababababababab");
        assert!(JobId::try_from("0123abcd".to_owned()).is_ok());
        for bad in ["", "0123abc", "0123ABCD", "../../etc", &"a".repeat(65)] {
            assert!(JobId::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
