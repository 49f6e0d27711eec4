//! Callers of the API: the owner's programs are served, and processes that a job started are not.

use crate::served::Served;
use tokio::join;
use tokio::process::Command;

/// The second word of job supervisors' command lines.
const WORD: &str = "__supervise";

/// Ways from a shell to a command that calls the node: a child, and a grandchild in a session of
/// its own.
const WAYS: [&str; 2] = [
    r#"( "$GRIDBAY" --data "$NODE" node status )"#,
    r#"setsid -w sh -c '"$GRIDBAY" --data "$NODE" node status; exit $?'"#,
];

/// Runs a shell's script from a file called so. Whether the command did well, and what it said.
async fn shell(file: &str, script: &str, at: &Served) -> (bool, String) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(file), script).unwrap();
    let done = Command::new("sh")
        .arg(file)
        .current_dir(dir.path())
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
async fn what_descends_from_a_supervisor_of_jobs_is_hung_up_on() {
    let at = Served::start(&[]).await;
    for way in WAYS {
        let (well, said) = shell("owner", way, &at).await;
        assert!(well && said.contains("ready"), "{way}: {said}");
        let (refused, owner) = join!(shell(WORD, way, &at), shell("owner", way, &at));
        let (well, said) = refused;
        assert!(
            !well && said.contains("the node broke off"),
            "{way}: {said}"
        );
        assert!(!said.contains("ready"), "{way}: {said}");
        let (well, said) = owner;
        assert!(well, "{way}, beside one that is refused: {said}");
    }
    at.stop().await;
}
