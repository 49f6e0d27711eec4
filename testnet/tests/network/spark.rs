//! The example of Spark in `examples/spark`, as its documentation runs it, on real nodes: the count
//! of words over all ranks is that of one process.
//!
//! It runs where the example finds Spark, Java and Python under `/usr`, which jobs see. Elsewhere
//! the test says what is missing.

use crate::cluster::no_device;
use crate::{PATIENCE, program, turn};
use gridbay_testnet::Progress;
use gridbay_testnet::network::{Network, Plan, RunFolder, cli};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const RANKS: usize = 3;

fn not_run(why: &str) {
    let _ = writeln!(std::io::stderr().lock(), "NOT RUN: Spark standalone: {why}");
}

/// A file of the example.
fn example(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.join("examples/spark").join(name)
}

/// What this machine lacks, in the words of the example itself.
fn lacking() -> Option<String> {
    let mut check = Command::new("sh");
    // Jobs have no setting of this process.
    check.env_remove("SPARK_HOME");
    let done = check.arg(example("spark.sh")).arg("--check").output();
    let done = done.unwrap();
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    match done.status.code() {
        Some(0) => None,
        Some(3) => Some(said),
        code => panic!("the example's check ended with {code:?}: {said}"),
    }
}

/// A text whose words differ in how often they stand there.
fn text() -> String {
    let mut text = String::new();
    for i in 0..2_000_u32 {
        let words = [i % 7, i % 31, i * i % 101].map(|n| format!("w{n}"));
        writeln!(text, "{}", words.join(" ")).unwrap();
    }
    text
}

/// What the example has to print, by one process.
fn serial(text: &str) -> String {
    let mut counts = BTreeMap::<&str, u32>::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let hosts: String = (0..RANKS).map(|rank| format!(" rank{rank}")).collect();
    let lines = counts.iter().map(|(word, n)| format!("{word} {n}\n"));
    format!("counted by{hosts}\n{}", lines.collect::<String>())
}

#[tokio::test]
async fn spark_counts_words_on_all_ranks_as_one_process_does() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    if let Some(why) = no_device(dir.path()) {
        return not_run(&format!("jobs have no device here: {why}"));
    }
    if let Some(why) = lacking() {
        return not_run(&why);
    }
    let text = text();
    let input = dir.path().join("text.txt");
    std::fs::write(&input, &text).unwrap();
    let folder = RunFolder::create_in(dir.path(), "spark").unwrap();
    let quiet = Progress::silent();
    let plan = Plan::local("spark", RANKS, 1);
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    let mut network = started.await.unwrap();

    let ranks = RANKS.to_string();
    let mut words = vec!["run", "-n", &ranks, "--class", "large", "--max-price", "40"];
    words.extend(["--time", "400s", "--hosts"]);
    let files = [example("spark.sh"), example("words.py"), input];
    let files = files.map(|file| file.display().to_string());
    for file in &files {
        words.extend(["--input", file]);
    }
    words.extend(["--", "sh", "spark.sh", "words.py", "text.txt"]);
    let data = network.node("b1").home.path();
    let printed = cli::run(network.program(), data, &words).await;
    assert_eq!(printed.unwrap(), serial(&text));
    network.stop().unwrap();
}
