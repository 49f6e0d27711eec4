//! Trees that will not die, supervisors and nodes that do.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use gridbay_node::executor::descent::is_of_a_job;
use gridbay_node::executor::{Executor, Exit, Isolation, JobSpec, KillReason, Status};

use super::bench::{
    Bench, PATIENCE, executor, id, in_each_tier, numbered_with, odd_seconds, processes_with, until,
    wait, with_namespaces,
};

#[test]
fn the_wall_limit_leaves_no_process() {
    in_each_tier(|bench| {
        let mark = odd_seconds(1);
        let script = format!(
            "trap '' TERM HUP INT
             setsid sh -c \"trap '' TERM; setsid sleep {mark} & sleep {mark}\" &
             (sh -c 'sleep {mark} & sleep {mark} &' &)
             echo up
             while :; do sleep {mark}; done"
        );
        let mut spec = bench.shell("tree", &script);
        spec.limits.wall = Duration::from_millis(700);
        bench.start(&spec);
        until("the tree is up", || {
            processes_with(&format!("sleep {mark}")).len() >= 4
        });
        let end = bench.wait(&spec.job);
        assert_eq!(end.exit, Exit::TimeLimit);
        assert_eq!(processes_with(&mark), Vec::<String>::new());
        assert!(end.usage.wall_ns >= 700_000_000);
    });
}

#[test]
fn what_a_job_leaves_behind_ends_with_it() {
    in_each_tier(|bench| {
        let mark = odd_seconds(2);
        let end = bench.sh("orphans", &format!("setsid sleep {mark} & exit 5"));
        assert_eq!(end.exit, Exit::Exited(5));
        assert_eq!(processes_with(&mark), Vec::<String>::new());
    });
}

#[test]
fn a_stop_with_grace_lets_the_job_save() {
    in_each_tier(|bench| {
        // Short sleeps: a shell runs its trap only when the command in front of it has ended.
        let script = "trap 'echo saved > checkpoint; exit 3' TERM
            echo up; while :; do sleep 0.01; done";
        let spec = bench.shell("save", script);
        bench.start(&spec);
        until("the trap is set", || bench.stdout("save") == "up\n");
        bench.executor.stop(&spec.job, PATIENCE).unwrap();
        assert_eq!(bench.wait(&spec.job).exit, Exit::Exited(3));
        let saved = fs::read_to_string(bench.work_of("save").join("checkpoint")).unwrap();
        assert_eq!(saved, "saved\n");
        bench.executor.stop(&spec.job, PATIENCE).unwrap();
    });
}

#[test]
fn a_stop_ends_the_deaf_after_the_grace() {
    in_each_tier(|bench| {
        let mark = odd_seconds(4);
        let script = format!("trap '' TERM; echo up; while :; do sleep {mark}; done");
        let spec = bench.shell("deaf", &script);
        bench.start(&spec);
        until("the trap is set", || bench.stdout("deaf") == "up\n");
        bench
            .executor
            .stop(&spec.job, Duration::from_millis(50))
            .unwrap();
        let killed = Exit::Killed {
            reason: KillReason::Stopped,
        };
        assert_eq!(bench.wait(&spec.job).exit, killed);
        assert_eq!(processes_with(&mark), Vec::<String>::new());
    });
}

/// Names the jobs folder to a copy of this program that plays a node.
const HELPER: &str = "GRIDBAY_TEST_NODE";

/// Not a test of its own: executed again by the next one, it plays the node that gets killed.
#[test]
fn node_that_starts_a_job_and_hangs() {
    let Some(jobs) = std::env::var_os(HELPER) else {
        return;
    };
    let isolation = Isolation::Preferred;
    let executor = executor(Path::new(&jobs), isolation);
    let mut spec = JobSpec::new(
        id("orphan"),
        ["/bin/sh", "-c", "read code < gate; exit $code"],
    );
    spec.limits.wall = PATIENCE;
    let work = executor.prepare(&spec.job, spec.limits.disk_bytes).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(work.join("gate"))
            .status()
            .unwrap()
            .success()
    );
    executor.start(&spec).unwrap();
    std::thread::sleep(PATIENCE * 2);
}

