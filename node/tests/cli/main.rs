//! The program as users meet it: its output, its three-line failures, its exit codes.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod audit;
mod caller;
mod dropped;
mod every;
mod full;
mod handed;
mod join;
mod owner;
mod played;
mod private;
#[path = "../api/served.rs"]
mod served;
mod terminal;
mod top;
mod traces;
mod waiting;
#[path = "../api/world.rs"]
mod world;

use crate::played::{ABSENT, FILE, Jobs, STDOUT};
use crate::served::Served;
use crate::world::{Settings, credits};
use axum::Router;
use gridbay_node::api::types::{JobRecord, JobState};
use gridbay_node::doctor::{Finding, Kind};
use gridbay_protocol::job::{JobExit, content_id};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs the program with `--data` and other words.
async fn gridbay(data: &Path, words: &[&str]) -> Ran {
    Ran::of(command(data, words).output().await.unwrap())
}

fn command(data: &Path, words: &[&str]) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_gridbay"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GRIDBAY_") {
            command.env_remove(name);
        }
    }
    command
        .arg("--data")
        .arg(data)
        .args(words)
        .current_dir(data);
    command
}

impl Ran {
    fn of(done: std::process::Output) -> Ran {
        Ran {
            code: done.status.code().unwrap_or(-1),
            out: String::from_utf8(done.stdout).unwrap(),
            err: String::from_utf8(done.stderr).unwrap(),
        }
    }
    fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.err);
        serde_json::from_str(&self.out).unwrap()
    }
}

/// A node over which such answers are played.
async fn playing(played: Router) -> Served {
    Served::with(&[], Settings::default(), played).await
}

/// A node whose jobs are played, and they.
async fn playing_jobs(jobs: Jobs) -> (Served, Arc<Jobs>) {
    let jobs = Arc::new(jobs);
    (playing(jobs.routes()).await, jobs)
}

