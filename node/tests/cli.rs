//! The program as users meet it: its output, its three-line failures, its exit codes.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod api_support;

use api_support::{STDOUT, Served, credits};
use gridbay_node::api::types::{JobRecord, JobState};
use gridbay_node::doctor::{Finding, Kind};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::invitation::{Grant, Invitation, SignedGrant};
use gridbay_protocol::job::{JobExit, content_id};
use gridbay_protocol::keys::SecretKey;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs the program with `--data` and other words.
async fn gridbay(data: &Path, words: &[&str]) -> Ran {
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
    let done = command.output().await.unwrap();
    Ran {
        code: done.status.code().unwrap_or(-1),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

impl Ran {
    fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.err);
        serde_json::from_str(&self.out).unwrap()
    }
}

#[tokio::test]
async fn run_streams_fetches_and_ends_with_zero() {
    let at = Served::start(&[], |_| {}).await;
    assert!(at.tcp.is_none(), "TCP is off unless asked for");
    let data = at.dir.path();
    fs::create_dir_all(at.fake.folder.join("out")).unwrap();
    fs::write(at.fake.folder.join("out/sum"), "12345").unwrap();
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
            .contains("done, paid 0.25 credits, waited 1.5s, ran 1.5s")
    );
    assert_eq!(
        fs::read_to_string(data.join("here/out/sum")).unwrap(),
        "12345"
    );

    let jobs: Vec<_> = at.fake.jobs.lock().unwrap().values().cloned().collect();
    let (record, request) = &jobs[0];
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
async fn run_ends_with_the_jobs_own_code() {
    for (exit, code) in [
        (JobExit::Code(7), 7),
        (JobExit::Signal(9), 137),
        (JobExit::TimeLimit, 8),
        (JobExit::Lost, 1),
        (JobExit::Code(256), 1),
    ] {
        let at = Served::start(&[], |fake| fake.exit = exit).await;
        let ran = gridbay(at.dir.path(), &["run", "true"]).await;
        assert_eq!(ran.code, code, "{exit:?}");
        assert!(ran.err.contains("failed (exit_code)"), "{}", ran.err);
        at.stop().await;
    }
}

#[tokio::test]
async fn what_cannot_be_paid_or_met_is_not_sent() {
    let at = Served::start(&[], |fake| fake.spendable = credits("5")).await;
    let ran = gridbay(at.dir.path(), &["run", "-n", "2", "true"]).await;
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
    let ran = gridbay(at.dir.path(), &words).await;
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(at.fake.jobs.lock().unwrap().is_empty());
    at.stop().await;
}

#[tokio::test]
async fn detached_jobs_are_found_again() {
    let at = Served::start(&[], |_| {}).await;
    let data = at.dir.path();
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
    let open = gridbay(data, &["job", "list"]).await;
    assert_eq!(open.out.lines().count(), 1, "headings only: {}", open.out);
    let run = gridbay(data, &["run", "-o", "json", "true"]).await.json();
    assert_eq!(run["state"], "done");
    at.stop().await;
}

