//! Control groups: what a job weighs when processors are contended, and the memory of its whole tree.
//!
//! A node owns the folder above its own cgroup if that cgroup is called `node`: whoever starts it so has delegated the
//! folder to it (systemd: `Delegate=cpu memory` and `DelegateSubgroup=node`). Elsewhere nothing is touched, and jobs
//! weigh by their nice levels.
//!
//! ```text
//! <delegated>/node          the node
//! <delegated>/jobs/<job>    a supervisor, and all that it starts
//! ```
//!
//! 1. The hierarchy is version 2 if it has the `cpu` controller, else version 1's of `cpu`.
//! 2. In version 2 the controllers `cpu`, and `memory` if there is one, are switched on for `jobs` and what is below.
//! 3. A job's group gets its weight before the supervisor enters it; the supervisor enters it before it starts anything.
//! 4. A group is removed once its job's folder is gone and nothing runs in it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::capability::WeightBy;
use super::job::{JobId, Limits};

/// What a node's own cgroup is called in a folder that it owns.
const OWN: &str = "node";
/// Where the jobs' groups are, beside it.
const JOBS: &str = "jobs";

/// The groups of a node's jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Groups {
    folder: PathBuf,
    version: WeightBy,
    memory: bool,
}

impl Groups {
    /// Those of this process, if its folder was delegated and everything can be switched on.
    pub(super) fn find() -> Option<Groups> {
        let read = |path| fs::read_to_string(path).ok();
        let groups = Groups::named(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?)?;
        match groups.switch_on() {
            Ok(()) => Some(groups),
            Err(error) => {
                let folder = groups.folder.display();
                tracing::warn!(%folder, %error, "no control groups; jobs weigh by nice levels");
                None
            }
        }
    }

    /// Step 1, from the texts of the kernel: this process's groups, and what is mounted where.
    fn named(own: &str, mounts: &str) -> Option<Groups> {
        let two = delegated(own, mounts, WeightBy::CgroupV2).and_then(|above| {
            let controllers = fs::read_to_string(above.join("cgroup.controllers")).ok()?;
            let has = |name| controllers.split_whitespace().any(|c| c == name);
            has("cpu").then(|| Groups {
                folder: above.join(JOBS),
                version: WeightBy::CgroupV2,
                memory: has("memory"),
            })
        });
        let one = || {
            let above = delegated(own, mounts, WeightBy::CgroupV1)?;
            Some(Groups {
                folder: above.join(JOBS),
                version: WeightBy::CgroupV1,
                memory: false,
            })
        };
        two.or_else(one)
    }

    /// Step 2.
    fn switch_on(&self) -> io::Result<()> {
        make(&self.folder)?;
        if self.version == WeightBy::CgroupV2 {
            let which = if self.memory { "+cpu +memory" } else { "+cpu" };
            let above = self.folder.parent().unwrap_or(&self.folder);
            for folder in [above, &self.folder] {
                put(&folder.join("cgroup.subtree_control"), which)?;
            }
        }
        Ok(())
    }

    /// What weighs jobs here.
    pub(super) fn weight_by(&self) -> WeightBy {
        self.version
    }

    /// Whether the memory of a whole job is bounded.
    pub(super) fn bounds_memory(&self) -> bool {
        self.memory
    }

    /// Makes the group of a job, and says where.
    pub(super) fn add(&self, job: &JobId, limits: &Limits) -> io::Result<PathBuf> {
        let group = self.folder.join(job.as_str());
        make(&group)?;
        let (file, weight) = match self.version {
            // A slice weighs what the kernel gives to a group by itself.
            WeightBy::CgroupV1 => (
                "cpu.shares",
                (limits.weight * 1_024 / 1_000).clamp(2, 1 << 18),
            ),
            _ => ("cpu.weight", (limits.weight / 10).clamp(1, 10_000)),
        };
        put(&group.join(file), &weight.to_string())?;
        if self.memory {
            let bytes = limits.memory_bytes.to_string();
            put(&group.join("memory.max"), &bytes)?;
        }
        Ok(group)
    }

    /// Step 4, for all groups whose job is not known any more. What cannot be removed yet is left for the next time.
    pub(super) fn sweep(&self, known: impl Fn(&str) -> bool) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        for entry in folders {
            if entry.file_name().to_str().is_some_and(|name| !known(name)) {
                let _busy = fs::remove_dir(entry.path());
            }
        }
    }
}

/// Puts this process into a group.
pub(super) fn enter(group: &Path) -> io::Result<()> {
    put(&group.join("cgroup.procs"), "0")
}

