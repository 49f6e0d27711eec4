//! The seller's jobs on this machine: between the agent and the executor.

use super::allowance::{self, Allowance};
use super::making::Making;
use crate::executor::{
    Executor, Exit, Farewell, Finished, Handed, JobSpec as Run, KillReason, Network, Selling,
    Status, Stream,
};
use crate::store::content::read_chunk;
use crate::store::orders::private_folder;
use crate::store::replace_file;
use gridbay_core::agent::{CHUNK_BYTES, JobReport, Phase, PollJob, RunId};
use gridbay_core::seller::JobMemo;
use gridbay_protocol::class::Isolation;
use gridbay_protocol::job::{JobExit, JobSpec};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The jobs and what the seller remembers of them. Cheap to clone.
#[derive(Clone)]
pub struct Jobs {
    pub(super) executor: Arc<dyn Executor>,
    selling: Arc<Selling>,
    memos: PathBuf,
    /// The longest grace that the owner grants a job that keeps its progress.
    pub(super) longest_grace: Duration,
    pub(super) making: Making,
    /// Jobs that this seller asked to end. However such a job ends, it was not by itself.
    stopped: Arc<Mutex<BTreeSet<RunId>>>,
}

impl Jobs {
    /// Jobs of an executor, their memos in a folder. A job that keeps its progress has at most
    /// `longest_grace` when it is stopped.
    pub fn open(
        executor: Arc<dyn Executor>,
        selling: Arc<Selling>,
        memos: PathBuf,
        longest_grace: Duration,
    ) -> io::Result<Jobs> {
        private_folder(&memos)?;
        Ok(Jobs {
            executor,
            selling,
            memos,
            longest_grace,
            making: Making::default(),
            stopped: Arc::default(),
        })
    }

