//! A job for an executor: a name, a command, an environment and bounds.
//!
//! A specification is checked once, by [`JobSpec::check`], before anything is written to disk.
//! The same type travels, as JSON, from the node to the supervisor inside the job's folder.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Longest job id in bytes.
pub const MAX_JOB_ID: usize = 64;
/// Most bytes of arguments and environment together; the kernel's own floor is twice this.
pub const MAX_ARGUMENT_BYTES: usize = 64 * 1024;
/// Most environment variables a job may bring.
pub const MAX_VARIABLES: usize = 512;
/// Longest wall limit: thirty days.
pub const MAX_WALL: Duration = Duration::from_secs(30 * 24 * 3600);

/// Why a specification was refused. Fields name the part, never its content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The name is empty, too long, begins with a dot or holds a character outside `A-Za-z0-9._-`.
    #[error("a job id is 1 to 64 characters of A-Z a-z 0-9 . _ - and does not begin with a dot")]
    JobName,
    /// No program was named, or its name is empty.
    #[error("the command is empty")]
    EmptyCommand,
    /// An argument or variable holds a zero byte.
    #[error("a zero byte in the command or the environment")]
    ZeroByte,
    /// A variable's name is empty or holds `=`.
    #[error("a malformed variable name in the environment")]
    VariableName,
    /// Arguments and environment exceed [`MAX_ARGUMENT_BYTES`] or [`MAX_VARIABLES`].
    #[error("command and environment are too large")]
    TooLarge,
    /// A limit is zero or above what is allowed.
    #[error("limit {0} is out of range")]
    Limit(&'static str),
}

/// A job's name on this node: also the name of its folder, so it is restricted to safe characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobName(String);

impl JobName {
    /// Accepts 1 to 64 characters of `A-Za-z0-9._-` that do not begin with a dot.
    pub fn new(text: &str) -> Result<Self, SpecError> {
        if text.starts_with('.') {
            Err(SpecError::JobName)
        } else {
            Self::hidden(text)
        }
    }

    /// As [`JobName::new`], but a leading dot is allowed: the executor's own probes use such names,
    /// and `recover` passes over them.
    pub(super) fn hidden(text: &str) -> Result<Self, SpecError> {
        let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let only_dots = text.chars().all(|c| c == '.');
        if only_dots || text.len() > MAX_JOB_ID || !text.chars().all(safe) {
            return Err(SpecError::JobName);
        }
        Ok(Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for JobName {
    type Error = SpecError;
    fn try_from(text: String) -> Result<Self, SpecError> {
        Self::hidden(&text)
    }
}

impl From<JobName> for String {
    fn from(id: JobName) -> Self {
        id.0
    }
}

/// The network that a job sees.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// None but the job's own loopback.
    #[default]
    None,
    /// The private network of its lease beside that. Only the namespace tier has it.
    Lease(Interface),
}

/// A job's place in the private network of its lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Its host name.
    pub host: String,
    /// Its address in the lease's IPv4 network.
    pub v4: Ipv4Addr,
    /// Its address in the lease's IPv6 network.
    pub v6: Ipv6Addr,
    /// The text of its `/etc/hosts`.
    pub hosts: String,
    /// The text of its `/etc/resolv.conf`; empty if it has none.
    #[serde(default)]
    pub resolver: String,
    /// The text of its list of machines ([`MACHINES`](crate::rank::MACHINES)).
    pub machines: String,
}

/// One file or folder for so many bytes of a job's disk, as file systems of that size have it.
const BYTES_A_FILE: u64 = 16 * 1024;
/// Files and folders that any job may have, and that none may exceed.
const FILES: (u64, u64) = (16_384, 1 << 20);

/// Files and folders of a job that may hold so many bytes.
pub(super) fn files_for(bytes: u64) -> u64 {
    (bytes / BYTES_A_FILE).clamp(FILES.0, FILES.1)
}

/// Bounds on a job. `probe` finds out which of them are enforced on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Time from the first instruction until the whole tree is killed.
    pub wall: Duration,
    /// Processor seconds of each process.
    pub cpu_seconds: u64,
    /// Address space of each process, bytes.
    pub memory_bytes: u64,
    /// Largest file that may be written, bytes.
    pub file_bytes: u64,
    /// Bytes on the disk of the work directory and `/tmp` together; files and folders accordingly.
    #[serde(default = "disk")]
    pub disk_bytes: u64,
    /// Time from the start for which the job may run unless
    /// [`Executor::renew`](super::Executor::renew) says otherwise; `None` for any.
    #[serde(default)]
    pub lease: Option<Duration>,
    /// Processes and threads alive at one time.
    pub processes: u32,
    /// Open file descriptors of each process.
    pub open_files: u32,
    /// Bytes kept of each of the two output streams; the rest is counted and dropped.
    pub output_bytes: u64,
    /// Nice levels above the node's own, 0 to 19: how little it weighs when processors are
    /// contended.
    #[serde(default)]
    pub nice: u8,
    /// Its weight when processors are contended, in thousandths of a slice, 1 to a million. It
    /// counts where the node has control groups; elsewhere the nice level does.
    #[serde(default = "slice")]
    pub weight: u32,
    /// Processors that all its processes together may keep busy, where the node has control groups;
    /// 0 for all.
    #[serde(default)]
    pub processors: u32,
}

/// Bytes on the disk unless told.
const fn disk() -> u64 {
    8 << 30
}

/// The weight of one slice.
const fn slice() -> u32 {
    1_000
}

impl Default for Limits {
    /// An hour, 2 GiB per process, 8 GiB on the disk, 256 processes, 16 MiB of output per stream.
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(3600),
            cpu_seconds: 24 * 3600,
            memory_bytes: 2 << 30,
            file_bytes: 8 << 30,
            disk_bytes: disk(),
            lease: None,
            processes: 256,
            open_files: 1024,
            output_bytes: 16 << 20,
            nice: 0,
            weight: slice(),
            processors: 0,
        }
    }
}

