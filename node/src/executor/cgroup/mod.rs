//! Control groups: a job's weight when processors are contended, and the memory, processes and
//! processors that its whole tree may have.
//!
//! Groups are made in these places, and nothing is touched elsewhere:
//!
//! 1. below a folder that was delegated to the node. It is one if the node's own cgroup in it is
//!    called `node` (systemd: `Delegate=yes` and `DelegateSubgroup=node`), or, with version 2, if a
//!    user that is not root may write to the node's own cgroup and is alone in it (`systemd-run
//!    --user --scope -p Delegate=yes gridbay node up`): then the node moves into a `node` below;
//! 2. if the node is root, below its own cgroup in each hierarchy of version 1, and below the root
//!    of version 2 if the node is there.
//!
//! ```text
//! <delegated>/node                  the node            <own>             a node that is root
//! <delegated>/node, <own>           supervisors too
//! <delegated>/jobs/<job>            all that a supervisor starts   <own>/gridbay-<hash>/<job>
//! ```
//!
//! 1. Version 2 serves if it has the `cpu` controller, else the hierarchies of version 1 that can
//!    be had.
//! 2. In version 2 all available controllers are switched on for `jobs` and the groups below.
//! 3. A job's group gets its bounds before anything is in it. The supervisor puts the sandbox's
//!    first process into it before that goes on, and stays outside: the watcher of a job must not
//!    wait for a turn among the job's processes.
//! 4. A group is removed once its job's folder is gone and nothing runs in it; those of ended jobs
//!    also as the node ends.

mod one;
mod two;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::capability::WeightBy;
use super::job::{JobName, Limits};

/// Name of a node's own cgroup in a folder that it owns.
const OWN: &str = "node";
/// Where the jobs' groups are, beside it.
const JOBS: &str = "jobs";
/// Controllers that bound a job.
const CONTROLLERS: [&str; 3] = ["cpu", "memory", "pids"];
/// Microseconds after which a job's processor time is reckoned anew: the kernel's default.
const PERIOD_US: u64 = 100_000;
/// Processes of a group that are not the job's: *init*.
const OURS: u64 = 1;

/// A job's own groups, and what they bound.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Group {
    folders: Vec<PathBuf>,
    /// The memory of all its processes together.
    pub(super) memory: bool,
    /// How many they are.
    pub(super) processes: bool,
    /// How many processors they keep busy.
    pub(super) processors: bool,
}

/// A hierarchy, or the jobs' part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hierarchy {
    /// Where the jobs' groups are.
    folder: PathBuf,
    /// Its controllers among [`CONTROLLERS`].
    has: Vec<&'static str>,
}

/// The groups of a node's jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Groups {
    two: bool,
    hierarchies: Vec<Hierarchy>,
}

/// The user that looks for groups.
#[derive(Debug, Clone, Copy)]
struct Seeker<'a> {
    /// `/proc/self/cgroup`.
    own: &'a str,
    /// `/proc/self/mountinfo`.
    mounts: &'a str,
    root: bool,
    /// Name of the folder that root makes below its own cgroup.
    name: &'a str,
}

impl Groups {
    /// Those of this process, if there is a place for them and everything can be switched on.
    /// `jobs`: the folder of this node's jobs, which sets it apart from other nodes of this
    /// machine. `launched`: the groups of the launcher in whose place this process looks, if there
    /// is one.
    pub(super) fn find(jobs: &Path, launched: Option<&str>) -> Option<Groups> {
        use std::os::unix::ffi::OsStrExt as _;
        let read = |path| fs::read_to_string(path).ok();
        let hash = blake3::hash(jobs.as_os_str().as_bytes()).to_hex();
        let seeker = Seeker {
            own: &launched
                .map(str::to_owned)
                .or_else(|| read("/proc/self/cgroup"))?,
            mounts: &read("/proc/self/mountinfo")?,
            root: nix::unistd::geteuid().is_root(),
            name: &format!("gridbay-{}", hash.get(..16)?),
        };
        let mut groups = Groups::of(seeker)?;
        groups.hierarchies.retain(|hierarchy| {
            let failed = hierarchy.switch_on(groups.two).err();
            if let Some(error) = &failed {
                let folder = hierarchy.folder.display();
                tracing::warn!(%folder, %error, "no control groups here");
            }
            failed.is_none()
        });
        (!groups.hierarchies.is_empty()).then_some(groups)
    }

    /// Step 1, from the texts of the kernel: this process's groups, and what is mounted where.
    fn of(seeker: Seeker<'_>) -> Option<Groups> {
        two::find(seeker).or_else(|| one::find(seeker))
    }

    /// The controllers that weigh jobs here, in place of nice levels.
    pub(super) fn weight_by(&self) -> Option<WeightBy> {
        self.has("cpu").then_some(match self.two {
            true => WeightBy::CgroupV2,
            false => WeightBy::CgroupV1,
        })
    }

    /// Whether a job is bounded by this controller.
    pub(super) fn has(&self, controller: &str) -> bool {
        self.hierarchies.iter().any(|h| h.has.contains(&controller))
    }