#[tokio::test]
async fn run_streams_fetches_and_ends_with_zero() {
    let (at, jobs) = playing_jobs(Jobs::default()).await;
    assert!(at.tcp.is_none(), "TCP is off unless asked for");
    let data = at.world.dir.path();
    fs::write(data.join("prog"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(data.join("prog"), fs::Permissions::from_mode(0o755)).unwrap();
    let words = [
        "run",
        "--max-price",
        "10",
        "--time",
        "30m",
        "--output",
        "out/sum",
        "--env",
        "A=b",
        "--dest",
        "here",
        "--",
        "./prog",
        "-x",
    ];
    let ran = gridbay(data, &words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out.as_bytes(), STDOUT);
    let first = ran.err.lines().next().unwrap();
    assert_eq!(
        first,
        "can cost at most 10 credits (1 node for 30m00s at up to 10 per node-hour); likely 0.5"
    );
    assert!(
        ran.err
            .contains("done, paid 0.25 credits so far, 0.75 still locked, waited 1.5s, ran 1.5s"),
        "{}",
        ran.err
    );
    assert_eq!(fs::read_to_string(data.join("here/out/sum")).unwrap(), FILE);

    let (record, request) = jobs.sent.lock().unwrap()[0].clone();
    assert_eq!(request.argv, ["./prog", "-x"]);
    assert_eq!(request.env, [("A".to_owned(), "b".to_owned())]);
    assert!(request.inputs[0].executable);
    assert_eq!(request.inputs[0].content, content_id(b"#!/bin/sh\n"));
    assert_eq!(request.want.max_price, Some(credits("10")));
    let path = format!("/jobs/{}", record.id);
    let again: JobRecord = at.client().get(&path).await.unwrap();
    assert_eq!(again.state, JobState::Done);
    at.stop().await;
}

#[tokio::test]
async fn run_speaks_of_locked_money_only_where_there_is_some() {
    let (at, _) = playing_jobs(Jobs {
        locked: credits("0"),
        ..Jobs::default()
    })
    .await;
    let ran = gridbay(at.world.dir.path(), &["run", "true"]).await;
    assert!(
        ran.err.contains("done, paid 0.25 credits, waited"),
        "{}",
        ran.err
    );
    at.stop().await;
}

#[tokio::test]
async fn a_result_that_nobody_brought_back_is_a_failure() {
    let (at, _) = playing_jobs(Jobs::default()).await;
    let words = ["run", "--output", ABSENT, "true"];
    let ran = gridbay(at.world.dir.path(), &words).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    for part in [
        "no rank brought back absent",
        "true is the seller's program",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    at.stop().await;
}

#[tokio::test]
async fn run_ends_with_the_jobs_own_code() {
    for (exit, code) in [
        (JobExit::Code(7), 7),
        (JobExit::Signal(9), 137),
        (JobExit::TimeLimit, 8),
        (JobExit::Lost, 1),
        (JobExit::Code(256), 1),
    ] {
        let (at, _) = playing_jobs(Jobs {
            exit,
            ..Jobs::default()
        })
        .await;
        let ran = gridbay(at.world.dir.path(), &["run", "true"]).await;
        assert_eq!(ran.code, code, "{exit:?}");
        let said = match exit {
            JobExit::Code(code) => format!("failed (exit code {code})"),
            JobExit::Signal(signal) => format!("failed (signal {signal})"),
            _ => "failed (exit_code)".to_owned(),
        };
        assert!(ran.err.contains(&said), "{}", ran.err);
        at.stop().await;
    }
}

#[tokio::test]
async fn what_cannot_be_paid_or_met_is_not_sent() {
    let (at, jobs) = playing_jobs(Jobs {
        spendable: credits("5"),
        ..Jobs::default()
    })
    .await;
    let ran = gridbay(at.world.dir.path(), &["run", "-n", "2", "true"]).await;
    assert_eq!(ran.code, 6);
    let said: Vec<_> = ran.err.lines().skip(1).collect();
    assert_eq!(
        said,
        [
            "gridbay: the order was not sent",
            "    why: it can cost 20 credits, 5 can be spent",
            "    try: lower --budget, --max-price, --time or -n; see gridbay ledger balance",
        ]
    );
    let words = ["run", "-n", "9", "--max-price", "0.1", "true"];
    let ran = gridbay(at.world.dir.path(), &words).await;
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(jobs.sent.lock().unwrap().is_empty());
    at.stop().await;
}

#[tokio::test]
async fn detached_jobs_are_found_again() {
    let (at, _) = playing_jobs(Jobs::default()).await;
    let data = at.world.dir.path();
    let ran = gridbay(data, &["run", "--detach", "true"]).await;
    let id = ran.out.trim().to_owned();
    assert_eq!((ran.code, id.len()), (0, 16));
    let list = gridbay(data, &["job", "list", "--all", "-o", "json"])
        .await
        .json();
    assert_eq!(list[0]["id"], id.as_str());
    assert_eq!(list[0]["paid"], "0.25");
    let logs = gridbay(data, &["job", "logs", "--label", &id]).await;
    assert_eq!(logs.out, "0: one\n0: two\n0: three");
    for (word, number, why) in [
        ("--rank", "9", "why: no such rank"),
        ("--attempt", "99", "why: no such attempt"),
    ] {
        let none = gridbay(data, &["job", "logs", &id, word, number]).await;
        assert_eq!(none.code, 3);
        assert!(none.err.contains(why), "{}", none.err);
    }
    let none = gridbay(data, &["job", "logs", "-f", "--rank", "1", &id]).await;
    assert_eq!(none.code, 3, "{}", none.err);
    // A rank of several that has not what was asked for is passed over.
    let ran = gridbay(data, &["run", "--detach", "-n", "2", "true"]).await;
    let logs = gridbay(data, &["job", "logs", "--attempt", "0", ran.out.trim()]).await;
    assert_eq!((logs.code, logs.out.as_bytes()), (0, STDOUT));
    let waited = gridbay(data, &["job", "wait", &id]).await;
    assert_eq!(waited.code, 0, "{}", waited.err);
    assert!(waited.out.starts_with("done, paid 0.25"), "{}", waited.out);
    let open = gridbay(data, &["job", "list"]).await;
    assert_eq!(open.out.lines().count(), 1, "headings only: {}", open.out);
    let run = gridbay(data, &["run", "-o", "json", "true"]).await.json();
    assert_eq!(run["state"], "done");
    at.stop().await;
}

#[tokio::test]
async fn failures_have_three_lines_and_a_code() {
    let at = Served::start(&[]).await;
    let data = at.world.dir.path();
    for (words, code, lines) in [
        (&["job", "describe", "0123456789abcdef"][..], 3, 3),
        (&["invite", "--endowment", "900"], 6, 3),
        (&["ledger", "verify"], 3, 3),
        (&["offer", "withdraw", "3"], 3, 3),
        (&["node", "up"], 3, 3),
        (&["config", "show", "--set", "colour=1"], 2, 3),
    ] {
        let ran = gridbay(data, words).await;
        assert_eq!(ran.code, code, "{words:?}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), lines, "{}", ran.err);
        assert!(ran.err.starts_with("gridbay: ") && ran.out.is_empty());
        let json = gridbay(data, &[words, &["-o", "json"]].concat()).await;
        let told: Value = serde_json::from_str(&json.err).unwrap();
        assert_eq!(
            (json.code, told["exit"].as_i64()),
            (code, Some(code.into()))
        );
        assert!(ran.err.contains(told["why"].as_str().unwrap()), "{told}");
    }
    let wrong = gridbay(data, &["jobs", "-o", "json"]).await;
    let told: Value = serde_json::from_str(&wrong.err).unwrap();
    assert_eq!((wrong.code, told["exit"].as_i64()), (2, Some(2)));
    assert!(told["why"].as_str().unwrap().contains("'jobs'"), "{told}");
    let dir = at.stop().await;
    let ran = gridbay(dir.path(), &["node", "status"]).await;
    assert_eq!(ran.code, 7);
    assert!(
        ran.err.contains("try: start it with gridbay node up"),
        "{}",
        ran.err
    );
}

#[tokio::test]
async fn answers_in_both_forms() {
    let at = playing(played::status().merge(played::closing())).await;
    let data = at.world.dir.path();
    let status = gridbay(data, &["node", "status"]).await;
    assert!(
        status.out.contains("balance     -1.5 free, 2 held\n"),
        "{}",
        status.out
    );
    let words = [
        "offer",
        "set",
        "--class",
        "small",
        "-n",
        "2",
        "--reserve",
        "0.5",
        "-o",
        "json",
    ];
    let offer = gridbay(data, &words).await.json();
    assert_eq!(
        (&offer["label"], &offer["reserve"]),
        (&1.into(), &"0.5".into())
    );
    assert_eq!(
        gridbay(data, &["-o", "json", "node", "drain"]).await.json()["state"],
        "draining"
    );
    let late = gridbay(data, &words).await;
    assert_eq!(late.code, 9, "it sells nothing more: {}", late.err);
    let shown = gridbay(data, &["config", "show", "-o", "json", "--set", "log=warn"])
        .await
        .json();
    let log = shown
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["key"] == "log")
        .unwrap();
    assert_eq!(
        (&log["value"], &log["origin"]),
        (&"warn".into(), &"flag".into())
    );
    let beta = &at.world.genesis.members[1];
    let to = at.world.genesis.account(beta).to_hex();
    let named = gridbay(data, &["ledger", "balance", "--account", &beta.name]).await;
    assert!(named.out.contains(&to), "{}{}", named.out, named.err);
    let nobody = gridbay(data, &["ledger", "transfer", "nobody", "2.5"]).await;
    assert_eq!((nobody.code, nobody.err.lines().count()), (3, 3));
    let moved = gridbay(data, &["ledger", "transfer", &beta.name, "2.5"]).await;
    let height = moved.out.strip_prefix("done at height ").expect("it moves");
    let digits = height.split(|c: char| !c.is_ascii_digit()).next();
    let height: u64 = digits.unwrap().parse().unwrap();
    let block = at.world.backend.block(height).await.unwrap();
    assert!(block.entries > 0, "{}", moved.out);
    let closed = gridbay(data, &["ledger", "close", "--to", &to]).await;
    let says = format!("12.5 credits moved to account {to}\n");
    assert!(
        closed.out.starts_with("closed at height 7"),
        "{}",
        closed.err
    );
    assert!(closed.out.ends_with(&says), "{}", closed.out);
    at.stop().await;
}

#[tokio::test]
async fn peers_are_shown_and_pinged_and_marked() {
    let at = playing(played::peers()).await;
    let data = at.world.dir.path();
    let list = gridbay(data, &["peer", "list"]).await.out;
    for part in [
        "reach     private: through relays, or after a punch\n",
        "nat       cone: direct paths can be punched\n",
        "direct    1 of 1 peers (100 %)\n",
        "ada   direct quic  /ip4/192.0.2.7/udp/7411/quic-v1  1.2 ms",
        "kept,mesh\n",
    ] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let json = gridbay(data, &["peer", "list", "-o", "json"]).await.json();
    assert_eq!(json["peers"][0]["path"], "quic");
    assert_eq!(json["me"]["reach"], "private");
    let ping = gridbay(data, &["peer", "ping", "ada", "--count", "2"]).await;
    let lines: Vec<&str> = ping.out.lines().collect();
    assert!(lines[0].starts_with("1: 12.3 ms  via "), "{}", ping.out);
    assert!(lines[1].ends_with("now direct"), "{}", ping.out);
    assert!(lines[2].starts_with("2 came back, 0 lost"), "{}", ping.out);
    let blocked = gridbay(data, &["peer", "block", "ada"]).await.out;
    assert_eq!(blocked, "ada is blocked\n");
    let freed = gridbay(data, &["peer", "unblock", "ada"]).await.out;
    assert_eq!(freed, "ada is neither blocked nor trusted\n");
    let found = gridbay(data, &["peer", "find", played::PEER]).await;
    assert_eq!((found.code, found.err.lines().count()), (3, 3));
    at.stop().await;
}

#[tokio::test]
async fn the_doctors_code_tells_whether_something_is_wrong() {
    let finding = |kind: Kind| Finding {
        kind,
        severity: kind.severity(),
        what: "what".into(),
        why: "why".into(),
        mend: "mend".into(),
    };
    for (found, code) in [
        (vec![], 0),
        (vec![finding(Kind::SymmetricNat)], 0),
        (vec![finding(Kind::SymmetricNat), finding(Kind::NoPeers)], 1),
    ] {
        let at = playing(played::doctor(&found)).await;
        fs::write(at.world.dir.path().join("genesis.cbor"), "there").unwrap();
        let ran = gridbay(at.world.dir.path(), &["doctor"]).await;
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
        assert_eq!(
            ran.out.matches("    why: why\n    try: mend\n").count(),
            found.len()
        );
        let json = gridbay(at.world.dir.path(), &["doctor", "-o", "json"]).await;
        let list: Vec<Finding> = serde_json::from_str(&json.out).unwrap();
        assert_eq!((list.len(), json.code), (found.len(), code));
        at.stop().await;
    }
}

#[tokio::test]
async fn the_doctor_works_without_a_node() {
    let dir = tempfile::tempdir().unwrap();
    let ran = gridbay(dir.path(), &["doctor"]).await;
    assert_eq!(ran.code, 1);
    assert!(
        ran.out
            .starts_with("1. broken: this folder belongs to no network\n")
    );
    fs::write(dir.path().join("genesis.cbor"), "there").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let listen = format!("listen=[\"/ip4/127.0.0.1/tcp/{port}\"]");
    let ran = gridbay(dir.path(), &["doctor", "--set", &listen]).await;
    let lines: Vec<&str> = ran.out.lines().step_by(3).collect();
    let port = format!("1. broken: the node cannot listen on /ip4/127.0.0.1/tcp/{port}");
    assert_eq!(lines, [port.as_str(), "2. broken: the node does not run"]);
    let ran = gridbay(dir.path(), &["doctor", "--set", "colour=1"]).await;
    assert!(
        ran.out
            .starts_with("1. broken: the settings cannot be used\n")
    );
    assert_eq!(ran.code, 1);
}
