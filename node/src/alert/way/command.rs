//! A program that is started for each alert.
//!
//! 1. It is started without a shell, in the data folder, in a process group of its own, with no
//!    variables but [`KEPT`]; its words are thrown away.
//! 2. It gets the alert as JSON on its standard input.
//! 3. It has [`PATIENCE`]; then it is killed with all its processes. Its end with 0 says that the
//!    alert arrived.

use super::super::outbox::Outcome;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

/// Variables that a program gets. Others may hold settings of the node.
const KEPT: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];
/// Time that a program has.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) async fn run(words: (&str, &[String]), folder: &Path, json: &[u8]) -> Outcome {
    run_for(PATIENCE, words, folder, json).await
}

async fn run_for(
    patience: Duration,
    (program, args): (&str, &[String]),
    folder: &Path,
    json: &[u8],
) -> Outcome {
    let kept = KEPT
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let child = Command::new(program)
        .args(args)
        .current_dir(folder)
        .env_clear()
        .envs(kept)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Outcome::Failed(format!("{program} cannot be started: {error}")),
    };
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    let ended = tokio::time::timeout(patience, fed(&mut child, json)).await;
    if let Some(group) = group {
        // Also children that a program which ended in time has left behind; mostly there are none.
        let _gone = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    match ended {
        Ok(Ok(status)) if status.success() => Outcome::Done,
        Ok(Ok(status)) => Outcome::Failed(format!("{program} ended with {status}")),
        Ok(Err(error)) => Outcome::Failed(format!("{program} was lost: {error}")),
        Err(_) => {
            let _reaped = child.wait().await;
            Outcome::Failed(format!(
                "{program} did not end within {} s",
                patience.as_secs()
            ))
        }
    }
}

/// Hands the alert over and waits for the end.
async fn fed(child: &mut Child, json: &[u8]) -> std::io::Result<std::process::ExitStatus> {
    if let Some(mut input) = child.stdin.take() {
        // A program need not read it.
        let _unread = input.write_all(json).await;
    }
    child.wait().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sh(script: &str, folder: &Path) -> Outcome {
        let args = ["-c".to_owned(), script.to_owned()];
        run_for(
            Duration::from_secs(5),
            ("sh", &args),
            folder,
            b"{\"number\":1}",
        )
        .await
    }

    #[tokio::test]
    async fn a_program_gets_the_alert_and_its_end_counts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(sh("cat > got", folder.path()).await, Outcome::Done);
        let got = std::fs::read_to_string(folder.path().join("got")).unwrap();
        assert_eq!(got, "{\"number\":1}");
        assert_eq!(sh("exec 0<&-", folder.path()).await, Outcome::Done);
        assert!(matches!(
            sh("exit 3", folder.path()).await,
            Outcome::Failed(_)
        ));
        let args: [String; 0] = [];
        let none = run(("/nowhere/program", &args), folder.path(), b"{}").await;
        assert!(matches!(none, Outcome::Failed(_)), "{none:?}");
    }

    #[tokio::test]
    async fn no_shell_reads_its_words_and_no_setting_reaches_it() {
        let folder = tempfile::tempdir().unwrap();
        let args = ["$(touch made); touch made".to_owned()];
        run(("echo", &args), folder.path(), b"{}").await;
        assert!(!folder.path().join("made").exists());
        let clean = "test \"$(env | grep -c ^CARGO)\" = 0";
        assert_eq!(sh(clean, folder.path()).await, Outcome::Done);
    }

    #[tokio::test]
    async fn a_program_that_does_not_end_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let args = ["-c".to_owned(), "sleep 60 & echo $! > pid; wait".to_owned()];
        let patience = Duration::from_millis(500);
        let ended = run_for(patience, ("sh", &args), folder.path(), b"{}").await;
        assert!(matches!(ended, Outcome::Failed(_)), "{ended:?}");
        let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        for _ in 0..50 {
            match std::fs::read_to_string(&stat) {
                Ok(stat) if !stat.contains(") Z ") => {}
                _ => return,
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("its child still runs");
    }
}