    /// Makes the groups of a job.
    pub(super) fn add(&self, job: &JobName, limits: &Limits) -> io::Result<Group> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for hierarchy in &self.hierarchies {
            // Another node of this folder may have taken it away as it ended.
            if !hierarchy.folder.exists() {
                hierarchy.switch_on(self.two)?;
            }
            let folder = hierarchy.folder.join(job.as_str());
            make(&folder)?;
            for controller in &hierarchy.has {
                for (file, text) in bounds(controller, self.two, limits) {
                    match put(&folder.join(file), &text) {
                        // Kernels without swap, or without its accounting, have no file for it.
                        Err(e) if file.contains("sw") && e.kind() == io::ErrorKind::NotFound => {}
                        done => done?,
                    }
                }
            }
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        Ok(Group {
            folders,
            memory: self.has("memory"),
            processes: self.has("pids"),
            processors: self.has("cpu"),
        })
    }

    /// Takes away the folders of the jobs' groups if nothing is left in them.
    pub(super) fn leave(&self) {
        for hierarchy in &self.hierarchies {
            let _busy = fs::remove_dir(&hierarchy.folder);
        }
    }

    /// Step 4, for all groups whose job is not known any more. A group that cannot be removed yet
    /// is left for the next time.
    pub(super) fn sweep(&self, known: impl Fn(&str) -> bool) {
        for hierarchy in &self.hierarchies {
            let entries = fs::read_dir(&hierarchy.folder).into_iter().flatten();
            let entries = entries.flatten();
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            for entry in folders {
                if entry.file_name().to_str().is_some_and(|name| !known(name)) {
                    let _busy = fs::remove_dir(entry.path());
                }
            }
        }
    }
}

impl Hierarchy {
    /// Step 2.
    fn switch_on(&self, two: bool) -> io::Result<()> {
        make(&self.folder)?;
        match two {
            true => two::switch_on(self),
            false => Ok(()),
        }
    }
}

/// The settings of a job: files of a controller, and their texts.
fn bounds(controller: &str, two: bool, limits: &Limits) -> Vec<(&'static str, String)> {
    match two {
        true => two::bounds(controller, limits),
        false => one::bounds(controller, limits),
    }
}

/// Microseconds of processor time that a job has in each period; `None` for any.
fn quota(limits: &Limits) -> Option<u64> {
    let quota = u64::from(limits.processors) * PERIOD_US;
    (quota > 0).then_some(quota)
}

/// The number of processes, the same in both versions.
fn processes(limits: &Limits) -> (&'static str, String) {
    let most = u64::from(limits.processes) + OURS;
    ("pids.max", most.to_string())
}

impl Group {
    /// Where they are.
    #[cfg(test)]
    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Puts a process into them.
    pub(super) fn take(&self, pid: Pid) -> io::Result<()> {
        let mut folders = self.folders.iter();
        folders.try_for_each(|folder| put(&folder.join("cgroup.procs"), &pid.to_string()))
    }

    /// Processor time that all have used that ever were in them, where the kernel tells.
    pub(super) fn used(&self) -> Option<Duration> {
        let read = |folder: &Path, name| fs::read_to_string(folder.join(name)).ok();
        let two = |folder: &Path| {
            let text = read(folder, "cpu.stat")?;
            let line = text.lines().find_map(|l| l.strip_prefix("usage_usec "))?;
            line.trim().parse().ok().map(Duration::from_micros)
        };
        let one = |folder: &Path| {
            let text = read(folder, "cpuacct.usage")?;
            text.trim().parse().ok().map(Duration::from_nanos)
        };
        let mut folders = self.folders.iter();
        folders.find_map(|folder| two(folder).or_else(|| one(folder)))
    }
}

impl Seeker<'_> {
    /// This process's own group in version 2, or in version 1's hierarchy of a controller.
    fn group(&self, controller: Option<&str>) -> Option<PathBuf> {
        let named = |list: &str| list.split(',').any(|name| Some(name) == controller);
        let mut lines = self.own.lines().map(|line| line.splitn(3, ':'));
        let path = lines.find_map(|mut parts| {
            let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
            let found = match controller {
                None => number == "0" && controllers.is_empty(),
                Some(_) => named(controllers),
            };
            found.then_some(path)
        })?;
        let mut mounts = self.mounts.lines().filter_map(Mount::read);
        let mount = mounts.find(|mount| match controller {
            None => mount.kind == "cgroup2",
            Some(_) => mount.kind == "cgroup" && named(mount.options),
        })?;
        let below = Path::new(path).strip_prefix(mount.root).ok()?;
        Some(Path::new(mount.at).join(below))
    }
}

/// The folder above a group, if that is called `node`.
fn delegated(group: &Path) -> Option<PathBuf> {
    let is_ours = group.file_name().is_some_and(|name| name == OWN);
    is_ours
        .then(|| group.parent().map(Path::to_owned))
        .flatten()
}

/// A line of mountinfo.
struct Mount<'a> {
    root: &'a str,
    at: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn read(line: &'a str) -> Option<Mount<'a>> {
        let (what, how) = line.split_once(" - ")?;
        let (mut what, mut how) = (what.split(' ').skip(3), how.split(' '));
        Some(Mount {
            root: what.next()?,
            at: what.next()?,
            kind: how.next()?,
            options: how.nth(1)?,
        })
    }
}

fn make(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Writes to a file of the kernel's, which must be there.
fn put(path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests;
