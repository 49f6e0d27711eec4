//! Control groups: what a job weighs when processors are contended, and how much memory, how many
//! processes and how many processors its whole tree may have.
//!
//! Groups are made in these places, and nothing is touched elsewhere:
//!
//! 1. below a folder that was delegated to the node. It is one if the node's own cgroup in it is
//!    called `node` (systemd: `Delegate=yes` and `DelegateSubgroup=node`), or, with version 2, if a
//!    user that is not root may write to the node's own cgroup and is alone in it (`systemd-run
//!    --user --scope -p Delegate=yes gridbay run`): then the node moves into a `node` below;
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
//! 2. In version 2 the controllers that there are, are switched on for `jobs` and what is below.
//! 3. A job's group gets its bounds before anything is in it. The supervisor puts the sandbox's first
//!    process into it before that goes on, and stays outside: who watches a job must not wait for a
//!    turn among all that the job runs.
//! 4. A group is removed once its job's folder is gone and nothing runs in it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::capability::WeightBy;
use super::job::{JobId, Limits};

/// What a node's own cgroup is called in a folder that it owns.
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

/// A hierarchy, or what of it is the jobs'.
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

/// Who looks for groups.
#[derive(Debug, Clone, Copy)]
struct Seeker<'a> {
    /// `/proc/self/cgroup`.
    own: &'a str,
    /// `/proc/self/mountinfo`.
    mounts: &'a str,
    root: bool,
    /// What the folder is called that root makes below its own cgroup.
    name: &'a str,
}

impl Groups {
    /// Those of this process, if there is a place for them and everything can be switched on.
    /// `jobs`: the folder of this node's jobs, which sets it apart from other nodes of this
    /// machine.
    pub(super) fn find(jobs: &Path) -> Option<Groups> {
        use std::os::unix::ffi::OsStrExt as _;
        let read = |path| fs::read_to_string(path).ok();
        let hash = blake3::hash(jobs.as_os_str().as_bytes()).to_hex();
        let seeker = Seeker {
            own: &read("/proc/self/cgroup")?,
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
        let two = seeker.place_in_two().and_then(|(above, name)| {
            let controllers = fs::read_to_string(above.join("cgroup.controllers")).ok()?;
            let there = |name: &&str| controllers.split_whitespace().any(|c| c == *name);
            let has: Vec<_> = CONTROLLERS.into_iter().filter(there).collect();
            has.contains(&"cpu").then(|| Groups {
                two: true,
                hierarchies: vec![Hierarchy {
                    folder: above.join(name),
                    has,
                }],
            })
        });
        two.or_else(|| seeker.places_in_one())
    }

    /// What weighs jobs here, if not nice levels.
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
    pub(super) fn add(&self, job: &JobId, limits: &Limits) -> io::Result<Group> {
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

    /// Step 4, for all groups whose job is not known any more. What cannot be removed yet is left
    /// for the next time.
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
        if two {
            let which: Vec<String> = self.has.iter().map(|name| format!("+{name}")).collect();
            let above = self.folder.parent().unwrap_or(&self.folder);
            for folder in [above, &self.folder] {
                put(&folder.join("cgroup.subtree_control"), &which.join(" "))?;
            }
        }
        Ok(())
    }
}

/// What to write for a job: files of a controller, and their texts.
fn bounds(controller: &str, two: bool, limits: &Limits) -> Vec<(&'static str, String)> {
    let weight = limits.weight;
    let quota = u64::from(limits.processors) * PERIOD_US;
    let processes = (u64::from(limits.processes) + OURS).to_string();
    let bytes = limits.memory_bytes.to_string();
    let mut all = match (controller, two) {
        ("cpu", true) => vec![("cpu.weight", (weight / 10).clamp(1, 10_000).to_string())],
        // A slice weighs what the kernel gives to a group by itself.
        ("cpu", false) => vec![(
            "cpu.shares",
            (weight * 1_024 / 1_000).clamp(2, 1 << 18).to_string(),
        )],
        ("memory", true) => vec![("memory.max", bytes), ("memory.swap.max", "0".to_owned())],
        ("memory", false) => vec![
            ("memory.limit_in_bytes", bytes.clone()),
            ("memory.memsw.limit_in_bytes", bytes),
        ],
        _ => vec![("pids.max", processes)],
    };
    if controller == "cpu" && quota > 0 {
        match two {
            true => all.push(("cpu.max", format!("{quota} {PERIOD_US}"))),
            false => all.extend([
                ("cpu.cfs_period_us", PERIOD_US.to_string()),
                ("cpu.cfs_quota_us", quota.to_string()),
            ]),
        }
    }
    all
}

impl Group {
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

