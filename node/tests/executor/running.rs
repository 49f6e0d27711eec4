//! Jobs from their start to their end: codes, output, environment, life cycle.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use gridbay_node::executor::{
    Executor, ExecutorError, Exit, Isolation, JobSpec, Status, Stream, Tier,
};

use super::bench::{Bench, PATIENCE, id, in_each_tier, processes_with, until};

#[test]
fn codes_and_signals_arrive_as_they_were() {
    in_each_tier(|bench| {
        assert_eq!(bench.sh("zero", "exit 0").exit, Exit::Exited(0));
        assert_eq!(bench.sh("seven", "exit 7").exit, Exit::Exited(7));
        assert_eq!(bench.sh("kill", "kill -KILL $$").exit, Exit::Signaled(9));
        assert_eq!(bench.sh("segv", "kill -SEGV $$").exit, Exit::Signaled(11));
        assert_eq!(bench.sh("realtime", "kill -40 $$").exit, Exit::Signaled(40));
        let missing = bench.run(&JobSpec::new(id("missing"), ["no-such-program"]));
        assert_eq!(missing.exit, Exit::Exited(127));
        assert!(
            bench
                .read("missing", Stream::Stderr)
                .contains("cannot execute no-such-program")
        );
    });
}

#[test]
fn a_program_in_the_work_directory_runs_there() {
    in_each_tier(|bench| {
        let work = bench.work("relative");
        fs::write(
            work.join("program"),
            "#!/bin/sh\ncat input; pwd; echo \"$GRIDBAY_WORK\"\n",
        )
        .unwrap();
        fs::set_permissions(work.join("program"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(work.join("input"), "hello\n").unwrap();
        let end = bench.run(&JobSpec::new(id("relative"), ["./program"]));
        assert_eq!(end.exit, Exit::Exited(0));
        let said = bench.stdout("relative");
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[0], "hello");
        assert_eq!(lines[1], lines[2], "the current directory is GRIDBAY_WORK");
        let inside = if bench.tier() == Tier::Namespaces {
            Path::new("/work")
        } else {
            &work
        };
        assert_eq!(Path::new(lines[1]), inside);
    });
}

#[test]
fn output_is_kept_up_to_the_cap_and_read_in_pieces() {
    in_each_tier(|bench| {
        let mut spec = bench.shell("talk", "echo err >&2; seq 1 300000");
        spec.limits.output_bytes = 1_000_000;
        let end = bench.run(&spec);
        assert_eq!(end.exit, Exit::Exited(0), "a talkative job is not ended");
        let whole: String = (1..=300_000).map(|n| format!("{n}\n")).collect();
        assert_eq!(bench.stdout("talk"), whole[..1_000_000]);
        assert_eq!(end.usage.output_dropped, whole.len() as u64 - 1_000_000);
        assert_eq!(bench.read("talk", Stream::Stderr), "err\n");
        let from = |offset| {
            bench
                .executor
                .output(&spec.job, Stream::Stdout, offset)
                .unwrap()
        };
        assert_eq!(from(999_995), whole.as_bytes()[999_995..1_000_000]);
        assert!(from(1_000_000).is_empty() && from(u64::MAX).is_empty());
    });
}

#[test]
fn output_can_be_read_while_the_job_runs() {
    in_each_tier(|bench| {
        let spec = bench.shell("stream", "echo first; read line < gate; echo $line");
        let work = bench.work("stream");
        let made = Command::new("mkfifo")
            .arg(work.join("gate"))
            .status()
            .unwrap();
        assert!(made.success());
        bench.start(&spec);
        until("the first line", || bench.stdout("stream") == "first\n");
        assert!(matches!(
            bench.executor.status(&spec.job).unwrap(),
            Status::Running(_)
        ));
        fs::write(work.join("gate"), "second\n").unwrap();
        assert_eq!(bench.wait(&spec.job).exit, Exit::Exited(0));
        assert_eq!(bench.stdout("stream"), "first\nsecond\n");
    });
}

#[test]
fn the_environment_is_the_given_one() {
    in_each_tier(|bench| {
        let mut spec = JobSpec::new(id("env"), ["env"]);
        spec.env.insert("GREETING".into(), "a b=c".into());
        bench.run(&spec);
        let said = bench.stdout("env");
        let names: Vec<&str> = said.lines().filter_map(|l| l.split('=').next()).collect();
        let expected = [
            "GREETING",
            "GRIDBAY_JOB",
            "GRIDBAY_WORK",
            "HOME",
            "PATH",
            "TMPDIR",
        ];
        assert_eq!(names, expected, "{said}");
        assert!(said.contains("GREETING=a b=c\n") && said.contains("GRIDBAY_JOB=env\n"));
    });
}

#[test]
fn stdin_is_empty_and_nothing_else_is_open() {
    in_each_tier(|bench| {
        bench.sh(
            "fds",
            "cat; for f in /proc/self/fd/*; do echo ${f##*/}; done",
        );
        let said = bench.stdout("fds");
        // The shell's own listing may hold one descriptor more, for the directory.
        let beyond = said
            .lines()
            .filter(|l| l.parse::<u32>().is_ok_and(|n| n > 2))
            .count();
        assert!(beyond <= 1, "{said}");
    });
}

#[test]
fn a_job_is_prepared_started_and_cleaned_once() {
    in_each_tier(|bench| {
        let run = &bench.executor;
        let spec = bench.shell("once", "read line < gate");
        assert!(matches!(
            run.start(&spec),
            Err(ExecutorError::NotPrepared(_))
        ));
        let work = bench.work("once");
        assert_eq!(bench.work("once"), work, "preparing again is harmless");
        assert_eq!(run.status(&spec.job).unwrap(), Status::Prepared);
        assert!(
            Command::new("mkfifo")
                .arg(work.join("gate"))
                .status()
                .unwrap()
                .success()
        );
        run.start(&spec).unwrap();
        assert!(matches!(
            run.start(&spec),
            Err(ExecutorError::AlreadyStarted(_))
        ));
        assert!(matches!(
            run.prepare(&spec.job, spec.limits.disk_bytes),
            Err(ExecutorError::AlreadyStarted(_))
        ));
        assert!(matches!(
            run.cleanup(&spec.job),
            Err(ExecutorError::StillRunning(_))
        ));
        fs::write(work.join("gate"), "go\n").unwrap();
        bench.wait(&spec.job);
        assert!(matches!(
            run.start(&spec),
            Err(ExecutorError::AlreadyStarted(_))
        ));
        run.cleanup(&spec.job).unwrap();
        run.cleanup(&spec.job).unwrap();
        assert_eq!(
            fs::read_dir(bench.dir.path().join("jobs")).unwrap().count(),
            0
        );
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(
            !mounts.contains(&bench.dir.path().display().to_string()),
            "{mounts}"
        );
    });
}

#[test]
fn twenty_jobs_at_a_time() {
    in_each_tier(|bench| {
        let names: Vec<String> = (0..20).map(|n| format!("job-{n}")).collect();
        for (n, name) in names.iter().enumerate() {
            bench.start(&bench.shell(name, &format!("echo {n}; exit {n}")));
        }
        for (n, name) in names.iter().enumerate() {
            assert_eq!(
                bench.wait(&id(name)).exit,
                Exit::Exited(i32::try_from(n).unwrap())
            );
            assert_eq!(bench.stdout(name), format!("{n}\n"));
            bench.executor.cleanup(&id(name)).unwrap();
        }
        let mark = bench.dir.path().display().to_string();
        until("no supervisor is left", || processes_with(&mark).is_empty());
    });
}

#[test]
fn many_waiters_hear_of_one_end() {
    let bench = Bench::new(Isolation::Preferred);
    let spec = bench.shell("waiters", "sleep 0.2; exit 4");
    bench.start(&spec);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let run = &bench.executor;
    let (a, b) = runtime.block_on(async { tokio::join!(run.wait(&spec.job), run.wait(&spec.job)) });
    assert_eq!(a.unwrap(), b.unwrap());
}

#[test]
fn starting_a_job_takes_milliseconds() {
    let bench = Bench::new(Isolation::Preferred);
    let tier = bench.tier();
    let mut spawns: Vec<u64> = (0..20)
        .map(|_| bench.executor.probe().unwrap().spawn_us)
        .collect();
    spawns.sort_unstable();
    println!(
        "spawn in tier {tier}: median {} us, worst {} us",
        spawns[10], spawns[19]
    );
    assert!(spawns[0] > 0 && Duration::from_micros(spawns[0]) < PATIENCE);
}
