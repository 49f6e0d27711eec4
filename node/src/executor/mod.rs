//! Executors: where leased jobs run, bounded, metered, and cut off from everything else.
//!
//! ```text
//! prepare ──► (caller stages inputs) ──► start ──► output* / status* / stop ──► wait ──► cleanup
//!                                          │
//!                                     supervisor: outlives the node, found again by `recover`
//! ```
//!
//! An executor keeps no state of its own in memory: a job is its folder, and the next to open the
//! jobs folder takes over. The `process` executor is the default and the one that others build on.

mod capability;
mod cgroup;
pub mod descent;
mod error;
mod folder;
mod job;
pub mod launcher;
mod notice;
mod outcome;
mod probe;
mod process;
mod quota;
mod removal;
mod runtimes;
mod sandbox;
mod selling;
pub mod supervisor;

use std::path::PathBuf;
use std::time::Duration;

use futures::future::BoxFuture;

pub use capability::{Capabilities, Link, Outbound, Support, Tier, WeightBy};
pub use error::ExecutorError;
pub use folder::Handed;
pub use job::{
    Farewell, Interface, JobName, JobSpec, Limits, MAX_ARGUMENT_BYTES, MAX_JOB_ID, MAX_VARIABLES,
    MAX_WALL, Network, SpecError,
};
pub use outcome::{Exit, Finished, KillReason, Started, Status, Usage};
pub use process::{Config, Isolation, ProcessExecutor};
pub use runtimes::runtimes;
pub use selling::{NotSold, Selling};

/// One of a job's output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A way to run jobs.
///
/// All methods but `wait` return after a few system calls, except where said otherwise.
pub trait Executor: Send + Sync {
    /// The executor's name in configuration and logs.
    fn kind(&self) -> &'static str;

    /// Runs a trivial job and tells what this machine enforces. Blocks, normally for some 20 ms:
    /// not for an asynchronous task.
    fn probe(&self) -> Result<Capabilities, ExecutorError>;

    /// Makes the folder of a job that may hold `disk` bytes, and returns its work directory,
    /// absolute, for the caller to stage inputs into. Repeating it before `start` is harmless.
    fn prepare(&self, job: &JobName, disk: u64) -> Result<PathBuf, ExecutorError>;

    /// The job's work directory, whether it exists or not. Its contents are the job's: names in it
    /// may be links to anywhere.
    fn work(&self, job: &JobName) -> PathBuf;

    /// A folder for what the caller keeps of the job. The job does not see it, and it goes with the
    /// job's own folder; it exists once the caller has made it.
    fn kept(&self, job: &JobName) -> PathBuf;

    /// Starts a prepared job, once: a second call is refused with `AlreadyStarted`, also after a
    /// restart of the node. Blocks until the supervisor runs, some 5 ms; the first call may probe.
    fn start(&self, spec: &JobSpec) -> Result<(), ExecutorError>;

    /// How the job stands.
    fn status(&self, job: &JobName) -> Result<Status, ExecutorError>;

    /// Output from byte `from` on, at most 512 KiB at a time; empty if there is no more yet. A
    /// stream is complete once the job is finished.
    fn output(&self, job: &JobName, stream: Stream, from: u64) -> Result<Vec<u8>, ExecutorError>;

    /// Asks for the job's end and returns: SIGTERM to all its processes now, SIGKILL after `grace`
    /// (at most a day). A job with a farewell finds the notice before the signal. No error if it is
    /// over already.
    fn stop(&self, job: &JobName, grace: Duration) -> Result<(), ExecutorError>;

    /// Tells how long the job may run from now on, whatever was told before. At that time it ends
    /// by itself: SIGTERM, a few seconds, SIGKILL, also without the node. No error if it is over
    /// already.
    fn renew(&self, job: &JobName, left: Duration) -> Result<(), ExecutorError>;

    /// What a running job hands to the node: its device in its lease's network, and where its
    /// connections to the web arrive. `None` where the job has neither, or none yet.
    fn handed(&self, _job: &JobName) -> Result<Option<Handed>, ExecutorError> {
        Ok(None)
    }

    /// Waits for the job's end, whoever started it. Needs a tokio runtime with I/O and time.
    fn wait<'a>(&'a self, job: &'a JobName) -> BoxFuture<'a, Result<Finished, ExecutorError>>;

    /// All jobs that have a folder, by name: after a restart, what is to be waited for or cleaned.
    fn recover(&self) -> Result<Vec<(JobName, Status)>, ExecutorError>;

    /// Removes the job's folder and all in it. Refused while the job runs; no error if it is gone.
    fn cleanup(&self, job: &JobName) -> Result<(), ExecutorError>;

    /// Gives back to the machine what no running job needs, as the node ends.
    fn leave(&self) {}
}
