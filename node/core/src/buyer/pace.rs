//! How often what does not come is asked for again, and for how long.

/// Heights after which an entry that has not shown up is sent again.
pub(super) const RESEND_HEIGHTS: u64 = 4;

/// Milliseconds to wait for an answer of another node before asking again.
pub(super) const ANSWER_MS: u64 = 3_000;

/// Milliseconds that the streams of a run may take to come after its end.
pub(super) const COLLECT_MS: u64 = 600_000;

/// Heights at which something was last asked of the ledger.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastAsked {
    pub(super) sent: u64,
    pub(super) opened: u64,
    pub(super) appealed: u64,
}

impl LastAsked {
    /// Whether it is time to ask again; notes that it is done.
    pub(super) fn again(last: &mut u64, height: u64) -> bool {
        let due = *last == 0 || height >= *last + RESEND_HEIGHTS;
        if due {
            *last = height;
        }
        due
    }
}
