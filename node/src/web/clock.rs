//! The slot that runs, and when it closes.

use crate::api::Answer;
use crate::backend::{NodeBackend, wall_ms};

/// The running slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// Its number.
    pub(super) slot: u64,
    /// The earliest time at which it closes, in milliseconds from now: heights follow one another
    /// at their least interval only while there is work.
    pub(super) left_ms: u64,
    /// Its least length in milliseconds.
    pub(super) slot_ms: u64,
    /// Least time of one height, in milliseconds.
    pub(super) height_ms: u64,
}

impl Clock {
    /// As the ledger and this machine's clock have it now.
    pub(super) async fn of(node: &NodeBackend) -> Answer<Clock> {
        let now = wall_ms();
        node.query(move |core| {
            let (state, calendar) = (core.state(), core.state().calendar());
            let height = state.height();
            let slot = calendar.slot(height.saturating_add(1));
            let heights = calendar.last_of_slot(slot).saturating_sub(height);
            let height_ms = state.policy().block_interval_ms;
            let gone = now.saturating_sub(state.time_ms());
            Clock {
                slot,
                left_ms: heights.saturating_mul(height_ms).saturating_sub(gone),
                slot_ms: state.policy().slot_ms(),
                height_ms,
            }
        })
        .await
    }
}
