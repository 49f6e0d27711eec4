//! An executor that runs nothing, for tests: it remembers the jobs that it was asked to start and
//! to remove.

use super::jobs::Jobs;
use crate::executor::{
    Capabilities, Executor, ExecutorError, Exit, Finished, JobName, JobSpec, Selling, Started,
    Status, Stream, Support, Tier, Usage,
};
use futures::future::BoxFuture;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The executor. Its clones are one.
#[derive(Clone, Default)]
pub(super) struct Idle {
    /// Jobs with a folder.
    pub(super) jobs: Arc<Mutex<BTreeMap<JobName, Status>>>,
    /// Jobs that were started.
    pub(super) started: Arc<Mutex<Vec<JobName>>>,
    /// The standard output of every job, given in pieces of [`PIECE`].
    said: Arc<Mutex<Vec<u8>>>,
}

/// Bytes of output given at a time.
const PIECE: usize = 4;

/// A name.
pub(super) fn id(name: &str) -> JobName {
    JobName::new(name).unwrap()
}

/// A job that began at a time.
pub(super) fn running(realtime_ms: u64) -> Started {
    Started {
        supervisor: 1,
        pid: 1,
        pid_start_ticks: 1,
        realtime_ms,
        monotonic_us: 1,
        landlock: true,
    }
}

impl Idle {
    /// Jobs of this executor, in a tier, whose owner does not sell what is not isolated.
    pub(super) fn jobs_in(&self, tier: Tier, memos: &Path) -> Jobs {
        let found = Capabilities::all(tier, Support::Enforced);
        let selling = Arc::new(Selling::new(Ok(found), false));
        Jobs::open(
            Arc::new(self.clone()),
            selling,
            memos.to_path_buf(),
            Duration::from_secs(60),
        )
        .unwrap()
    }

    /// Adds a job that ran for a second and ended at a time.
    pub(super) fn add_ended(&self, name: &str, at_ms: u64) {
        let finished = Finished {
            started: Some(running(at_ms - 1_000)),
            exit: Exit::Exited(0),
            usage: Usage {
                wall_ns: 1_000_000_000,
                ..Usage::default()
            },
        };
        self.add(name, Status::Finished(finished));
    }

    /// A job ended and had said so much.
    pub(super) fn end(&self, job: &JobName, finished: Finished, said: &[u8]) {
        let status = Status::Finished(finished);
        self.jobs.lock().unwrap().insert(job.clone(), status);
        *self.said.lock().unwrap() = said.to_vec();
    }

    /// Adds a job.
    pub(super) fn add(&self, name: &str, status: Status) {
        self.jobs.lock().unwrap().insert(id(name), status);
    }

    /// Names of the jobs that have a folder.
    pub(super) fn left(&self) -> Vec<String> {
        let jobs = self.jobs.lock().unwrap();
        jobs.keys().map(|job| job.as_str().to_owned()).collect()
    }
}

impl Executor for Idle {
    fn kind(&self) -> &'static str {
        "idle"
    }

    fn probe(&self) -> Result<Capabilities, ExecutorError> {
        Err(ExecutorError::NotPrepared(id("probe")))
    }

    fn prepare(&self, job: &JobName, _: u64) -> Result<PathBuf, ExecutorError> {
        Ok(self.work(job))
    }

    fn work(&self, job: &JobName) -> PathBuf {
        PathBuf::from(job.as_str())
    }

    fn kept(&self, job: &JobName) -> PathBuf {
        PathBuf::from(job.as_str()).join("kept")
    }

    fn start(&self, spec: &JobSpec) -> Result<(), ExecutorError> {
        self.started.lock().unwrap().push(spec.job.clone());
        Ok(())
    }

    fn status(&self, job: &JobName) -> Result<Status, ExecutorError> {
        let jobs = self.jobs.lock().unwrap();
        let found = jobs.get(job).cloned();
        found.ok_or_else(|| ExecutorError::NotPrepared(job.clone()))
    }

    fn output(&self, _: &JobName, which: Stream, from: u64) -> Result<Vec<u8>, ExecutorError> {
        let said = self.said.lock().unwrap();
        let said = said.iter().skip(usize::try_from(from).unwrap());
        Ok(match which {
            Stream::Stdout => said.take(PIECE).copied().collect(),
            Stream::Stderr => Vec::new(),
        })
    }

    fn stop(&self, _: &JobName, _: Duration) -> Result<(), ExecutorError> {
        Ok(())
    }

    fn renew(&self, _: &JobName, _: Duration) -> Result<(), ExecutorError> {
        Ok(())
    }

    fn wait<'a>(&'a self, job: &'a JobName) -> BoxFuture<'a, Result<Finished, ExecutorError>> {
        Box::pin(std::future::ready(Err(ExecutorError::NotStarted(
            job.clone(),
        ))))
    }

    fn recover(&self) -> Result<Vec<(JobName, Status)>, ExecutorError> {
        let jobs = self.jobs.lock().unwrap();
        Ok(jobs.iter().map(|(j, s)| (j.clone(), s.clone())).collect())
    }

    fn cleanup(&self, job: &JobName) -> Result<(), ExecutorError> {
        self.jobs.lock().unwrap().remove(job);
        Ok(())
    }
}