#[test]
fn a_job_outlives_the_node_and_is_found_again() {
    let bench = Bench::new(Isolation::Preferred);
    println!("tier: {}", bench.tier());
    let jobs = bench.dir.path().join("jobs");
    let mut node = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "survival::node_that_starts_a_job_and_hangs"])
        .env(HELPER, &jobs)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let job = id("orphan");
    let running = || matches!(bench.executor.status(&job), Ok(Status::Running(_)));
    until("the job runs", running);
    node.kill().unwrap();
    node.wait().unwrap();

    let restarted = executor(&jobs, Isolation::Preferred);
    let found = restarted.recover().unwrap();
    assert!(
        matches!(&found[..], [(found, Status::Running(_))] if *found == job),
        "{found:?}"
    );
    fs::write(bench.work_of("orphan").join("gate"), "23\n").unwrap();
    assert_eq!(wait(&restarted, &job).exit, Exit::Exited(23));
    restarted.cleanup(&job).unwrap();
}

#[test]
fn a_job_whose_supervisor_is_killed_is_lost_and_gone() {
    with_namespaces(|bench| {
        let mark = odd_seconds(5);
        let spec = bench.shell("lost", &format!("setsid sleep {mark} & sleep {mark}"));
        bench.start(&spec);
        until("the job runs", || {
            processes_with(&format!("sleep {mark}")).len() >= 2
        });
        let started = bench.started(&spec.job);
        let supervisor = nix::unistd::Pid::from_raw(started.supervisor);
        nix::sys::signal::kill(supervisor, nix::sys::signal::Signal::SIGKILL).unwrap();
        let end = bench.wait(&spec.job);
        assert_eq!((end.exit, end.started), (Exit::Lost, Some(started)));
        until("the sandbox died with it", || {
            processes_with(&mark).is_empty()
        });
        bench.executor.cleanup(&spec.job).unwrap();
    });
}

/// A mark that a job can neither take off nor put on tells where a process comes from whose
/// ancestors are gone.
#[test]
fn who_outlives_its_supervisor_is_still_known_as_a_job() {
    let bench = Bench::new(Isolation::Off);
    let mark = odd_seconds(7);
    let script = format!("setsid sleep {mark} & wait");
    let spec = bench.shell("daemon", &script);
    bench.start(&spec);
    let exact = format!("sleep {mark} ");
    let daemons = || {
        let all = numbered_with(&exact).into_iter();
        let all = all.filter(|(_, line)| line.starts_with(&exact));
        all.map(|(pid, _)| pid).collect::<Vec<_>>()
    };
    until("the job runs", || !daemons().is_empty());
    let supervisor = nix::unistd::Pid::from_raw(bench.started(&spec.job).supervisor);
    nix::sys::signal::kill(supervisor, nix::sys::signal::Signal::SIGKILL).unwrap();
    assert_eq!(bench.wait(&spec.job).exit, Exit::Lost);
    let left = daemons();
    let of_jobs: Vec<_> = left.iter().map(|pid| is_of_a_job(*pid, None)).collect();
    for pid in &left {
        let pid = nix::unistd::Pid::from_raw(*pid);
        let _ended = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
    }
    assert!(!left.is_empty(), "nothing outlived its supervisor");
    assert!(
        of_jobs.iter().all(|of_a_job| *of_a_job),
        "{left:?} {of_jobs:?}"
    );
    let mut own = Command::new("sleep").arg("60").spawn().unwrap();
    let free = !is_of_a_job(i32::try_from(own.id()).unwrap(), None);
    own.kill().unwrap();
    own.wait().unwrap();
    assert!(free, "the owner's own programs bear no mark");
}

#[test]
fn a_terminated_supervisor_gives_its_job_a_grace() {
    in_each_tier(|bench| {
        let mark = odd_seconds(6);
        let script = format!("echo up; sleep {mark}");
        let spec = bench.shell("shutdown", &script);
        bench.start(&spec);
        until("the job runs", || bench.stdout("shutdown") == "up\n");
        let started = bench.started(&spec.job);
        let supervisor = nix::unistd::Pid::from_raw(started.supervisor);
        nix::sys::signal::kill(supervisor, nix::sys::signal::Signal::SIGTERM).unwrap();
        // The shell is ended by the signal, or returns 128 + 15 for its child that was.
        let exit = bench.wait(&spec.job).exit;
        let killed = Exit::Killed {
            reason: KillReason::Shutdown,
        };
        assert!(exit == killed || exit == Exit::Exited(143), "{exit:?}");
    });
}
