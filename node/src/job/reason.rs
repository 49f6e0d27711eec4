//! The states of a job, and the reasons for which it is in one.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

named! {
    /// A job's state.
    pub enum JobState {
        /// Accepted; its order waits for its round.
        Queued = "queued",
        /// Its order is on the ledger and not yet decided, or outbid and standing.
        Bidding = "bidding",
        /// It has a lease.
        Won = "won",
        /// Sellers fetch its files.
        Staging = "staging",
        /// Its first instruction has run.
        Running = "running",
        /// Its user ended it; its lease ends with its slot.
        Ending = "ending",
        /// Its lease ended before it did; the order stands again.
        Requeued = "requeued",
        /// Every rank ended with 0.
        Done = "done",
        /// A rank ended otherwise, or the job could not run.
        Failed = "failed",
        /// The user ended it.
        Cancelled = "cancelled",
        /// The order ended without (further) units.
        Expired = "expired",
    }
}

impl JobState {
    /// Whether nothing follows.
    pub fn is_final(self) -> bool {
        self >= JobState::Done
    }
}

named! {
    /// Why a job is in its state.
    pub enum JobReason {
        /// Its commitment waits to be opened.
        Sealed = "sealed",
        /// Others bid more, or its reserve was not met.
        Outbid = "outbid",
        /// Fewer units are offered than it needs.
        NoUnits = "no_units",
        /// Its nodes are reserved for slots to come.
        Booked = "booked",
        /// A buy-it-now took its units.
        Preempted = "preempted",
        /// A seller did not deliver.
        Undelivered = "undelivered",
        /// Its claim was not drawn for this slot, or its pool sells nothing.
        Unserved = "unserved",
        /// The bid did not reach the ledger in its round.
        NotOpened = "not_opened",
        /// Balance or budget could not cover the next slot.
        Unfunded = "unfunded",
        /// A buy dearer than its limit, or a job by its worth for which even the reserves are too
        /// dear.
        TooDear = "too_dear",
        /// The order stood until its last height.
        TimedOut = "timed_out",
        /// The user ended it.
        Cancelled = "cancelled",
        /// A rank ended with a code other than 0, or by a signal.
        ExitCode = "exit_code",
        /// A rank reached its time limit.
        TimeLimit = "time_limit",
        /// All slots of the order were used before the job ended.
        LeaseEnded = "lease_ended",
        /// A rank was lost with its host, or could not be started.
        Lost = "lost",
        /// An input file could not be staged.
        Staging = "staging",
        /// The ledger or a seller refused it.
        Refused = "refused",
        /// It would not have earned its seller enough.
        NoGain = "no_gain",
        /// Its seller has no room for it until its hard deadline.
        NoRoom = "no_room",
        /// Its seller could not stake the bond on it.
        Unstaked = "unstaked",
        /// Its seller's plan has no units for it in this slot.
        Paused = "paused",
        /// Its seller did not do it by its hard deadline.
        Missed = "missed",
        /// The provider of its contract has not signed, or did not in time.
        NotSigned = "not_signed",
        /// Its contract was settled before all its jobs ended.
        Settled = "settled",
        /// A seller acknowledged its lease and did not serve it; this node complained.
        Disputed = "disputed",
        /// A rank held more on the disk than its unit has.
        DiskLimit = "disk_limit",
    }
}

/// One condition that an order must meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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
    fn four_states_are_final() {
        let last: Vec<_> = JobState::ALL.into_iter().filter(|s| s.is_final()).collect();
        assert_eq!(last, JobState::ALL[7..]);
    }
}
