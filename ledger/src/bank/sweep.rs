//! The tax that runs, and the accounts that still await their turn.

use crate::record::Sweep;
use crate::work::Work;
use gridbay_protocol::ids::AccountId;

/// The tax that runs, with the height at which it began.
pub(super) fn running(work: &Work<'_>) -> Option<(u64, Sweep)> {
    let (began, sweep) = work.tables.sweeps.iter().next()?;
    Some((*began, *sweep))
}

/// Whether an account still has its turn before it in the tax that runs.
pub(super) fn awaits(work: &Work<'_>, id: &AccountId) -> bool {
    let running = running(work);
    running.is_some_and(|(_, sweep)| sweep.through.is_none_or(|through| *id > through))
}
