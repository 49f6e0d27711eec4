//! What came of jobs' connections to the web, since the node started.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::refusal::Refusal;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(super) connections: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
    refused: [AtomicU64; Refusal::ALL.len()],
}

impl Counts {
    pub(super) fn refuse(&self, why: Refusal) {
        let all = Refusal::ALL.iter().zip(&self.refused);
        let mut of_it = all.filter(|(reason, _)| **reason == why);
        if let Some((_, count)) = of_it.next() {
            count.fetch_add(1, Relaxed);
        }
    }

    /// Connections that were made.
    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Relaxed)
    }

    /// Bytes from jobs.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }

    /// Bytes to jobs.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Relaxed)
    }

    /// Refusals by their reasons.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = Refusal::ALL.iter().zip(&self.refused);
        all.map(|(why, count)| (why.id(), count.load(Relaxed)))
    }
}
