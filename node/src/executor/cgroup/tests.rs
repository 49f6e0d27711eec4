//! Against folders that look as the kernel's.

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
        let group = groups.add(&JobName::new(name).unwrap(), &limits).unwrap();
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
    let group = groups.add(&JobName::new("a").unwrap(), &limits).unwrap();
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
