//! The default executor: jobs are processes of this machine, each under its own supervisor.
//!
//! All that this type knows is in the jobs' folders, so a node that was restarted, or killed, goes
//! on where it was: there is nothing to adopt but names.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::net::unix::pipe;

use super::capability::{Capabilities, Link, Tier};
use super::cgroup::{Group, Groups};
use super::error::ExecutorError as Error;
use super::folder::{Control, Folder, Handed, Launch};
use super::job::{JobName, JobSpec, MAX_WALL};
use super::outcome::{Finished, Status};
use super::quota::{self, Quotas};
use super::{Executor, Stream, launcher, probe, supervisor};

/// Most bytes that one call of `output` returns.
const OUTPUT_CHUNK: usize = 512 * 1024;
/// Grace that a supervisor is asked to give at most: a day.
const MAX_GRACE: Duration = Duration::from_secs(24 * 3600);
/// How often a waiter looks at the folder although nothing was signalled: a net under the case
/// that the supervisor ends between two of the waiter's steps.
const RECHECK: Duration = Duration::from_secs(1);

/// The owner's demands on the isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Namespaces, or no jobs at all.
    #[default]
    Required,
    /// Namespaces where they work, else the plain tier. For machines whose jobs are trusted.
    Preferred,
    /// The plain tier. For trusted jobs and for tests.
    Off,
}

/// How to run jobs.
#[derive(Debug, Clone)]
pub struct Config {
    /// The program that calls [`supervisor::run_if_asked`]: normally the node's own,
    /// `/proc/self/exe`.
    pub supervisor: PathBuf,
    /// Socket of a [`launcher`] that starts supervisors in the place of this process.
    pub launcher: Option<PathBuf>,
    /// Where the jobs' folders are; made if absent. For one node only.
    pub jobs: PathBuf,
    /// Folder of the quotas that root has left for jobs, on the file system of their folders; it
    /// may be absent.
    pub quotas: Option<PathBuf>,
    /// Demand on the isolation.
    pub isolation: Isolation,
    /// What the devices of jobs in their leases' networks are; `None` for the best that there is.
    pub link: Option<Link>,
    /// More of the host that jobs may read, absolute paths, such as `/opt/software`.
    pub read_only: Vec<PathBuf>,
    /// Free bytes of the disk below which jobs end, so that the machine has room for what matters
    /// more. 0 for none.
    pub floor: u64,
}

impl Config {
    /// Jobs in `jobs`, this program as supervisor, isolation required.
    pub fn new(jobs: impl Into<PathBuf>) -> Self {
        Self {
            supervisor: "/proc/self/exe".into(),
            launcher: None,
            jobs: jobs.into(),
            quotas: None,
            isolation: Isolation::Required,
            link: None,
            read_only: Vec::new(),
            floor: 0,
        }
    }
}

/// Runs jobs as processes of this machine.
#[derive(Debug)]
pub struct ProcessExecutor {
    config: Config,
    found: OnceLock<(Tier, Link)>,
    /// Control groups of the jobs, where the node was given some.
    groups: Option<Groups>,
    /// Quotas of their disks, if root has left any.
    quotas: Option<Quotas>,
}

