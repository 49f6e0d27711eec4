//! A job's folder: the only thing that the node and a supervisor share.
//!
//! ```text
//! work/          the job's work directory, staged by the caller before the start
//! tmp/           the job's /tmp; made with it in a quota, else by the supervisor
//! root/          the mount point of its view, made by the supervisor
//! kept/          what the node keeps of the job: copies of its checkpoint
//! launch.json    what to run; its presence means that the job was started
//! lock           held (flock) by the supervisor for as long as it lives
//! alive          FIFO; the supervisor is its only writer, so readers see its end as end of file
//! control        FIFO; orders to the supervisor, one line of JSON each
//! net            socket; whoever connects is handed the device of the job in its lease's network,
//!                and where its connections to the web arrive
//! state.json     how the job stands, replaced whole, the last version synced to disk
//! stdout stderr  output, up to the cap
//! supervisor.log what the supervisor has to complain about
//! ```
//!
//! The lock is taken by the node before it writes `launch.json` and handed to the supervisor as an
//! open file. So there is no moment at which a started job is unlocked but for the supervisor's
//! end, and no process id has to be believed.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::ErrorKind::{ConnectionRefused, NotFound};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gridbay_vnet::fds;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde::{Deserialize, Serialize};

use super::capability::{Link, Tier};
use super::cgroup::Group;
use super::job::JobSpec;
use super::outcome::{Exit, Finished, Status, Usage};
use super::quota::Quotas;
use super::removal;

/// How long a supervisor may take to hand a device over.
const HANDOVER: Duration = Duration::from_secs(5);
/// What a descriptor that is handed over stands for: a letter each, in their order.
pub(super) const DEVICE: u8 = b'd';
/// The same for a socket that listens for connections to the web.
pub(super) const WEB: u8 = b'w';
/// Largest file of the folder's own that is read back.
const MAX_FILE: u64 = 1 << 20;

/// The order to a supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Launch {
    pub(super) spec: JobSpec,
    pub(super) tier: Tier,
    /// What its device is, if it has one.
    #[serde(default)]
    pub(super) link: Link,
    pub(super) read_only: Vec<PathBuf>,
    /// Free bytes of the disk below which the job ends.
    #[serde(default)]
    pub(super) floor: u64,
    /// The control group that the supervisor is to enter.
    #[serde(default)]
    pub(super) group: Option<Group>,
}

/// An order to a running supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Control {
    /// SIGTERM to all, after the grace SIGKILL.
    Stop { grace_ms: u64 },
    /// From now on the job may run for so long and no longer, whatever it was told before.
    Lease { left_ms: u64 },
}

/// What a job hands to the node that looks after it.
#[derive(Debug)]
pub struct Handed {
    /// A TUN device, or the packet socket that stands for one: packets with the kernel's header for
    /// offloads. `None` if it is in no network.
    pub device: Option<OwnedFd>,
    /// A socket that listens on the job's own loopback, for its connections to the web. `None` if
    /// it makes none.
    pub web: Option<OwnedFd>,
    /// Comes to its end with the job.
    pub ends: UnixStream,
}