#[tokio::test]
async fn failures_have_three_lines_and_a_code() {
    let at = Served::start(&[], |_| {}).await;
    let data = at.dir.path();
    for (words, code, lines) in [
        (&["job", "describe", "0123456789abcdef"][..], 3, 3),
        (&["invite", "--endowment", "9"], 6, 3),
        (&["ledger", "verify"], 3, 3),
        (&["offer", "withdraw", "3"], 3, 3),
        (&["node", "up"], 3, 3),
        (&["config", "show", "--set", "colour=1"], 2, 3),
    ] {
        let ran = gridbay(data, words).await;
        assert_eq!(ran.code, code, "{words:?}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), lines, "{}", ran.err);
        assert!(ran.err.starts_with("gridbay: ") && ran.out.is_empty());
    }
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
    let at = Served::start(&[], |_| {}).await;
    let data = at.dir.path();
    let status = gridbay(data, &["node", "status"]).await;
    assert!(
        status.out.contains("balance     -1.5 free, 2 held\n"),
        "{}",
        status.out
    );
    assert_eq!(
        gridbay(data, &["-o", "json", "node", "drain"]).await.json()["state"],
        "draining"
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
        (&7.into(), &"0.5".into())
    );
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
    let to = "07".repeat(32);
    let moved = gridbay(data, &["ledger", "transfer", &to, "2.5"]).await;
    assert!(moved.out.starts_with("done at height 0"), "{}", moved.err);
    at.stop().await;
}

/// A fresh folder that only its owner may enter.
fn private(path: &Path) {
    fs::create_dir(path).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Founds a network of `ada` and `bob`, whose folders lie in `dir`.
async fn found(dir: &Path) -> (String, Genesis, Value) {
    for name in ["ada", "bob"] {
        let (home, out) = (dir.join(name), dir.join(format!("{name}.json")));
        private(&home);
        let words = [
            "found",
            "member",
            "--name",
            name,
            "--address",
            "/ip4/127.0.0.1/tcp/7411",
            "--credit-line",
            "50",
            "--out",
            out.to_str().unwrap(),
        ];
        let ran = gridbay(&home, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let secret = fs::read_to_string(home.join("keys/account.key")).unwrap();
        assert!(!fs::read_to_string(&out).unwrap().contains(secret.trim()));
    }
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (ada, bob, out) = (path("ada.json"), path("bob.json"), path("genesis.cbor"));
    let words = [
        "found",
        "--name",
        "lab",
        "--policy",
        "local",
        "-o",
        "json",
        "--member",
        &bob,
        &ada,
        "--class",
        "name=small,vcpu=1,price=1",
        "name=big,vcpu=4,memory=4GiB,price=3",
        "--out",
        &out,
    ];
    let founded = gridbay(dir, &words).await.json();
    let genesis = Genesis::decode(&fs::read(&out).unwrap()).unwrap();
    (out, genesis, founded)
}

#[tokio::test]
async fn founding_keeps_keys_at_home_and_members_join_with_the_genesis() {
    let dir = tempfile::tempdir().unwrap();
    let (file, genesis, founded) = found(dir.path()).await;
    assert_eq!(founded["network"], genesis.network().to_hex());
    assert_eq!((genesis.members.len(), genesis.classes.len()), (2, 2));
    assert_eq!(genesis.validators().unwrap().total_power(), 2);

    let ada = dir.path().join("ada");
    let join = ["join", &file, "-o", "json"];
    let joined = gridbay(&ada, &join).await.json();
    assert_eq!(joined["by"], "genesis");
    assert_eq!(joined["network"], founded["network"]);
    assert_eq!(gridbay(&ada, &join).await.code, 0, "again changes nothing");
    let mut other = genesis.clone();
    other.name = "other".into();
    let ran = gridbay(&ada, &["join", &invitation(&other).to_text()]).await;
    assert_eq!(ran.code, 9);
    assert!(ran.err.contains("belongs to network"), "{}", ran.err);
}

#[tokio::test]
async fn others_join_by_an_invitation_that_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let (file, genesis, _) = found(dir.path()).await;
    let eve = dir.path().join("eve");
    private(&eve);
    let join = ["join", file.as_str()];
    assert_eq!(gridbay(&eve, &join).await.code, 3, "no keys, no member");
    let invitation = invitation(&genesis);
    let words = ["join", &invitation.to_text(), "-o", "json"];
    assert_eq!(gridbay(&eve, &words).await.json()["by"], "invitation");
    let mode = fs::metadata(eve.join("invitation"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(gridbay(&eve, &join).await.code, 9, "her key is no member's");

    let mut forged = invitation;
    forged.token_seed = [8; 32];
    let bob = dir.path().join("bob");
    assert_eq!(gridbay(&bob, &["join", &forged.to_text()]).await.code, 9);
}

fn invitation(genesis: &Genesis) -> Invitation {
    let (inviter, seed) = (SecretKey::from_seed(&[1; 32]), [2; 32]);
    let grant = Grant {
        inviter: AccountId([4; 32]),
        key: inviter.public(),
        token: SecretKey::from_seed(&seed).public(),
        endowment: credits("5"),
        valid_until: 99,
    };
    let network = genesis.network();
    Invitation {
        network,
        grant: SignedGrant::new(&network, grant, &inviter),
        token_seed: seed,
        bootstrap: vec![],
    }
}

#[tokio::test]
async fn an_invitation_travels_as_file_as_disk_and_as_code() {
    let dir = tempfile::tempdir().unwrap();
    let (_, genesis, _) = found(dir.path()).await;
    let text = invitation(&genesis).to_text();
    let at = Served::start(&[], |fake| fake.token = Some(text.clone())).await;
    let data = at.dir.path();
    let words = ["invite", "--file", "token", "--image", "disk", "--qr"];
    let ran = gridbay(data, &words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.lines().count() > 20 && !ran.out.contains("gridbay1"));
    let mode = |name: &str| fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("token"), mode("disk")), (0o600, 0o600));
    assert_eq!(
        gridbay(data, &words).await.code,
        9,
        "nothing is overwritten"
    );
    for (name, with) in [
        ("a", data.join("token").to_str().unwrap().to_owned()),
        ("b", data.join("disk").to_str().unwrap().to_owned()),
        ("c", text.to_ascii_uppercase()),
    ] {
        let home = dir.path().join(name);
        private(&home);
        let joined = gridbay(&home, &["join", &with, "-o", "json"]).await.json();
        assert_eq!(joined["network"], genesis.network().to_hex(), "{name}");
    }
    let mut broken = fs::read(data.join("disk")).unwrap();
    broken[19 * 512 + 32..19 * 512 + 96].fill(0xe5);
    fs::write(data.join("broken"), broken).unwrap();
    let home = dir.path().join("d");
    private(&home);
    let broken = data.join("broken");
    let ran = gridbay(&home, &["join", broken.to_str().unwrap()]).await;
    assert_eq!(ran.code, 9);
    assert!(
        ran.err.contains("a disk image without invite.toml"),
        "{}",
        ran.err
    );
    at.stop().await;
}

#[tokio::test]
async fn a_refused_invitation_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let (_, genesis, _) = found(dir.path()).await;
    let mut other = genesis.clone();
    other.name = "another".into();
    let home = dir.path().join("eve");
    private(&home);
    let good = invitation(&genesis);
    assert_eq!(gridbay(&home, &["join", &good.to_text()]).await.code, 0);
    let mut forged = good.clone();
    forged.grant.grant.endowment = credits("500");
    let foreign = invitation(&other);
    let cut = good.to_text()[..200].to_owned();
    for (text, why) in [
        (forged.to_text(), "a forged invitation"),
        (foreign.to_text(), "belongs to network"),
        (cut, "a broken invitation"),
    ] {
        let ran = gridbay(&home, &["join", &text]).await;
        assert_eq!(ran.code, 9, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 3, "{}", ran.err);
    }
}

#[tokio::test]
async fn peers_are_shown_and_pinged_and_marked() {
    let at = Served::start(&[], |_| {}).await;
    let data = at.dir.path();
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
    let found = gridbay(data, &["peer", "find", "ada"]).await;
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
        let at = Served::start(&[], |fake| fake.findings = found.clone()).await;
        fs::write(at.dir.path().join("genesis.cbor"), "there").unwrap();
        let ran = gridbay(at.dir.path(), &["doctor"]).await;
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
        assert_eq!(
            ran.out.matches("    why: why\n    try: mend\n").count(),
            found.len()
        );
        let json = gridbay(at.dir.path(), &["doctor", "-o", "json"]).await;
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
