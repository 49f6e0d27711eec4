//! Against the control groups of this machine, where it lends some.

#![allow(
    clippy::print_stdout,
    reason = "a test that can try nothing here must say so"
)]

use super::super::outcome::Usage;
use super::*;
use crate::executor::Exit;
use nix::unistd::Pid;

/// The groups of a job that `prepare` knows, and that ended if `over`.
fn job(executor: &ProcessExecutor, name: &str, over: bool) -> Option<Group> {
    let job = JobName::new(name).unwrap();
    executor.prepare(&job, 0).unwrap();
    let group = executor
        .groups
        .as_ref()?
        .add(&job, &JobSpec::new(job.clone(), ["true"]).limits);
    let folder = executor.folder(&job);
    if over {
        let launch = Launch {
            spec: JobSpec::new(job, ["true"]),
            tier: Tier::Plain,
            link: Link::Tun,
            group: None,
            read_only: Vec::new(),
            floor: 0,
        };
        folder.write_launch(&launch).unwrap();
        let end = Finished {
            started: None,
            exit: Exit::Exited(0),
            usage: Usage::default(),
        };
        folder.write_state(&Status::Finished(end)).unwrap();
    }
    group.ok()
}

#[test]
fn an_executor_that_leaves_keeps_the_groups_of_jobs_that_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let executor = ProcessExecutor::new(Config::new(dir.path().join("jobs"))).unwrap();
    let made = (
        job(&executor, "over", true),
        job(&executor, "busy", true),
        job(&executor, "waits", false),
    );
    let (Some(over), Some(busy), Some(waits)) = made else {
        println!("NOT TRIED: this machine lends no control groups to this user");
        return;
    };
    let mut process = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(process.id()).unwrap());
    busy.take(pid).unwrap();

    executor.leave();
    let here = |group: &Group| group.folders().iter().filter(|f| f.exists()).count();
    let all = |group: &Group| group.folders().len();
    assert_eq!(here(&over), 0, "nothing is in it");
    assert_eq!(here(&busy), all(&busy), "a process is in it");
    assert_eq!(here(&waits), all(&waits), "its job may be about to start");

    process.kill().unwrap();
    process.wait().unwrap();
    for name in ["over", "busy", "waits"] {
        executor.cleanup(&JobName::new(name).unwrap()).unwrap();
    }
    let above: Vec<PathBuf> = over
        .folders()
        .iter()
        .filter_map(|f| f.parent())
        .map(Into::into)
        .collect();
    drop(executor);
    assert!(above.iter().all(|folder| !folder.exists()), "{above:?}");
}
