//! Output that is nowhere: how much of it is told, and what to do.

use crate::played::{ABSENT, Jobs, LOUD};
use crate::{gridbay, playing_jobs};

#[tokio::test]
async fn output_that_was_dropped_is_told_wherever_it_is_shown() {
    let (at, _) = playing_jobs(Jobs::default()).await;
    let words = ["run", "--name", LOUD, "--time", "10", "true"];
    let ran = gridbay(at.world.dir.path(), &words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = "the program is ended after 10 s; for minutes write --time 10m";
    assert!(ran.err.contains(told), "{}", ran.err);
    let id = ran.err.lines().find_map(|line| line.split("job ").nth(1));
    let id = id.expect("its id").trim().to_owned();
    for words in [
        ["job", "wait", &id],
        ["job", "logs", &id],
        ["job", "get", &id],
    ] {
        let told = gridbay(at.world.dir.path(), &words).await;
        for part in ["40 bytes of the output were dropped", "--output"] {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
            assert!(told.err.contains(part), "{words:?}: {}", told.err);
        }
    }
    let shown = gridbay(at.world.dir.path(), &["job", "describe", &id]).await;
    let part = "rank 0: code 0, 40 bytes of output dropped";
    assert!(shown.out.contains(part), "{}", shown.out);
    at.stop().await;
}

#[tokio::test]
async fn programs_are_told_which_output_is_missing() {
    let (at, _) = playing_jobs(Jobs::default()).await;
    let words = ["-o", "json", "run", "--output", ABSENT, "true"];
    let ran = gridbay(at.world.dir.path(), &words).await;
    let last = ran.err.lines().last().unwrap();
    let told: serde_json::Value = serde_json::from_str(last).unwrap();
    assert_eq!((ran.code, &told["exit"]), (1, &1.into()), "{last}");
    assert_eq!(told["details"]["missing"], serde_json::json!([ABSENT]));
    let record: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(record["state"], "done", "the record comes as ever");
    at.stop().await;
}
