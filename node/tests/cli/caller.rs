//! Who may call the API at all: the owner's programs, and nothing that a job started.

use crate::api_support::Served;
use std::path::Path;
use tokio::process::Command;

/// What supervisors of jobs have as second word.
const WORD: &str = "__supervise";

/// Runs a shell's script from a file called so, with the path of the node's folder in `NODE`.
async fn shell(dir: &Path, file: &str, at: &Served) -> (bool, String) {
    let script = "\"$GRIDBAY\" --data \"$NODE\" node status\n";
    // Directly, in a session of its own, and as an orphan of its parent's parent.
    let deep = format!("( {script} )\n");
    std::fs::write(dir.join(file), deep).unwrap();
    let done = Command::new("sh")
        .arg(file)
        .current_dir(dir)
        .env("GRIDBAY", env!("CARGO_BIN_EXE_gridbay"))
        .env("NODE", at.config.home.path())
        .output();
    let done = done.await.unwrap();
    let said = [done.stdout, done.stderr].concat();
    (
        done.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_descends_from_a_supervisor_of_jobs_is_refused() {
    let at = Served::start(&[], |_| {}).await;
    let dir = tempfile::tempdir().unwrap();
    let (well, said) = shell(dir.path(), "owner", &at).await;
    assert!(well, "{said}");
    assert!(said.contains("ready"), "{said}");
    let (well, said) = shell(dir.path(), WORD, &at).await;
    assert!(!well, "{said}");
}
