//! The end of a private market whose node has ended: its jobs, then its folder.

use super::LOOK;
use crate::config::Home;
use crate::executor::{Config, Executor as _, ExecutorError, JobName, ProcessExecutor, Status};
use anyhow::Context as _;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// Time for a job to be gone after it was killed.
const GONE: Duration = Duration::from_secs(5);

/// Ends what still runs, and removes everything.
pub(super) fn remove(home: &Home) -> anyhow::Result<()> {
    let jobs = home.path().join("jobs");
    if jobs.exists() {
        let executor = ProcessExecutor::new(Config::new(jobs))?;
        for (job, _) in executor.recover()? {
            end(&executor, &job).with_context(|| format!("job {job} does not end"))?;
        }
    }
    Ok(fs::remove_dir_all(home.path())?)
}

fn end(executor: &ProcessExecutor, job: &JobName) -> Result<(), ExecutorError> {
    let until = Instant::now() + GONE;
    while matches!(executor.status(job)?, Status::Starting | Status::Running(_)) {
        executor.stop(job, Duration::ZERO)?;
        if Instant::now() > until {
            break;
        }
        thread::sleep(LOOK);
    }
    executor.cleanup(job)
}
