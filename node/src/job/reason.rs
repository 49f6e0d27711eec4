//! A job's state, and why it is in it.

use serde::{Deserialize, Serialize};

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

/// One condition that an order must meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhyCheck {
    /// The request, as in `units of class small`.
    pub condition: String,
    /// Whether it is met.
    pub met: bool,
    /// Figures: what is there, what is wanted.
    pub figures: String,
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
}
