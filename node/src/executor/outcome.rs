//! The state and the end of a job, as the supervisor writes them and the node reads them.

use serde::{Deserialize, Serialize};

/// Where a job is on its way. Each state is final for those before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Status {
    /// The folder exists and may be filled; nothing was started.
    Prepared,
    /// A supervisor is at work, the job's first instruction is still to come.
    Starting,
    /// The job runs.
    Running(Started),
    /// The job is over and no process of it is left.
    Finished(Finished),
}

/// The facts of a start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Process id of the supervisor, as the host sees it.
    pub supervisor: i32,
    /// Process id of the sandbox's first process, as the host sees it.
    pub pid: i32,
    /// Start time of `pid` in clock ticks since boot, so that a reused id is not mistaken for it.
    pub pid_start_ticks: u64,
    /// Wall clock just before the job's first instruction, milliseconds since 1970.
    pub realtime_ms: u64,
    /// Monotonic clock at the same moment, microseconds.
    pub monotonic_us: u64,
    /// Whether Landlock confines the job's view of the file system.
    pub landlock: bool,
}

/// The facts of an end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// The start, unless the job never came that far.
    pub started: Option<Started>,
    /// How it ended.
    pub exit: Exit,
    /// Its use of resources.
    pub usage: Usage,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It returned this code, 0 to 255. 126 and 127: the program could not be executed or found.
    Exited(i32),
    /// A signal ended it that the executor did not send.
    Signaled(i32),
    /// It was killed at its wall limit.
    TimeLimit,
    /// It was killed, or never begun, for this reason.
    Killed {
        /// The cause of its end.
        reason: KillReason,
    },
    /// Its supervisor vanished (power, `kill -9`), so nobody saw how it ended.
    Lost,
}

/// Why the executor ended a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KillReason {
    /// The node asked for it.
    Stopped,
    /// The machine is going down: the supervisor received a termination signal.
    Shutdown,
    /// The sandbox could not be set up; the text names the step and the system's error.
    Setup(String),
    /// Its processes together were found to hold more memory than it may.
    Memory,
    /// Its processes together have used more processor time than it may.
    Processor,
    /// It was found to have more processes than it may.
    Processes,
    /// It held more bytes or files on the disk than its limit. Its files were removed.
    Disk,
    /// The machine ran out of room on its disk. The job's files were removed.
    NoRoom,
    /// The time ended for which the node had said that it may run.
    Lease,
}

/// A job's use of resources. Zeros if it was lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time of the whole tree, user and system, nanoseconds (kernel resolution: 1 us).
    pub cpu_ns: u64,
    /// Largest resident set of any one process, bytes.
    pub max_rss_bytes: u64,
    /// From the first instruction to the end of the last process, nanoseconds.
    pub wall_ns: u64,
    /// Output beyond the cap that was read and dropped, both streams, bytes.
    pub output_dropped: u64,
}