impl ProcessExecutor {
    /// Makes the jobs' folder if need be. Nothing is started or probed yet.
    pub fn new(mut config: Config) -> Result<Self, Error> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o711)
            .create(&config.jobs)
            .map_err(Error::Jobs)?;
        config.jobs = config.jobs.canonicalize().map_err(Error::Jobs)?;
        config.read_only.retain(|path| path.is_absolute());
        let own = config.launcher.as_deref().map(launcher::groups);
        let own = own.transpose().map_err(Error::Launcher)?;
        Ok(Self {
            groups: Groups::find(&config.jobs, own.as_deref()),
            quotas: config.quotas.clone().map(Quotas::open),
            config,
            found: OnceLock::new(),
        })
    }

    fn folder(&self, job: &JobName) -> Folder {
        Folder::new(self.config.jobs.join(job.as_str()))
    }

    fn prepared(&self, job: &JobName) -> Result<Folder, Error> {
        let folder = self.folder(job);
        if folder.is_prepared() {
            Ok(folder)
        } else {
            Err(Error::NotPrepared(job.clone()))
        }
    }

    /// The tier that jobs get, and what their devices are: found by a probe the first time.
    fn found(&self) -> Result<(Tier, Link), Error> {
        match self.found.get() {
            Some(found) => Ok(*found),
            None => self.probe().map(|found| (found.tier, found.link)),
        }
    }

    /// Starts a prepared job in a given tier, with that kind of device if it has one.
    pub(super) fn start_in(&self, spec: &JobSpec, tier: Tier, link: Link) -> Result<(), Error> {
        spec.check()?;
        let job = &spec.job;
        let folder = self.prepared(job)?;
        let failed = |action| {
            move |source| Error::Folder {
                job: job.clone(),
                action,
                source,
            }
        };
        let lock = folder.take_lock().map_err(failed("take the lock"))?;
        let (Some(lock), false) = (lock, folder.is_launched()) else {
            return Err(Error::AlreadyStarted(job.clone()));
        };
        let launch = Launch {
            spec: spec.clone(),
            tier,
            link,
            read_only: self.config.read_only.clone(),
            // A probe holds nothing, and tells what the machine can do, not how full it is.
            floor: if job.as_str().starts_with('.') {
                0
            } else {
                self.config.floor
            },
            group: self.group(spec).map_err(failed("make the control group"))?,
        };
        folder
            .write_launch(&launch)
            .map_err(failed("write the launch file"))?;
        self.spawn(&folder, lock).map_err(|e| {
            // Nobody has seen it running: it may be tried again.
            let _ = folder.revoke_launch();
            failed("start the supervisor")(e)
        })
    }

    /// Whether the kernel bounds the disk of a prepared job.
    pub(super) fn has_quota(&self, job: &JobName) -> bool {
        let folder = self.folder(job);
        quota::is_there(&folder.work(), folder.path())
    }

    /// The control groups that bound and weigh whole jobs, where the node has them.
    pub(super) fn groups(&self) -> Option<&Groups> {
        self.groups.as_ref()
    }

    /// A job's own control group. Those of jobs that are gone make room.
    fn group(&self, spec: &JobSpec) -> io::Result<Option<Group>> {
        self.sweep();
        let groups = self.groups.as_ref();
        groups.map(|g| g.add(&spec.job, &spec.limits)).transpose()
    }

    fn sweep(&self) {
        if let Some(groups) = &self.groups {
            groups.sweep(|job| self.config.jobs.join(job).exists());
        }
    }

    fn spawn(&self, folder: &Folder, lock: fs::File) -> io::Result<()> {
        let mut both = fs::OpenOptions::new();
        let alive = both.read(true).write(true).open(folder.alive())?;
        let mut append = fs::OpenOptions::new();
        let log = append
            .create(true)
            .append(true)
            .mode(0o600)
            .open(folder.log())?;
        if let Some(socket) = &self.config.launcher {
            return launcher::start(socket, folder.path(), [&lock, &alive, &log]);
        }
        let status = Command::new(&self.config.supervisor)
            .arg(supervisor::WORD)
            .arg(folder.path())
            .env_clear()
            .stdin(Stdio::from(lock))
            .stdout(Stdio::from(alive))
            .stderr(Stdio::from(log))
            .status()?;
        if status.success() {
            Ok(())
        } else {
            Err(io::Error::other("the supervisor refused"))
        }
    }

    /// Waits for a job's end without polling: `alive` comes to its end when the supervisor does.
    async fn finished(&self, job: &JobName) -> Result<Finished, Error> {
        let failed = |source| Error::Folder {
            job: job.clone(),
            action: "wait for the end",
            source,
        };
        loop {
            let folder = self.prepared(job)?;
            // Opened before the look at the state, so that no end falls between the two.
            let alive = pipe::OpenOptions::new()
                .open_receiver(folder.alive())
                .map_err(failed)?;
            match self.status(job)? {
                Status::Finished(finished) => return Ok(finished),
                Status::Prepared => return Err(Error::NotStarted(job.clone())),
                Status::Starting | Status::Running(_) => {}
            }
            // Nothing is ever written to it; readable means at its end.
            if let Ok(readable) = tokio::time::timeout(RECHECK, alive.readable()).await {
                readable.map_err(failed)?;
                tokio::task::yield_now().await;
            }
        }
    }

    fn names(&self) -> io::Result<Vec<JobName>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.config.jobs)? {
            let name = entry?.file_name();
            names.extend(name.to_str().and_then(|name| JobName::hidden(name).ok()));
        }
        names.sort();
        Ok(names)
    }
}

impl Drop for ProcessExecutor {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Executor for ProcessExecutor {
    fn kind(&self) -> &'static str {
        "process"
    }

    fn probe(&self) -> Result<Capabilities, Error> {
        let found = probe::run(self, self.config.isolation, self.config.link)?;
        let (tier, link) = *self.found.get_or_init(|| (found.tier, found.link));
        Ok(Capabilities {
            tier,
            link,
            ..found
        })
    }

    fn work(&self, job: &JobName) -> PathBuf {
        self.folder(job).work()
    }

    fn kept(&self, job: &JobName) -> PathBuf {
        self.folder(job).kept()
    }

    fn prepare(&self, job: &JobName, disk: u64) -> Result<PathBuf, Error> {
        let folder = self.folder(job);
        match folder.create(self.quotas.as_ref(), disk) {
            Ok(()) => Ok(folder.work()),
            Err(_) if folder.is_launched() => Err(Error::AlreadyStarted(job.clone())),
            Err(_) if folder.is_prepared() => Ok(folder.work()),
            Err(source) => Err(Error::Folder {
                job: job.clone(),
                action: "make the folder",
                source,
            }),
        }
    }

