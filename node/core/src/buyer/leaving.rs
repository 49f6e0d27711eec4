//! A run that is over for its task, but for its last checkpoint.

use super::attempts::AttemptEnd;
use super::run::Run;
use crate::buy::End;

/// The run, and what its task waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaving {
    /// The run.
    pub(super) run: Run,
    /// Until when its task waits for it.
    pub(super) until_ms: u64,
    /// Why it leaves.
    pub(super) end: AttemptEnd,
    /// Why the market took its unit.
    pub(super) market: Option<End>,
}
