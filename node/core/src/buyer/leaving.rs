//! A run that is over for its task, but for its last checkpoint.

use super::attempts::AttemptEnd;
use super::run::Run;
use crate::buy::End;

/// Milliseconds beyond its grace for which a run that leaves may say nothing.
pub(super) const LEAVE_MS: u64 = 15_000;
/// Milliseconds that the last checkpoint of a run may take to come, while units may wait for it.
pub(super) const ARRIVE_MS: u64 = 300_000;

/// Milliseconds for which a task waits at the most for a copy of what a run had kept.
pub(super) const SEEK_MS: u64 = 120_000;

/// The run, and what its task waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaving {
    /// The run.
    pub(super) run: Run,
    /// Until when its task waits for it if it says nothing.
    pub(super) until_ms: u64,
    /// Until when its task waits at most.
    pub(super) most_ms: u64,
    /// Whether nothing more is to be had of its seller.
    pub(super) given_up: bool,
    /// Whether others were asked for a copy.
    pub(super) sought: bool,
    /// When its seller was asked for its checkpoint, milliseconds since 1970, if that was still
    /// being fetched when others were asked.
    pub(super) fetch_wall_ms: Option<u64>,
    /// Why it leaves.
    pub(super) end: AttemptEnd,
    /// Why the market took its unit.
    pub(super) market: Option<End>,
}

impl Leaving {
    /// Until when the task waits, by what is known now: each word of the run makes it longer, and a
    /// checkpoint that is being fetched has its time.
    pub(super) fn waits_until_ms(&self) -> u64 {
        if self.run.asking.since_wall_ms.is_some() {
            return self.most_ms;
        }
        if self.given_up {
            return 0;
        }
        let heard = self.run.heard_ms + LEAVE_MS;
        self.until_ms.max(heard).min(self.most_ms)
    }
}