/// The paths of one job's folder.
#[derive(Debug, Clone)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// The job's `/tmp`, once it is made.
    pub(super) fn tmp(&self) -> PathBuf {
        self.0.join("tmp")
    }

    /// What the caller keeps of the job, once it has made it.
    pub(super) fn kept(&self) -> PathBuf {
        self.0.join("kept")
    }

    pub(super) fn alive(&self) -> PathBuf {
        self.0.join("alive")
    }

    pub(super) fn control(&self) -> PathBuf {
        self.0.join("control")
    }

    /// The socket of a networked job, made by its supervisor.
    pub(super) fn net(&self) -> PathBuf {
        self.0.join("net")
    }

    /// Asks the supervisor for what the job hands over; `None` if it offers nothing.
    pub(super) fn handed(&self) -> io::Result<Option<Handed>> {
        // By a descriptor: the names of sockets are short, and those of folders may be long.
        let folder = File::open(&self.0)?;
        let path = format!("/proc/self/fd/{}/net", folder.as_raw_fd());
        let ends = match UnixStream::connect(path) {
            Ok(ends) => ends,
            Err(e) if matches!(e.kind(), NotFound | ConnectionRefused) => return Ok(None),
            Err(e) => return Err(e),
        };
        ends.set_read_timeout(Some(HANDOVER))?;
        let mut letters = [0; fds::FDS_MAX];
        let (count, fds) = fds::recv(&ends, &mut letters)?;
        ends.set_read_timeout(None)?;
        let (mut device, mut web) = (None, None);
        for (letter, fd) in letters.into_iter().take(count).zip(fds) {
            match letter {
                DEVICE => device = Some(fd),
                WEB => web = Some(fd),
                _ => {}
            }
        }
        Ok(Some(Handed { device, web, ends }))
    }

    pub(super) fn log(&self) -> PathBuf {
        self.0.join("supervisor.log")
    }

    pub(super) fn stdout(&self) -> PathBuf {
        self.0.join("stdout")
    }

    pub(super) fn stderr(&self) -> PathBuf {
        self.0.join("stderr")
    }

    fn launch(&self) -> PathBuf {
        self.0.join("launch.json")
    }

    fn state(&self) -> PathBuf {
        self.0.join("state.json")
    }

    fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    /// Makes the folder of a job that may hold so many bytes; `work` last, so that its presence
    /// means that all is there.
    ///
    /// The folder can be passed through but not listed by others: in the plain tier a job of
    /// another user must reach its work directory.
    pub(super) fn create(&self, quotas: Option<&Quotas>, disk: u64) -> io::Result<()> {
        DirBuilder::new().mode(0o711).create(&self.0)?;
        for fifo in [self.alive(), self.control()] {
            mkfifo(&fifo, Mode::S_IRUSR | Mode::S_IWUSR)?;
        }
        for file in [self.lock(), self.stdout(), self.stderr()] {
            private().create_new(true).open(file)?;
        }
        if quotas.is_some_and(|all| all.make(disk, [&self.tmp(), &self.work()])) {
            return Ok(());
        }
        DirBuilder::new().mode(0o700).create(self.work())
    }

    /// Whether [`Folder::create`] came to its end.
    pub(super) fn is_prepared(&self) -> bool {
        self.work().is_dir()
    }

    /// Whether the job was started.
    pub(super) fn is_launched(&self) -> bool {
        self.launch().exists()
    }

    /// The lock, held; `None` if a supervisor holds it.
    pub(super) fn take_lock(&self) -> io::Result<Option<File>> {
        let file = private().open(self.lock())?;
        Ok(is_taken(file.try_lock())?.then_some(file))
    }

    /// Whether a supervisor is alive.
    fn is_locked(&self) -> io::Result<bool> {
        Ok(!is_taken(File::open(self.lock())?.try_lock_shared())?)
    }

    pub(super) fn write_launch(&self, launch: &Launch) -> io::Result<()> {
        self.replace(&self.launch(), &serde_json::to_vec(launch)?, false)
    }

    /// Takes a launch back whose supervisor could not be executed.
    pub(super) fn revoke_launch(&self) -> io::Result<()> {
        fs::remove_file(self.launch())
    }

    pub(super) fn read_launch(&self) -> io::Result<Launch> {
        read_json(&self.launch())
    }

    /// Writes the state. A final one is on the disk before it can be seen.
    pub(super) fn write_state(&self, status: &Status) -> io::Result<()> {
        let last = matches!(status, Status::Finished(_));
        self.replace(&self.state(), &serde_json::to_vec(status)?, last)
    }

    fn read_state(&self) -> io::Result<Option<Status>> {
        match read_json(&self.state()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }

    /// How the job stands.
    ///
    /// 1. A final state is the truth, whether or not a process lives.
    /// 2. Otherwise the lock tells whether somebody still works on it.
    /// 3. If not, the end may have been written between the two looks: look again, else it is lost.
    pub(super) fn status(&self) -> io::Result<Status> {
        if !self.is_launched() {
            return Ok(Status::Prepared);
        }
        let first = self.read_state()?;
        if let Some(Status::Finished(_)) = first {
            return Ok(first.unwrap_or(Status::Starting));
        }
        if self.is_locked()? {
            return Ok(first.unwrap_or(Status::Starting));
        }
        let started = match self.read_state()? {
            Some(last @ Status::Finished(_)) => return Ok(last),
            Some(Status::Running(started)) => Some(started),
            _ => None,
        };
        let lost = Finished {
            started,
            exit: Exit::Lost,
            usage: Usage::default(),
        };
        Ok(Status::Finished(lost))
    }

    /// Sends an order. False if nobody listens any more.
    pub(super) fn send(&self, control: &Control) -> io::Result<bool> {
        let mut line = serde_json::to_vec(control)?;
        line.push(b'\n');
        let fifo = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(self.control());
        match fifo {
            Ok(mut fifo) => fifo.write_all(&line).map(|()| true),
            Err(e) if e.raw_os_error() == Some(libc::ENXIO) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Replaces a file so that readers see the old or the new one, whole.
    fn replace(&self, path: &Path, content: &[u8], durable: bool) -> io::Result<()> {
        let fresh = path.with_extension("new");
        let mut file = private().create(true).truncate(true).open(&fresh)?;
        file.write_all(content)?;
        if durable {
            file.sync_all()?;
        }
        fs::rename(&fresh, path)?;
        if durable {
            File::open(&self.0)?.sync_all()?;
        }
        Ok(())
    }

    /// Removes the folder with all that the job left in it.
    pub(super) fn remove(&self) -> io::Result<()> {
        removal::remove(&self.0)
    }

    /// Removes what the job wrote, of a job that is over.
    pub(super) fn drop_files(&self) -> io::Result<()> {
        removal::empty(&self.work())?;
        self.drop_temporary()
    }

    /// Removes the job's `/tmp`, of a job that is over.
    pub(super) fn drop_temporary(&self) -> io::Result<()> {
        removal::remove(&self.tmp())
    }
}

/// Opens for reading and writing; a new file is the owner's alone.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

/// Whether a lock was taken, not held by another open file. It lives as long as any copy of the
/// open file, in any process.
fn is_taken(tried: Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> io::Result<T> {
    let file = File::open(path)?;
    if file.metadata()?.len() > MAX_FILE {
        return Err(io::Error::other("the file is too large"));
    }
    Ok(serde_json::from_reader(io::BufReader::new(file))?)
}

#[cfg(test)]
mod tests {
    use super::super::job::JobName;
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::thread;
    use std::time::{Duration, Instant};

    fn prepared(dir: &Path) -> Folder {
        let folder = Folder::new(dir.join("job"));
        folder.create(None, 0).unwrap();
        folder
    }

    fn launch() -> Launch {
        let spec = JobSpec::new(JobName::new("job").unwrap(), ["true"]);
        Launch {
            spec,
            tier: Tier::Plain,
            link: Link::Tun,
            group: None,
            read_only: Vec::new(),
            floor: 0,
        }
    }

    #[test]
    fn a_lock_outlives_the_file_that_took_it_in_its_copies() {
        let dir = tempfile::tempdir().unwrap();
        let folder = prepared(dir.path());
        let first = folder.take_lock().unwrap().unwrap();
        let copy = first.try_clone().unwrap();
        drop(first);
        assert!(folder.is_locked().unwrap());
        drop(copy);
        assert!(!folder.is_locked().unwrap());
    }

    #[test]
    fn a_job_is_starting_while_locked_and_lost_when_not() {
        let dir = tempfile::tempdir().unwrap();
        let folder = prepared(dir.path());
        assert_eq!(folder.status().unwrap(), Status::Prepared);
        let lock = folder.take_lock().unwrap().unwrap();
        folder.write_launch(&launch()).unwrap();
        assert_eq!(folder.read_launch().unwrap(), launch());
        assert_eq!(folder.status().unwrap(), Status::Starting);
        assert!(folder.take_lock().unwrap().is_none());
        drop(lock);
        let (began, mut status) = (Instant::now(), folder.status().unwrap());
        // A child that another test forks holds the lock as well, until it executes its program.
        while status == Status::Starting && began.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(5));
            status = folder.status().unwrap();
        }
        let Status::Finished(end) = status else {
            panic!("must be over: {status:?}")
        };
        assert_eq!(end.exit, Exit::Lost);
    }

    #[test]
    fn a_final_state_counts_even_while_locked() {
        let dir = tempfile::tempdir().unwrap();
        let folder = prepared(dir.path());
        let _lock = folder.take_lock().unwrap().unwrap();
        folder.write_launch(&launch()).unwrap();
        let end = Finished {
            started: None,
            exit: Exit::Exited(3),
            usage: Usage::default(),
        };
        let end = Status::Finished(end);
        folder.write_state(&end).unwrap();
        assert_eq!(folder.status().unwrap(), end);
    }

    #[test]
    fn nobody_listening_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        let folder = prepared(dir.path());
        assert!(!folder.send(&Control::Stop { grace_ms: 1 }).unwrap());
    }

    #[test]
    fn closed_directories_are_removed_and_links_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "x").unwrap();
        let folder = prepared(dir.path());
        let closed = folder.work().join("closed");
        fs::create_dir(&closed).unwrap();
        std::os::unix::fs::symlink(&kept, closed.join("link")).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        folder.remove().unwrap();
        assert!(!folder.path().exists());
        assert!(kept.join("file").exists());
    }
}