    fn start(&self, spec: &JobSpec) -> Result<(), Error> {
        spec.check()?;
        let (tier, link) = self.found()?;
        self.start_in(spec, tier, link)
    }

    fn status(&self, job: &JobName) -> Result<Status, Error> {
        let folder = self.prepared(job)?;
        let failed = |source| Error::Folder {
            job: job.clone(),
            action: "read the state",
            source,
        };
        folder.status().map_err(failed)
    }

    fn output(&self, job: &JobName, stream: Stream, from: u64) -> Result<Vec<u8>, Error> {
        let folder = self.prepared(job)?;
        let path = match stream {
            Stream::Stdout => folder.stdout(),
            Stream::Stderr => folder.stderr(),
        };
        let read = || -> io::Result<Vec<u8>> {
            let file = fs::File::open(path)?;
            let left = file.metadata()?.len().saturating_sub(from);
            if left == 0 {
                // Not even asked for: the kernel refuses offsets beyond its own range.
                return Ok(Vec::new());
            }
            let size = usize::try_from(left)
                .unwrap_or(OUTPUT_CHUNK)
                .min(OUTPUT_CHUNK);
            let mut bytes = vec![0; size];
            let count = file.read_at(&mut bytes, from)?;
            bytes.truncate(count);
            Ok(bytes)
        };
        read().map_err(|source| Error::Folder {
            job: job.clone(),
            action: "read output",
            source,
        })
    }

    fn stop(&self, job: &JobName, grace: Duration) -> Result<(), Error> {
        let folder = self.prepared(job)?;
        if !folder.is_launched() {
            return Err(Error::NotStarted(job.clone()));
        }
        let grace_ms = u64::try_from(grace.min(MAX_GRACE).as_millis()).unwrap_or(0);
        match folder.send(&Control::Stop { grace_ms }) {
            // If nobody listens the job is over, which is what was asked for.
            Ok(_) => Ok(()),
            Err(source) => Err(Error::Folder {
                job: job.clone(),
                action: "send the stop",
                source,
            }),
        }
    }

    fn renew(&self, job: &JobName, left: Duration) -> Result<(), Error> {
        let folder = self.prepared(job)?;
        let left_ms = u64::try_from(left.min(MAX_WALL).as_millis()).unwrap_or(0);
        match folder.send(&Control::Lease { left_ms }) {
            // If nobody listens there is nothing left to end.
            Ok(_) => Ok(()),
            Err(source) => Err(Error::Folder {
                job: job.clone(),
                action: "renew",
                source,
            }),
        }
    }

    fn handed(&self, job: &JobName) -> Result<Option<Handed>, Error> {
        let handed = self.prepared(job)?.handed();
        handed.map_err(|source| Error::Folder {
            job: job.clone(),
            action: "ask for what the job hands over",
            source,
        })
    }

    fn wait<'a>(&'a self, job: &'a JobName) -> BoxFuture<'a, Result<Finished, Error>> {
        Box::pin(self.finished(job))
    }

    fn recover(&self) -> Result<Vec<(JobName, Status)>, Error> {
        self.sweep();
        let mut found = Vec::new();
        for job in self.names().map_err(Error::Jobs)? {
            let status = match self.status(&job) {
                Ok(status) => status,
                // The node ended while it made this folder: nothing can be in it.
                Err(Error::NotPrepared(_)) => Status::Prepared,
                Err(e) => return Err(e),
            };
            if !job.as_str().starts_with('.') {
                found.push((job, status));
            } else if !matches!(status, Status::Starting | Status::Running(_)) {
                // A probe that the node did not live to clean up after.
                self.cleanup(&job)?;
            }
        }
        Ok(found)
    }

    fn cleanup(&self, job: &JobName) -> Result<(), Error> {
        let folder = self.folder(job);
        if !folder.path().exists() {
            return Ok(());
        }
        if folder.is_prepared()
            && matches!(self.status(job)?, Status::Starting | Status::Running(_))
        {
            return Err(Error::StillRunning(job.clone()));
        }
        let failed = |source| Error::Folder {
            job: job.clone(),
            action: "remove the folder",
            source,
        };
        folder.remove().map_err(failed)?;
        self.sweep();
        Ok(())
    }

    /// Jobs go on, and their groups with them; without jobs no group stays. Jobs that wait to be
    /// started, or cannot be looked at, keep theirs.
    fn leave(&self) {
        let Some(groups) = &self.groups else { return };
        groups.sweep(|name| {
            let folder = Folder::new(self.config.jobs.join(name));
            folder.path().exists() && !matches!(folder.status(), Ok(Status::Finished(_)))
        });
        groups.leave();
    }
}

#[cfg(test)]
mod tests;