/// The folder above this process's own group, if that is called `node`.
fn delegated(own: &str, mounts: &str, version: WeightBy) -> Option<PathBuf> {
    let two = version == WeightBy::CgroupV2;
    let mut lines = own.lines().map(|line| line.splitn(3, ':'));
    let path = lines.find_map(|mut parts| {
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let found = match two {
            true => number == "0" && controllers.is_empty(),
            false => controllers.split(',').any(|name| name == "cpu"),
        };
        found.then_some(path)
    })?;
    let mut mounts = mounts.lines().filter_map(Mount::read);
    let mount = mounts.find(|mount| match two {
        true => mount.kind == "cgroup2",
        false => mount.kind == "cgroup" && mount.options.split(',').any(|name| name == "cpu"),
    })?;
    let below = Path::new(path).strip_prefix(mount.root).ok()?;
    let group = Path::new(mount.at).join(below);
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
mod tests {
    use super::*;

    /// A folder that looks as the kernel's: control files do not appear by themselves.
    fn folder(dir: &Path, path: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = dir.join(path);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
        folder
    }

    fn two(dir: &Path) -> String {
        let at = dir.display();
        format!(
            "30 25 0:26 / /sys rw - sysfs sysfs rw\n31 30 0:27 /box {at} rw,relatime shared:9 - cgroup2 none rw\n"
        )
    }

    #[test]
    fn version_two_is_switched_on_below_a_delegated_folder() {
        let dir = tempfile::tempdir().unwrap();
        let above = folder(
            dir.path(),
            "gridbay.service",
            &[
                ("cgroup.controllers", "cpuset cpu memory\n"),
                ("cgroup.subtree_control", ""),
            ],
        );
        folder(&above, "jobs", &[("cgroup.subtree_control", "")]);
        let own = "0::/box/gridbay.service/node\n";
        let groups = Groups::named(own, &two(dir.path())).unwrap();
        assert_eq!(
            (groups.weight_by(), groups.bounds_memory()),
            (WeightBy::CgroupV2, true)
        );
        groups.switch_on().unwrap();
        let read = |path: &str| fs::read_to_string(above.join(path)).unwrap();
        assert_eq!(read("cgroup.subtree_control"), "+cpu +memory");
        assert_eq!(read("jobs/cgroup.subtree_control"), "+cpu +memory");

        let files = [
            ("cpu.weight", "100\n"),
            ("memory.max", "max\n"),
            ("cgroup.procs", ""),
        ];
        folder(&above, "jobs/a", &files);
        let job = JobId::new("a").unwrap();
        for (weight, written) in [
            (1_000, "100"),
            (3_000, "300"),
            (1, "1"),
            (1_000_000, "10000"),
        ] {
            let limits = Limits {
                weight,
                memory_bytes: 1 << 20,
                ..Limits::default()
            };
            let group = groups.add(&job, &limits).unwrap();
            let text = fs::read_to_string(group.join("cpu.weight")).unwrap();
            assert!(text.starts_with(written), "{weight}: {text}");
            assert!(read("jobs/a/memory.max").starts_with("1048576"));
            enter(&group).unwrap();
        }
        assert_eq!(read("jobs/a/cgroup.procs"), "0");
    }

    #[test]
    fn version_one_serves_where_two_has_no_processors() {
        let dir = tempfile::tempdir().unwrap();
        let above = folder(dir.path(), "cpu/owned", &[]);
        folder(
            dir.path(),
            "unified/owned",
            &[("cgroup.controllers", "hugetlb\n")],
        );
        let at = dir.path().display();
        let mounts = format!(
            "31 30 0:27 / {at}/unified rw - cgroup2 none rw\n32 30 0:28 / {at}/cpu rw - cgroup none rw,cpu,cpuacct\n"
        );
        let own = "3:cpuset:/\n1:cpu,cpuacct:/owned/node\n0::/owned/node\n";
        let groups = Groups::named(own, &mounts).unwrap();
        assert_eq!(
            (groups.weight_by(), groups.bounds_memory()),
            (WeightBy::CgroupV1, false)
        );
        groups.switch_on().unwrap();
        folder(&above, "jobs/a", &[("cpu.shares", "    ")]);
        let limits = Limits {
            weight: 3_000,
            ..Limits::default()
        };
        groups.add(&JobId::new("a").unwrap(), &limits).unwrap();
        assert_eq!(
            fs::read_to_string(above.join("jobs/a/cpu.shares")).unwrap(),
            "3072"
        );
    }

    #[test]
    fn what_was_not_delegated_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let files = [("cgroup.controllers", "cpu memory\n")];
        folder(dir.path(), "session", &files);
        folder(dir.path(), "", &files);
        let mounts = two(dir.path());
        for own in [
            "0::/box/session\n",
            "0::/box\n",
            "0::/\n",
            "0::/elsewhere/node\n",
            "",
            "x",
        ] {
            assert_eq!(Groups::named(own, &mounts), None, "{own}");
        }
        assert_eq!(Groups::named("0::/box/session/node\n", ""), None);
        // Delegated, but not writable: no file to switch anything on.
        let groups = Groups::named("0::/box/session/node\n", &mounts).unwrap();
        assert!(groups.switch_on().is_err());
    }

    #[test]
    fn groups_go_with_their_jobs() {
        let dir = tempfile::tempdir().unwrap();
        folder(dir.path(), "jobs/known", &[]);
        folder(dir.path(), "jobs/gone", &[]);
        folder(dir.path(), "jobs/busy", &[("a process", "")]);
        let groups = Groups {
            folder: dir.path().join("jobs"),
            version: WeightBy::CgroupV1,
            memory: false,
        };
        groups.sweep(|name| name == "known");
        let left = |name: &str| dir.path().join("jobs").join(name).exists();
        assert!(left("known") && left("busy") && !left("gone"));
    }
}
