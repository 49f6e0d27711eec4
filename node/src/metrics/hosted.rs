//! Jobs of others on this machine: how soon they start, and how they end.

use super::histogram::Histogram;
use super::text::Text;
use gridbay_core::agent::{Phase, RunId};
use gridbay_protocol::job::JobExit;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bounds from the order to stage a job to its first instruction.
pub(super) const STARTS: &[u64] = &[
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    300_000_000,
    1_800_000_000,
];
/// Jobs on their way at the most: what is above is not timed.
const STAGED: usize = 4_096;

named! {
    /// How a job ended here.
    pub enum Ending {
        /// With the code 0.
        Done = "done",
        /// With another code.
        Failed = "failed",
        /// By a signal, as where it takes too much memory.
        Signal = "signal",
        /// At its time limit.
        TimeLimit = "time_limit",
        /// This node stopped it: its unit went, or there was no room.
        Stopped = "stopped",
        /// It held too much on the disk.
        DiskLimit = "disk_limit",
        /// It could not be started, or was lost.
        Lost = "lost",
        /// Its files could not be had.
        NotStaged = "not_staged",
    }
}

impl From<JobExit> for Ending {
    fn from(exit: JobExit) -> Ending {
        match exit {
            JobExit::Code(0) => Ending::Done,
            JobExit::Code(_) => Ending::Failed,
            JobExit::Signal(_) => Ending::Signal,
            JobExit::TimeLimit => Ending::TimeLimit,
            JobExit::Stopped => Ending::Stopped,
            JobExit::DiskLimit => Ending::DiskLimit,
            JobExit::Lost => Ending::Lost,
        }
    }
}

/// Jobs of others.
#[derive(Debug)]
pub(super) struct Hosted {
    staging: Histogram,
    started: AtomicU64,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    on_their_way: BTreeMap<RunId, Instant>,
    ended: BTreeMap<Ending, u64>,
}

impl Default for Hosted {
    fn default() -> Hosted {
        Hosted {
            staging: Histogram::new(STARTS),
            started: AtomicU64::new(0),
            inner: Mutex::default(),
        }
    }
}

impl Hosted {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A job is to be staged.
    pub(super) fn begins(&self, job: RunId) {
        let mut inner = self.lock();
        if inner.on_their_way.len() < STAGED {
            inner.on_their_way.insert(job, Instant::now());
        }
    }

    /// Whether a job's files are there.
    pub(super) fn staged(&self, job: &RunId, ok: bool) {
        if !ok {
            self.ends(job, Ending::NotStaged);
        }
    }

    /// A job has come to a phase. One that an earlier run of this node started is not started anew.
    pub(super) fn phase(&self, job: &RunId, phase: &Phase) {
        match phase {
            Phase::Running { .. } => {
                if let Some(begun) = self.lock().on_their_way.remove(job) {
                    self.starts(begun.elapsed());
                }
            }
            Phase::Ended {
                exit, started_ms, ..
            } => {
                // One that is over before anybody looked has run nevertheless.
                let begun = self.lock().on_their_way.remove(job);
                if let Some(begun) = begun.filter(|_| *started_ms > 0) {
                    self.starts(begun.elapsed());
                }
                self.ends(job, Ending::from(*exit));
            }
            Phase::Staging | Phase::Unknown => {}
        }
    }

    fn starts(&self, took: Duration) {
        self.started.fetch_add(1, Relaxed);
        self.staging.observe(took);
    }

    fn ends(&self, job: &RunId, how: Ending) {
        let mut inner = self.lock();
        inner.on_their_way.remove(job);
        *inner.ended.entry(how).or_default() += 1;
    }

    pub(super) fn metrics(&self, text: &mut Text) {
        let started = self.started.load(Relaxed);
        text.value("gridbay_jobs_started_total", started);
        text.times("gridbay_jobs_staging_seconds", &self.staging);
        let ended = self.lock().ended.clone();
        let of = |how: Ending| (how.name(), ended.get(&how).copied().unwrap_or(0));
        text.by(
            ("gridbay_jobs_ended_total", "how"),
            Ending::ALL.into_iter().map(of),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::LeaseId;

    fn job(task: u32) -> RunId {
        RunId {
            lease: LeaseId([7; 32]),
            task,
            attempt: 0,
        }
    }
    fn ended(exit: JobExit, started_ms: u64) -> Phase {
        Phase::Ended {
            exit,
            started_ms,
            ended_ms: 9,
            cpu_ms: 0,
            rss_kib: 0,
        }
    }

    #[test]
    fn a_job_starts_once_and_ends_once() {
        let hosted = Hosted::default();
        for task in 0..4 {
            hosted.begins(job(task));
        }
        hosted.staged(&job(0), true);
        hosted.phase(&job(0), &Phase::Running { started_ms: 3 });
        hosted.phase(&job(0), &ended(JobExit::Code(0), 3));
        hosted.phase(&job(1), &ended(JobExit::Code(2), 3));
        hosted.staged(&job(2), false);
        hosted.phase(&job(3), &ended(JobExit::Lost, 0));
        // Of an earlier run of the node.
        hosted.phase(&job(9), &Phase::Running { started_ms: 3 });
        hosted.phase(&job(9), &ended(JobExit::Stopped, 3));
        let mut text = Text::default();
        hosted.metrics(&mut text);
        for line in [
            "gridbay_jobs_started_total 2",
            "gridbay_jobs_staging_seconds_count 2",
            "gridbay_jobs_ended_total{how=\"done\"} 1",
            "gridbay_jobs_ended_total{how=\"failed\"} 1",
            "gridbay_jobs_ended_total{how=\"not_staged\"} 1",
            "gridbay_jobs_ended_total{how=\"lost\"} 1",
            "gridbay_jobs_ended_total{how=\"stopped\"} 1",
        ] {
            assert!(text.0.lines().any(|l| l == line), "{line} in {}", text.0);
        }
        assert!(hosted.lock().on_their_way.is_empty());
    }
}
