//! A log of actions that somebody changed, as the command tells it in each form.

use crate::gridbay;
use gridbay_node::audit::Book;
use std::fs;
use std::path::Path;

/// Each node that begins writes a line.
fn log_of_three(home: &Path) -> std::path::PathBuf {
    for _ in 0..3 {
        Book::open(home).unwrap();
    }
    let mut files = fs::read_dir(home.join("audit")).unwrap();
    let lines = files.find_map(|file| {
        let path = file.unwrap().path();
        path.extension().is_some().then_some(path)
    });
    lines.unwrap()
}

#[tokio::test]
async fn a_log_that_was_changed_is_told_in_every_form() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    let file = log_of_three(home);
    let forms: [&[&str]; 5] = [
        &["audit"],
        &["audit", "-o", "wide"],
        &["audit", "-o", "csv"],
        &["audit", "-q"],
        &["audit", "-o", "json"],
    ];
    for words in forms {
        let ran = gridbay(home, words).await;
        assert_eq!((ran.code, &ran.err[..]), (0, ""), "{words:?}");
    }
    let text = fs::read_to_string(&file).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let changed = rest.replacen("\"done\"", "\"gone\"", 1);
    assert_ne!(changed, rest);
    fs::write(&file, format!("{first}\n{changed}")).unwrap();
    let told = "the log is broken: what follows line 1 is no line of the node's";
    for words in forms {
        let ran = gridbay(home, words).await;
        assert_eq!(ran.code, 1, "{words:?}: {}", ran.err);
        let place = match words.contains(&"json") {
            true => &ran.out,
            false => &ran.err,
        };
        assert!(place.contains(told), "{words:?}: {place}");
    }
}