    /// All jobs with a memo, and their states: a restarted seller goes on with them.
    pub fn recover(&self) -> io::Result<Vec<(JobMemo, Phase)>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&self.memos)? {
            let path = entry?.path();
            match std::fs::read(&path)
                .ok()
                .and_then(|b| JobMemo::decode(&b).ok())
            {
                Some(memo) => {
                    // A job that never started is lost with the node that staged it; one that is
                    // about to start is as good as running.
                    let phase = match self.executor.status(&local(&memo.job)) {
                        Ok(Status::Prepared) | Err(_) => lost(),
                        Ok(_) => self.phase(&memo.job),
                    };
                    found.push((memo, phase));
                }
                None => tracing::warn!(path = %path.display(), "not a job's memo"),
            }
        }
        Ok(found)
    }

    /// Keeps a memo and makes the work directory of a job with this allowance.
    pub fn prepare(
        &self,
        job: &RunId,
        memo: &[u8],
        allowance: Option<Allowance>,
    ) -> io::Result<PathBuf> {
        replace_file(&self.memo(job), memo)?;
        let prepared = self
            .executor
            .prepare(&local(job), allowance::disk_bytes(allowance));
        prepared.map_err(io::Error::other)
    }

    /// Starts a prepared job within its allowance, for `lease` unless that is renewed. Blocks for
    /// some milliseconds.
    pub fn start(
        &self,
        job: &RunId,
        spec: &JobSpec,
        network: Network,
        allowance: Option<Allowance>,
        lease: Option<Duration>,
    ) -> io::Result<()> {
        // By the ledger's class, whatever has been offered: isolation that is not there is not
        // delivered.
        let isolation = allowance.map_or(Isolation::Process, |allowed| allowed.isolation);
        self.selling.check(isolation).map_err(io::Error::other)?;
        if spec.internet && !self.selling.lets_out() {
            return Err(io::Error::other("jobs.outbound lets no job out"));
        }
        let mut run = Run::new(local(job), spec.argv.clone());
        run.env = spec.env.iter().cloned().collect::<BTreeMap<_, _>>();
        run.limits = allowance::limits(spec, allowance);
        run.limits.lease = lease;
        run.network = network;
        run.internet = spec.internet;
        run.farewell = spec.checkpoint.as_ref().map(|keeps| Farewell {
            folder: keeps.folder.clone(),
            grace: self.grace(keeps),
        });
        self.executor.start(&run).map_err(io::Error::other)
    }

    /// What this machine lacks of that which jobs may need.
    pub fn lacking(&self) -> Vec<&'static str> {
        self.selling.lacking()
    }

    /// What a running job hands over: its device, and where its connections to the web arrive.
    pub fn handed(&self, job: &RunId) -> Option<Handed> {
        let handed = self.executor.handed(&local(job));
        let handed = handed.inspect_err(|error| tracing::warn!(%job, %error, "no handover"));
        handed.ok().flatten()
    }

    /// Waits for a job's end.
    pub async fn wait(&self, job: &RunId) -> Phase {
        match self.executor.wait(&local(job)).await {
            Ok(finished) => self.ended(job, &finished),
            Err(error) => {
                tracing::warn!(%job, %error, "lost sight of a job");
                lost()
            }
        }
    }

    /// How a job stands.
    pub fn phase(&self, job: &RunId) -> Phase {
        self.phase_and_dropped(job).0
    }

    /// The same, and the bytes of its output that were not kept, once it has ended.
    fn phase_and_dropped(&self, job: &RunId) -> (Phase, u64) {
        match self.executor.status(&local(job)) {
            Ok(Status::Prepared | Status::Starting) => (Phase::Staging, 0),
            Ok(Status::Running(started)) => {
                let started_ms = started.realtime_ms;
                (Phase::Running { started_ms }, 0)
            }
            Ok(Status::Finished(finished)) => {
                (self.ended(job, &finished), finished.usage.output_dropped)
            }
            Err(_) => (Phase::Unknown, 0),
        }
    }

    /// How a job ended. One that was told to stop was stopped, whatever code it chose to leave
    /// with.
    fn ended(&self, job: &RunId, finished: &Finished) -> Phase {
        let phase = ended(finished);
        match phase {
            Phase::Ended {
                started_ms,
                ended_ms,
                cpu_ms,
                rss_kib,
                ..
            } if self.lock().contains(job) => Phase::Ended {
                exit: JobExit::Stopped,
                started_ms,
                ended_ms,
                cpu_ms,
                rss_kib,
            },
            phase => phase,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<RunId>> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells how long a job may run from now on.
    pub fn renew(&self, job: &RunId, left: Duration) {
        if let Err(error) = self.executor.renew(&local(job), left) {
            tracing::debug!(%job, %error, "a job that cannot be renewed");
        }
    }

    /// Frees the folders of jobs that are over, those that ended first before the others: all that
    /// ended before `before_ms`, and more as long as `wanted` says so. Answers how many.
    pub fn free_ended(&self, before_ms: u64, wanted: impl Fn() -> bool) -> usize {
        let all = self.executor.recover();
        let all = all.inspect_err(|error| tracing::warn!(%error, "no job's folder can be freed"));
        let ended = |(job, status)| match status {
            Status::Finished(finished) => Some((end_ms(&finished), job)),
            _ => None,
        };
        let all = all.unwrap_or_default().into_iter();
        let mut ended: Vec<_> = all.filter_map(ended).collect();
        ended.sort();
        let mut freed = 0;
        for (at_ms, job) in ended {
            if at_ms >= before_ms && !wanted() {
                break;
            }
            freed += usize::from(self.clean(&job));
        }
        freed
    }

    /// Frees the folder of a job that could not be staged. The seller's memory of it stays.
    pub fn unprepare(&self, job: &RunId) {
        self.clean(&local(job));
    }

    fn clean(&self, job: &crate::executor::JobName) -> bool {
        let cleaned = self.executor.cleanup(job);
        let cleaned = cleaned.inspect_err(|error| tracing::warn!(%job, %error, "a folder stays"));
        cleaned.is_ok()
    }

    /// Stops a job.
    pub fn stop(&self, job: &RunId, grace: Duration) {
        if !matches!(self.phase(job), Phase::Ended { .. }) {
            self.lock().insert(*job);
        }
        if let Err(error) = self.executor.stop(&local(job), grace) {
            tracing::debug!(%job, %error, "a job that cannot be stopped");
        }
    }

    /// Forgets a job and its files.
    pub fn remove(&self, job: &RunId) {
        self.clean(&local(job));
        self.lock().remove(job);
        self.making.forget(job);
        let _gone = std::fs::remove_file(self.memo(job));
    }

    /// Answers a poll from what is on disk now, and from what the seller knows: a run that could
    /// not be staged or started leaves nothing on disk. `None`: the asker may not know. Of each
    /// stream there are at most `most` bytes in it.
    pub fn report(&self, poll: &PollJob, known: Option<Phase>, most: usize) -> JobReport {
        let allowed = known.is_some();
        let id = local(&poll.job);
        // The phase first: when it says "ended", the output read after it is complete.
        let (on_disk, dropped) = self.phase_and_dropped(&poll.job);
        let phase = told(known, on_disk);
        let read = |stream, from| {
            let output = |from| {
                let bytes = self.executor.output(&id, stream, from);
                bytes.ok().filter(|_| allowed).unwrap_or_default()
            };
            let mut bytes = output(from);
            let mut there = from + bytes.len() as u64;
            // It comes in pieces: only what follows this one tells whether that was all.
            if !bytes.is_empty() && bytes.len() <= most {
                there += output(there).len() as u64;
            }
            bytes.truncate(most);
            (bytes, there)
        };
        let (stdout, stdout_len) = read(Stream::Stdout, poll.stdout_from);
        let (stderr, stderr_len) = read(Stream::Stderr, poll.stderr_from);
        JobReport {
            job: poll.job,
            phase,
            stdout,
            stderr,
            stdout_len,
            stderr_len,
            dropped: if allowed { dropped } else { 0 },
        }
    }

    /// A chunk of an output file of an ended job, and the size of the file.
    pub fn output_chunk(&self, job: &RunId, path: &str, from: u64) -> Option<(u64, Vec<u8>)> {
        let ended = matches!(self.phase(job), Phase::Ended { .. });
        let work = self.executor.work(&local(job));
        let read = || read_chunk(&work, Path::new(path), from, CHUNK_BYTES).ok();
        ended.then(read).flatten()
    }

    fn memo(&self, job: &RunId) -> PathBuf {
        self.memos.join(job.to_string())
    }
}

pub(super) fn local(job: &RunId) -> crate::executor::JobName {
    crate::executor::JobName::new(&job.to_string()).expect("job ids are safe folder names")
}

/// The report on a run for its buyer: the state on disk, unless the seller knows better.
fn told(known: Option<Phase>, on_disk: Phase) -> Phase {
    match (known, on_disk) {
        (None, _) => Phase::Unknown,
        // It could not be staged or started: nothing on disk will ever say so.
        (Some(over @ Phase::Ended { .. }), Phase::Staging) => over,
        // Its folder was freed, and what it said with it: that must not be taken for all of its
        // output.
        (
            Some(Phase::Ended {
                exit: JobExit::Code(_) | JobExit::Signal(_) | JobExit::TimeLimit,
                ..
            }),
            Phase::Unknown,
        ) => lost(),
        // Its folder is still to be made, or is gone already.
        (Some(known), Phase::Unknown) => known,
        (Some(_), on_disk) => on_disk,
    }
}

fn ended(finished: &Finished) -> Phase {
    let exit = match &finished.exit {
        Exit::Exited(code) => JobExit::Code(*code),
        Exit::Signaled(signal) => JobExit::Signal(*signal),
        Exit::TimeLimit => JobExit::TimeLimit,
        Exit::Killed {
            reason:
                KillReason::Stopped | KillReason::Shutdown | KillReason::NoRoom | KillReason::Lease,
        } => JobExit::Stopped,
        Exit::Killed {
            reason: KillReason::Disk,
        } => JobExit::DiskLimit,
        Exit::Killed {
            reason: KillReason::Setup(_),
        }
        | Exit::Lost => JobExit::Lost,
        // As the kernel ends what is beyond its bounds.
        Exit::Killed {
            reason: KillReason::Memory | KillReason::Processes,
        } => JobExit::Signal(libc::SIGKILL),
        Exit::Killed {
            reason: KillReason::Processor,
        } => JobExit::Signal(libc::SIGXCPU),
    };
    let started_ms = finished.started.as_ref().map_or(0, |s| s.realtime_ms);
    Phase::Ended {
        exit,
        started_ms,
        ended_ms: end_ms(finished),
        cpu_ms: finished.usage.cpu_ns / 1_000_000,
        rss_kib: finished.usage.max_rss_bytes / 1024,
    }
}

/// When a job ended, in milliseconds since 1970; 0 if it never began.
fn end_ms(finished: &Finished) -> u64 {
    let started = finished.started.as_ref();
    started.map_or(0, |s| {
        s.realtime_ms
            .saturating_add(finished.usage.wall_ns / 1_000_000)
    })
}

pub(super) fn lost() -> Phase {
    Phase::Ended {
        exit: JobExit::Lost,
        started_ms: 0,
        ended_ms: 0,
        cpu_ms: 0,
        rss_kib: 0,
    }
}

#[cfg(test)]
mod tests;