    /// Where the jobs' folder goes in version 2, and what it is called.
    fn place_in_two(&self) -> Option<(PathBuf, &str)> {
        let group = self.group(None)?;
        if let Some(above) = delegated(&group) {
            return Some((above, JOBS));
        }
        // Only the root of all is without a type, and may hold processes beside groups.
        if self.root {
            let top = !group.join("cgroup.type").exists();
            return top.then_some((group, self.name));
        }
        let alone = fs::read_to_string(group.join("cgroup.procs")).ok()?;
        let alone = alone.trim() == std::process::id().to_string();
        let own = group.join(OWN);
        (alone && make(&own).is_ok() && put(&own.join("cgroup.procs"), "0").is_ok())
            .then_some((group, JOBS))
    }

    /// As above in version 1, for each controller that has a hierarchy.
    fn places_in_one(&self) -> Option<Groups> {
        let mut hierarchies: Vec<Hierarchy> = Vec::new();
        for controller in CONTROLLERS {
            let Some(group) = self.group(Some(controller)) else {
                continue;
            };
            let folder = match delegated(&group) {
                Some(above) => above.join(JOBS),
                None if self.root => group.join(self.name),
                None => continue,
            };
            match hierarchies.iter_mut().find(|h| h.folder == folder) {
                Some(same) => same.has.push(controller),
                None => hierarchies.push(Hierarchy {
                    folder,
                    has: vec![controller],
                }),
            }
        }
        (!hierarchies.is_empty()).then_some(Groups {
            two: false,
            hierarchies,
        })
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

    fn seeker<'a>(own: &'a str, mounts: &'a str, root: bool) -> Seeker<'a> {
        Seeker {
            own,
            mounts,
            root,
            name: "gridbay-x",
        }
    }

    fn two(dir: &Path) -> String {
        let at = dir.display();
        format!(
            "30 25 0:26 / /sys rw - sysfs sysfs rw\n31 30 0:27 /box {at} rw,relatime shared:9 - cgroup2 none rw\n"
        )
    }

    const BOUNDS: [(&str, &str); 6] = [
        ("cpu.weight", ""),
        ("cpu.max", ""),
        ("memory.max", ""),
        ("memory.swap.max", ""),
        ("pids.max", ""),
        ("cgroup.procs", ""),
    ];

    #[test]
    fn version_two_is_switched_on_below_a_delegated_folder() {
        let dir = tempfile::tempdir().unwrap();
        let files = [
            ("cgroup.controllers", "cpuset cpu memory pids\n"),
            ("cgroup.subtree_control", ""),
        ];
        let above = folder(dir.path(), "gridbay.service", &files);
        folder(&above, "jobs", &[("cgroup.subtree_control", "")]);
        let mounts = two(dir.path());
        let own = "0::/box/gridbay.service/node\n";
        let groups = Groups::of(seeker(own, &mounts, false)).unwrap();
        assert_eq!(groups.weight_by(), Some(WeightBy::CgroupV2));
        assert!(groups.has("memory") && groups.has("pids"));
        groups.hierarchies[0].switch_on(true).unwrap();
        let read = |path: &str| fs::read_to_string(above.join(path)).unwrap();
        assert_eq!(read("cgroup.subtree_control"), "+cpu +memory +pids");
        assert_eq!(read("jobs/cgroup.subtree_control"), "+cpu +memory +pids");

        let limits = Limits {
            memory_bytes: 1 << 20,
            processes: 10,
            processors: 2,
            ..Limits::default()
        };
        for (name, weight, written) in [
            ("a", 1_000, "100"),
            ("b", 3_000, "300"),
            ("c", 1, "1"),
            ("d", 1_000_000, "10000"),
        ] {
            folder(&above, &format!("jobs/{name}"), &BOUNDS);
            let limits = Limits {
                weight,
                ..limits.clone()
            };
            let group = groups.add(&JobId::new(name).unwrap(), &limits).unwrap();
            assert!(group.memory && group.processes && group.processors);
            let read = |file: &str| read(&format!("jobs/{name}/{file}"));
            assert_eq!(read("cpu.weight"), written);
            assert_eq!(read("cpu.max"), "200000 100000");
            assert_eq!(
                [read("memory.max"), read("memory.swap.max")],
                ["1048576", "0"]
            );
            assert_eq!(read("pids.max"), "11");
            group.take(Pid::from_raw(77)).unwrap();
            assert_eq!(read("cgroup.procs"), "77");
            assert_eq!(group.used(), None);
            let folder = above.join("jobs").join(name);
            fs::write(folder.join("cpuacct.usage"), "2000\n").unwrap();
            assert_eq!(group.used(), Some(Duration::from_nanos(2_000)));
            let stat = "usage_usec 7\nuser_usec 5\n";
            fs::write(folder.join("cpu.stat"), stat).unwrap();
            assert_eq!(group.used(), Some(Duration::from_micros(7)));
        }
    }

    #[test]
    fn a_user_alone_in_a_cgroup_of_his_own_moves_aside() {
        let dir = tempfile::tempdir().unwrap();
        let pid = format!("{}\n", std::process::id());
        for (procs, moves) in [(pid.as_str(), true), ("1\n2\n", false)] {
            let files = [("cgroup.controllers", "cpu"), ("cgroup.procs", procs)];
            let own = folder(dir.path(), &format!("{moves}.scope"), &files);
            folder(&own, "node", &[("cgroup.procs", "")]);
            let line = format!("0::/box/{moves}.scope\n");
            let mounts = two(dir.path());
            let groups = Groups::of(seeker(&line, &mounts, false));
            assert_eq!(groups.is_some(), moves);
            let moved = fs::read_to_string(own.join("node/cgroup.procs")).unwrap();
            assert_eq!(moved == "0", moves);
        }
    }

    #[test]
    fn version_one_serves_where_two_has_no_processors() {
        let dir = tempfile::tempdir().unwrap();
        let above = folder(dir.path(), "cpu/owned", &[]);
        folder(dir.path(), "memory/elsewhere", &[]);
        folder(
            dir.path(),
            "unified/owned",
            &[("cgroup.controllers", "hugetlb\n")],
        );
        let at = dir.path().display();
        let mounts = format!(
            "31 30 0:27 / {at}/unified rw - cgroup2 none rw\n32 30 0:28 / {at}/cpu rw - cgroup none rw,cpu,cpuacct\n\
             33 30 0:29 / {at}/memory rw - cgroup none rw,memory\n"
        );
        let own = "4:memory:/elsewhere\n3:cpuset:/\n1:cpu,cpuacct:/owned/node\n0::/owned/node\n";
        let groups = Groups::of(seeker(own, &mounts, false)).unwrap();
        assert_eq!(groups.weight_by(), Some(WeightBy::CgroupV1));
        assert!(!groups.has("memory") && groups.hierarchies.len() == 1);
        // Root may make groups also where none were delegated.
        let as_root = Groups::of(seeker(own, &mounts, true)).unwrap();
        assert!(as_root.has("memory") && !as_root.has("pids"));
        let below = dir.path().join("memory/elsewhere/gridbay-x");
        assert_eq!(as_root.hierarchies[1].folder, below);

        groups.hierarchies[0].switch_on(false).unwrap();
        folder(&above, "jobs/a", &[("cpu.shares", "    ")]);
        let limits = Limits {
            weight: 3_000,
            ..Limits::default()
        };
        let group = groups.add(&JobId::new("a").unwrap(), &limits).unwrap();
        assert!(!group.memory && group.processors);
        assert_eq!(
            fs::read_to_string(above.join("jobs/a/cpu.shares")).unwrap(),
            "3072"
        );
    }

    #[test]
    fn what_was_not_delegated_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let files = [("cgroup.controllers", "cpu memory\n"), ("cgroup.type", "")];
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
            for root in [false, true] {
                assert_eq!(Groups::of(seeker(own, &mounts, root)), None, "{own}");
            }
        }
        let own = "0::/box/session/node\n";
        assert_eq!(Groups::of(seeker(own, "", false)), None);
        // Delegated, but not writable: no file to switch anything on.
        let groups = Groups::of(seeker(own, &mounts, false)).unwrap();
        assert!(groups.hierarchies[0].switch_on(true).is_err());
    }

    #[test]
    fn groups_go_with_their_jobs() {
        let dir = tempfile::tempdir().unwrap();
        folder(dir.path(), "jobs/known", &[]);
        folder(dir.path(), "jobs/gone", &[]);
        folder(dir.path(), "jobs/busy", &[("a process", "")]);
        let groups = Groups {
            two: false,
            hierarchies: vec![Hierarchy {
                folder: dir.path().join("jobs"),
                has: vec!["cpu"],
            }],
        };
        groups.sweep(|name| name == "known");
        let left = |name: &str| dir.path().join("jobs").join(name).exists();
        assert!(left("known") && left("busy") && !left("gone"));
    }
}