impl Limits {
    fn check(&self) -> Result<(), SpecError> {
        let ranges = [
            ("wall", !self.wall.is_zero() && self.wall <= MAX_WALL),
            (
                "cpu_seconds",
                (1..=u64::from(u32::MAX)).contains(&self.cpu_seconds),
            ),
            (
                "memory_bytes",
                (1 << 20..=1 << 50).contains(&self.memory_bytes),
            ),
            ("file_bytes", self.file_bytes <= 1 << 50),
            ("disk_bytes", self.disk_bytes <= 1 << 50),
            ("processes", (1..=1 << 20).contains(&self.processes)),
            ("open_files", (8..=1 << 20).contains(&self.open_files)),
            ("output_bytes", self.output_bytes <= 1 << 40),
            ("nice", self.nice <= 19),
            ("weight", (1..=1_000_000).contains(&self.weight)),
            ("processors", self.processors <= 1 << 16),
        ];
        match ranges.iter().find(|(_, within)| !within) {
            Some((name, _)) => Err(SpecError::Limit(name)),
            None => Ok(()),
        }
    }
}

/// How a job wants to be told of its end, so that it can keep its progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Farewell {
    /// Folder of its checkpoint, a path below the work directory; made before it starts.
    pub folder: String,
    /// The time between SIGTERM and SIGKILL when its lease ends.
    pub grace: Duration,
}

/// A job to run. Its inputs are not part of it: the caller stages them into the work directory
/// that `prepare` returns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// Name, unique on this node until `cleanup`.
    pub job: JobName,
    /// Program and arguments. A program with a slash is found relative to the work directory,
    /// one without is looked up in `PATH`.
    pub argv: Vec<String>,
    /// The job's whole environment but for `PATH`, `HOME` and `TMPDIR`, which have defaults, and
    /// `GRIDBAY_JOB` and `GRIDBAY_WORK`, which the executor sets; with a farewell also
    /// `GRIDBAY_CHECKPOINT` and `GRIDBAY_NOTICE`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Bounds.
    #[serde(default)]
    pub limits: Limits,
    /// Network.
    #[serde(default)]
    pub network: Network,
    /// Whether the node carries its connections to the web. Only the namespace tier has it.
    #[serde(default)]
    pub internet: bool,
    /// Set if it keeps its progress. Whatever code it leaves with after the notice, it was ended.
    #[serde(default)]
    pub farewell: Option<Farewell>,
}

impl JobSpec {
    /// A job with an empty environment and the default limits.
    pub fn new<A: Into<String>>(job: JobName, argv: impl IntoIterator<Item = A>) -> Self {
        Self {
            job,
            argv: argv.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            limits: Limits::default(),
            network: Network::None,
            internet: false,
            farewell: None,
        }
    }

    /// Refuses what could not be passed to the kernel as it stands.
    pub fn check(&self) -> Result<(), SpecError> {
        if self.argv.first().is_none_or(String::is_empty) {
            return Err(SpecError::EmptyCommand);
        }
        let variables = self.env.iter().flat_map(|(name, value)| [name, value]);
        let mut bytes = 0_usize;
        for text in self.argv.iter().chain(variables) {
            if text.contains('\0') {
                return Err(SpecError::ZeroByte);
            }
            bytes = bytes.saturating_add(text.len() + 1);
        }
        if self
            .env
            .keys()
            .any(|name| name.is_empty() || name.contains('='))
        {
            return Err(SpecError::VariableName);
        }
        if bytes > MAX_ARGUMENT_BYTES || self.env.len() > MAX_VARIABLES {
            return Err(SpecError::TooLarge);
        }
        self.limits.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> JobSpec {
        JobSpec::new(JobName::new("a").unwrap(), ["/bin/true"])
    }

    #[test]
    fn ids_are_safe_file_names() {
        for good in ["a", "lease-7.job_2", &"x".repeat(MAX_JOB_ID)] {
            assert!(JobName::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            ".a",
            "a/b",
            "a b",
            "a\0",
            "ä",
            &"x".repeat(MAX_JOB_ID + 1),
        ] {
            assert_eq!(JobName::new(bad), Err(SpecError::JobName), "{bad}");
        }
        assert!(JobName::hidden(".probe-1").is_ok());
        assert!(JobName::hidden("..").is_err());
    }

    #[test]
    fn what_the_kernel_cannot_take_is_refused() {
        assert_eq!(spec().check(), Ok(()));
        let mut s = spec();
        s.argv.clear();
        assert_eq!(s.check(), Err(SpecError::EmptyCommand));
        let mut s = spec();
        s.argv.push("a\0b".into());
        assert_eq!(s.check(), Err(SpecError::ZeroByte));
        let mut s = spec();
        s.env.insert("A=B".into(), String::new());
        assert_eq!(s.check(), Err(SpecError::VariableName));
        let mut s = spec();
        s.argv.push("x".repeat(MAX_ARGUMENT_BYTES));
        assert_eq!(s.check(), Err(SpecError::TooLarge));
        let mut s = spec();
        s.limits.wall = Duration::ZERO;
        assert_eq!(s.check(), Err(SpecError::Limit("wall")));
    }

    #[test]
    fn a_specification_survives_its_file() {
        let mut s = spec();
        s.env.insert("A".into(), "1".into());
        let text = serde_json::to_string(&s).unwrap();
        assert_eq!(serde_json::from_str::<JobSpec>(&text).unwrap(), s);
        assert!(serde_json::from_str::<JobSpec>(&text.replace("\"a\"", "\"../a\"")).is_err());
    }
}
