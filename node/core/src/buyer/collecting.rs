//! Runs that ended by themselves, and whose output is still to come.
//!
//! 1. Such a run needs no unit: the next task may have it, and no end of its lease takes the run
//!    off its task. Its seller remembers it for long enough.
//! 2. Once all tasks of an order have ended, its units are kept for [`KEPT_HEIGHTS`] more, so that
//!    a task whose seller fails meanwhile can start anew; then the order gives them up, and nobody
//!    pays for the rest of a long transfer.
//! 3. A run whose streams do not come within [`COLLECT_MS`](super::pace::COLLECT_MS) is lost. Its
//!    files have bounds of their own.

use super::order::OrderAgent;
use super::tasks::Tasks;
use crate::agent::RunId;

/// Heights for which an order whose tasks have all ended keeps its units while output comes.
const KEPT_HEIGHTS: u64 = 4;

impl Tasks {
    /// Whether this run ended by itself, and output of it is still to come.
    pub fn has_ended(&self, job: &RunId) -> bool {
        let record = self.records.get(job.task as usize);
        let run = self.runs.get(&job.task);
        run.is_some_and(|run| run.job == *job) && record.is_some_and(|r| r.ended.is_some())
    }

    /// How many runs ended by themselves whose output is still to come.
    pub fn collecting(&self) -> usize {
        let runs = self.runs.values();
        runs.filter(|run| self.has_ended(&run.job)).count()
    }

    /// Whether every task has ended, though output may be still to come.
    fn all_ended(&self) -> bool {
        let mut tasks = self.records.iter();
        tasks.all(|task| task.done.is_some() || task.ended.is_some())
    }

    /// Nothing more is expected of what ended: the order is over.
    pub(super) fn stop_collecting(&mut self) {
        self.records.iter_mut().for_each(|task| task.ended = None);
    }
}

impl OrderAgent {
    /// Whether output of its runs is still to come, wanted, and all that it waits for.
    pub(super) fn collects(&self) -> bool {
        !self.is_over() && self.tasks.collecting() > 0
    }

    /// Whether all its tasks have ended for long enough that it gives its units up.
    pub(super) fn needs_no_unit(&mut self, height: u64) -> bool {
        if !self.tasks.all_ended() {
            self.ended_at = None;
            return false;
        }
        height >= *self.ended_at.get_or_insert(height) + KEPT_HEIGHTS
    }
}
