//! Runs that come to nothing, and the rest of their tasks.

use super::attempts::AttemptEnd;
use super::run::Run;
use super::tasks::{REST_MS, Tasks};
use crate::buy::End;
use crate::input::Now;
use gridbay_protocol::checkpoint::Checkpoint;

impl Tasks {
    /// A run is lost or stopped by its seller: the task waits again, longer each time; first for
    /// what a stopped run has kept of its progress, if it `keeps` any, and for what is being
    /// fetched of a lost one; then for what others have of it.
    pub fn lose(&mut self, task: u32, end: AttemptEnd, keeps: Option<&Checkpoint>, now: Now) {
        let Some(run) = self.runs.remove(&task) else {
            return;
        };
        if let Some(record) = self.records.get_mut(task as usize) {
            record.ended = None;
        }
        match end {
            AttemptEnd::Stopped => self.leave(run, keeps, (end, None), now),
            AttemptEnd::Lost | AttemptEnd::Silent | AttemptEnd::Refused => {
                self.leave(run, keeps, (end, None), now);
                self.give_up(task);
            }
            _ => self.lose_run(&run, end, now),
        }
    }

    /// Nothing more comes of a run that is lost.
    pub(super) fn lose_run(&mut self, run: &Run, end: AttemptEnd, now: Now) {
        let task = run.job.task;
        if let Some(record) = self.records.get_mut(task as usize) {
            record.lost += 1;
            let until = now.mono_ms + (REST_MS << record.lost.min(5));
            self.resting.insert(task, until);
            self.end_attempt(run, end, None, now);
        }
    }

    /// Notes the end of an attempt: of one whose seller is silent, when it was last heard of.
    pub(super) fn end_attempt(
        &mut self,
        run: &Run,
        end: AttemptEnd,
        market: Option<End>,
        now: Now,
    ) {
        let quiet_ms = match end {
            AttemptEnd::Silent => now.mono_ms.saturating_sub(run.heard_ms),
            _ => 0,
        };
        if let Some(record) = self.records.get_mut(run.job.task as usize) {
            let wall_ms = now.wall_ms.saturating_sub(quiet_ms);
            record.history.end(run.job.attempt, end, market, wall_ms);
        }
    }
}
