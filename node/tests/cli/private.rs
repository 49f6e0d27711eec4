//! `run` where there is no network: a market of the job's own, and what is left of it.

use crate::{Ran, command, gridbay};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

/// A first job takes no longer than this on a machine that has nothing else to do; there and in a
/// release build `.ci/first-job` requires it.
const FIRST_JOB: Duration = Duration::from_secs(20);
/// For a machine that has.
const PATIENCE: Duration = Duration::from_secs(90);

/// `run` in a folder without a network; whatever it makes for itself lies in `place`.
pub(crate) fn alone(place: &Path, words: &[&str]) -> Command {
    let mut command = command(&place.join("nobody"), words);
    command.env("TMPDIR", place).current_dir(place);
    command
}

pub(crate) fn market(place: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(place)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries.find(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("gridbay-")
    })
}

/// Processes that name a folder in their command lines or work in it.
pub(crate) fn at_work(folder: &Path) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc")
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let names = |process: &PathBuf| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        let cwd = fs::read_link(process.join("cwd")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(folder.to_str().unwrap()) || cwd.starts_with(folder)
    };
    processes.filter(names).collect()
}

/// Starts a job that lasts, and waits until it speaks.
async fn lasting(place: &Path, words: &[&str]) -> Child {
    let mut words = words.to_vec();
    words.extend(["--", "sh", "-c", "echo begun; sleep 600"]);
    let mut run = alone(place, &words).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let first = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
    assert_eq!(first.as_deref(), Some("begun"));
    run
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap())
}

async fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(
            begin.elapsed() < PATIENCE,
            "not within {PATIENCE:?}: {what}"
        );
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn the_first_job_takes_one_command_and_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let run = alone(place.path(), &["run", "--", "echo", "hi"]).output();
    let ran = Ran::of(timeout(PATIENCE, run).await.unwrap().unwrap());
    let took = begin.elapsed();
    eprintln!("the first job took {took:.1?}; {FIRST_JOB:?} are allowed on a quiet machine");
    assert_eq!((ran.code, ran.out.as_str()), (0, "hi\n"), "{}", ran.err);
    assert!(
        ran.err.contains("private market of this machine alone"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("done, paid"), "{}", ran.err);
    assert_eq!(market(place.path()), None);
    assert_eq!(at_work(place.path()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn an_interrupt_ends_job_and_market() {
    let place = tempfile::tempdir().unwrap();
    let mut run = lasting(place.path(), &["run"]).await;
    kill(pid(&run), Signal::SIGINT).unwrap();
    let ended = timeout(PATIENCE, run.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(130));
    assert_eq!(market(place.path()), None);
    assert_eq!(at_work(place.path()), Vec::<PathBuf>::new());
    // Impatience ends no less.
    let mut run = lasting(place.path(), &["run"]).await;
    for _ in 0..2 {
        kill(pid(&run), Signal::SIGINT).unwrap();
        sleep(Duration::from_millis(20)).await;
    }
    let ended = timeout(PATIENCE, run.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(130));
    assert_eq!(market(place.path()), None);
    assert_eq!(at_work(place.path()), Vec::<PathBuf>::new());
}

/// The end of its standard input tells the node, whatever ended the command: a closed terminal too.
#[tokio::test]
async fn nothing_stays_of_a_command_that_is_killed() {
    let place = tempfile::tempdir().unwrap();
    let mut run = lasting(place.path(), &["run"]).await;
    let folder = market(place.path()).unwrap();
    kill(pid(&run), Signal::SIGKILL).unwrap();
    timeout(PATIENCE, run.wait()).await.unwrap().unwrap();
    until("job and node end", || at_work(&folder).is_empty()).await;
    assert_eq!(market(place.path()), None);
}

#[tokio::test]
async fn a_market_that_stays_serves_until_it_is_stopped() {
    let place = tempfile::tempdir().unwrap();
    let words = ["run", "--keep", "--detach", "--", "true"];
    let run = alone(place.path(), &words).output();
    let ran = Ran::of(timeout(PATIENCE, run).await.unwrap().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let folder = market(place.path()).unwrap();
    let end = format!("gridbay --data {} node stop", folder.display());
    assert!(ran.err.contains(&end), "{}", ran.err);
    let waited = gridbay(&folder, &["job", "wait", ran.out.trim()]).await;
    assert_eq!(waited.code, 0, "{}", waited.err);
    let again = gridbay(&folder, &["run", "--buy", "--", "echo", "again"]).await;
    assert_eq!(
        (again.code, again.out.as_str()),
        (0, "again\n"),
        "{}",
        again.err
    );
    let again = gridbay(&folder, &["run", "--keep", "--", "true"]).await;
    assert_eq!(again.code, 2, "{}", again.err);
    let stopped = gridbay(&folder, &["node", "stop"]).await;
    assert_eq!(stopped.code, 0, "{}", stopped.err);
    assert_eq!(at_work(&folder), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn what_a_private_market_cannot_do_is_refused_before_there_is_one() {
    let place = tempfile::tempdir().unwrap();
    for (words, why) in [
        (
            &["run", "--detach", "true"][..],
            "would end with the command",
        ),
        (&["run", "--reserve", "true"], "by bids and buys alone"),
        (&["run", "./no-such-program"], "no-such-program"),
    ] {
        let ran = Ran::of(alone(place.path(), words).output().await.unwrap());
        assert!(ran.code == 2 || ran.code == 3, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
        assert!(
            !ran.err.contains("private market of this machine alone"),
            "{}",
            ran.err
        );
    }
    assert_eq!(market(place.path()), None);
}
