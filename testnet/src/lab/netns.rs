//! Network namespaces from within: a thread of its own enters one, does something, and ends.
//!
//! A thread's namespace is inherited by the processes that it starts and by the sockets that it
//! opens; both keep it wherever they are used afterwards. So no other thread ever changes place.

use anyhow::{Context as _, anyhow};
use nix::sched::{CloneFlags, setns};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;

/// Where `ip netns` keeps names.
const NAMES: &str = "/run/netns";

/// The namespace of a machine. No lab's name has a `-`, so it is never another lab's.
pub(super) fn namespace(lab: &str, machine: &str) -> String {
    format!("{lab}-{machine}")
}

/// Path of a namespace by its name.
pub(super) fn path(name: &str) -> PathBuf {
    Path::new(NAMES).join(name)
}

/// The identity of the namespace that a path leads to: two paths or processes with equal identities
/// are in the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Of the namespace at `path`; `None` if there is none.
    pub(super) fn of(path: &Path) -> Option<Identity> {
        let found = fs::metadata(path).ok()?;
        Some(Identity {
            device: found.dev(),
            inode: found.ino(),
        })
    }
    /// Of the namespace that a process is in.
    pub(super) fn of_process(pid: i32) -> Option<Identity> {
        Identity::of(Path::new(&format!("/proc/{pid}/ns/net")))
    }
}

/// Does `work` inside the namespace at `path`, and returns what it returned.
pub(crate) fn inside<T: Send>(path: &Path, work: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
    thread::scope(|scope| {
        let entered = scope.spawn(|| {
            enter(path)?;
            Ok(work())
        });
        let done: thread::Result<anyhow::Result<T>> = entered.join();
        done.map_err(|_| anyhow!("the work inside {} panicked", path.display()))?
    })
}

/// This thread goes into a namespace for good.
pub(super) fn enter(path: &Path) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| format!("no namespace {}", path.display()))?;
    setns(file, CloneFlags::CLONE_NEWNET)
        .with_context(|| format!("cannot enter {}", path.display()))
}
