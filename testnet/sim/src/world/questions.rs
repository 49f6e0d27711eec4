//! Questions between nodes that nobody has answered yet.

use gridbay_core::agent::RunId;
use gridbay_core::key::OrderKey;
use std::collections::BTreeMap;

/// The asker that waits for an answer, and its question.
#[derive(Clone, Debug)]
pub(super) enum Waits {
    /// A core's own question.
    Core(u64),
    /// Nobody: the answer changes nothing.
    Nobody,
    /// The body, for an output file of a run.
    File { order: OrderKey, job: RunId },
    /// The body, for the checkpoint of a run.
    Progress { order: OrderKey, job: RunId },
}

/// A question that a node asked another.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) node: usize,
    pub(super) life: u64,
    pub(super) to: usize,
    pub(super) waits: Waits,
}

/// Questions in flight.
#[derive(Debug, Default)]
pub(super) struct Questions {
    pub(super) open: BTreeMap<u64, Question>,
    pub(super) next: u64,
}
