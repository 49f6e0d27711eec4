//! Why an executor refused or failed a request.

use std::io;

use super::job::{JobName, SpecError};

/// An executor's refusal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum ExecutorError {
    /// The specification cannot be run anywhere.
    #[error("job specification refused")]
    Spec(#[from] SpecError),
    /// No folder of that name, or one that `prepare` did not finish.
    #[error("job {0} is not prepared")]
    NotPrepared(JobName),
    /// `start` was called before for this job.
    #[error("job {0} was already started")]
    AlreadyStarted(JobName),
    /// `wait` on a job that nobody started.
    #[error("job {0} was not started")]
    NotStarted(JobName),
    /// `cleanup` on a job that still runs.
    #[error("job {0} is still running")]
    StillRunning(JobName),
    /// The required isolation does not work on this machine.
    #[error("no sandbox of the required isolation works here: {reason}")]
    NoSandbox { reason: String },
    /// A file of the job's folder could not be read or written.
    #[error("job {job}: cannot {action}")]
    Folder {
        job: JobName,
        action: &'static str,
        source: io::Error,
    },
    /// The executor's own folder could not be used.
    #[error("the jobs folder cannot be used")]
    Jobs(#[source] io::Error),
    /// Nothing that starts jobs in the place of this process.
    #[error("the launcher of jobs does not answer")]
    Launcher(#[source] io::Error),
}
