//! An owner's node controls another one, and a stranger's does not: three real processes.

use crate::{Ran, command, gridbay};
use gridbay_node::ui::clean;
use gridbay_protocol::invitation::Invitation;
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::Child;

/// Time for anything to happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// A founding member's folder, and its node once it runs.
pub(crate) struct Member {
    pub(crate) home: PathBuf,
    port: u16,
    pub(crate) node: Option<Child>,
}

impl Member {
    async fn new(dir: &Path, name: &str) -> Member {
        let home = dir.join(name);
        fs::create_dir(&home).unwrap();
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        let (address, out) = (
            format!("/ip4/127.0.0.1/tcp/{port}"),
            dir.join(format!("{name}.json")),
        );
        let words = [
            "found",
            "member",
            "--name",
            name,
            "--address",
            &address,
            "--out",
            out.to_str().unwrap(),
        ];
        let ran = gridbay(&home, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        Member {
            home,
            port,
            node: None,
        }
    }

    async fn joined(&self, genesis: &str) {
        let ran = gridbay(&self.home, &["join", genesis]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    }

    fn settings(&self, more: &str) {
        let port = self.port;
        let text = format!(
            "listen = [\"/ip4/127.0.0.1/tcp/{port}\"]\ncluster.port = 0\nmdns = \"off\"\n\
             upnp = \"off\"\njobs.unisolated = \"on\"\n{more}"
        );
        fs::write(self.home.join("gridbay.toml"), text).unwrap();
    }

    pub(crate) fn start(&mut self) {
        let mut up = command(&self.home, &["node", "up"]);
        let log = fs::File::create(self.home.join("log")).unwrap();
        up.stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        self.node = Some(up.spawn().unwrap());
    }

    pub(crate) async fn stop(&mut self) {
        let ran = self.run(&["node", "stop"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ended = self.node.take().unwrap().wait().await.unwrap();
        assert!(ended.success());
    }

    pub(crate) async fn run(&self, words: &[&str]) -> Ran {
        gridbay(&self.home, words).await
    }

    pub(crate) async fn json(&self, words: &[&str]) -> Value {
        self.run(&[words, &["-o", "json"]].concat()).await.json()
    }

    /// Runs a command until what it prints is as wanted.
    pub(crate) async fn until(&self, words: &[&str], wanted: impl Fn(&Value) -> bool) -> Value {
        let (began, words) = (Instant::now(), [words, &["-o", "json"]].concat());
        loop {
            let ran = self.run(&words).await;
            let said = serde_json::from_str(&ran.out).unwrap_or(Value::Null);
            if ran.code == 0 && wanted(&said) {
                return said;
            }
            let log = fs::read_to_string(self.home.join("log")).unwrap_or_default();
            let late = began.elapsed() > PATIENCE;
            assert!(!late, "{words:?}: {}{}\n{}", ran.out, ran.err, clean(&log));
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Founds a network of an owner, a node of the owner's, and a stranger; all are ready.
pub(crate) async fn network(dir: &Path) -> (Member, Member, Member) {
    let mut members = Vec::new();
    for name in ["owner", "attic", "eve"] {
        members.push(Member::new(dir, name).await);
    }
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let files = ["owner.json", "attic.json", "eve.json"].map(path);
    let out = path("genesis.cbor");
    let mut words = vec!["found", "--name", "lab", "--policy", "local", "--out", &out];
    words.extend(["--class", "name=small,vcpu=1,price=1", "--member"]);
    words.extend(files.iter().map(String::as_str));
    let ran = gridbay(dir, &words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let [mut owner, mut attic, mut eve] = <[Member; 3]>::try_from(members).ok().unwrap();
    for member in [&owner, &attic, &eve] {
        member.joined(&out).await;
        member.settings("");
    }
    owner.start();
    eve.settings("external = [\"/ip4/192.0.2.9/tcp/7\"]\n");
    eve.start();
    let key = owner.until(&["appliance", "key"], |_| true).await;
    let (key, agent) = (key["key"].as_str().unwrap(), dir.join("agent"));
    attic.settings(&format!(
        "owner.key = \"{key}\"\nowner.agent = \"{}\"\n",
        agent.display()
    ));
    attic.start();
    for member in [&owner, &attic, &eve] {
        let ready = |status: &Value| status["state"] == "ready";
        member.until(&["node", "status"], ready).await;
    }
    (owner, attic, eve)
}

#[tokio::test]
async fn an_owner_controls_its_node_and_a_stranger_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let (mut owner, mut attic, mut eve) = network(dir.path()).await;
    let status = attic.json(&["node", "status"]).await;
    let node = status["node"].as_str().unwrap();
    for at in [&owner, &eve] {
        let added = at.json(&["appliance", "add", "attic", node]).await;
        assert_eq!(added["node"], node);
    }
    shows_status_and_money(&owner, node).await;
    sets_a_price_where_an_agent_runs(&owner, &attic, dir.path()).await;
    collects_to_its_own_account_alone(&owner).await;
    drains_also_over_a_restart(&owner, &mut attic).await;
    refuses_strangers(&eve, &attic).await;
    invites_to_where_others_reach_it(&eve, &owner).await;
    erases_what_it_names(&owner, &attic).await;
    for member in [&mut owner, &mut attic, &mut eve] {
        member.stop().await;
    }
}

async fn shows_status_and_money(owner: &Member, node: &str) {
    let shown = owner.json(&["appliance", "status", "attic"]).await;
    let status = &shown["node"];
    assert_eq!(
        (&status["node"], &status["state"]),
        (&node.into(), &"ready".into())
    );
    assert_eq!(shown["agent"], Value::Null);
    let by_key = owner.run(&["appliance", "status", node]).await;
    assert!(
        by_key.out.contains("(ready)"),
        "{}{}",
        by_key.out,
        by_key.err
    );
    let words = ["appliance", "earnings", "attic", "--json"];
    let earnings = owner.run(&words).await.json();
    assert_eq!(earnings["balance"]["account"], status["account"]);
    assert!(earnings["movements"].is_array());
    let log = owner
        .run(&["appliance", "log", "attic", "--lines", "3"])
        .await;
    assert_eq!((log.code, log.out.lines().count()), (0, 3), "{}", log.err);
    let nobody = owner.run(&["appliance", "status", "cellar"]).await;
    assert_eq!(nobody.code, 3, "{}", nobody.err);
}

async fn sets_a_price_where_an_agent_runs(owner: &Member, attic: &Member, dir: &Path) {
    let words = ["appliance", "set", "attic", "price", "3.5"];
    let alone = owner.run(&words).await;
    assert_eq!(alone.code, 9, "{}", alone.err);
    assert!(alone.err.contains("no agent runs there"), "{}", alone.err);
    assert!(!attic.home.join("owner.json").exists());
    let agent = dir.join("agent");
    fs::create_dir(&agent).unwrap();
    let told = r#"{"state":"ready","reason":"sells 1 small","version":"7","orders":0,
        "log":["2026 agent: joining","2026 agent: ready"]}"#;
    fs::write(agent.join("status.json"), told).unwrap();
    let set = owner.json(&words).await;
    assert_eq!((&set["price"], &set["count"]), (&"3.5".into(), &1.into()));
    let read = || -> Value {
        let file = fs::read(attic.home.join("owner.json")).unwrap();
        serde_json::from_slice(&file).unwrap()
    };
    assert_eq!(read(), set);
    let wrong = owner.run(&["appliance", "set", "attic", "buy", "1"]).await;
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert_eq!(read(), set);
    let shown = owner.run(&["appliance", "status", "attic"]).await;
    let log = ["appliance", "log", "attic", "--lines", "1"];
    let log = owner.run(&log).await.out;
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "2026 agent: ready"), "{log}");
    for line in ["ready, sells 1 small", "price 3.5", "has not taken all"] {
        assert!(shown.out.contains(line), "{line}: {}", shown.out);
    }
}

async fn collects_to_its_own_account_alone(owner: &Member) {
    let spendable = |said: &Value| -> f64 { said.as_str().unwrap().parse().unwrap() };
    let own = owner.json(&["ledger", "balance"]).await;
    let earned = ["appliance", "earnings", "attic"];
    let theirs = owner.json(&earned).await;
    let got = owner.json(&["appliance", "collect", "attic", "1.5"]).await;
    assert_eq!(
        (&got["amount"], &got["to"]),
        (&"1.5".into(), &own["account"])
    );
    let more = |balance: &Value| spendable(&balance["balance"]) >= spendable(&own["balance"]) + 1.4;
    owner.until(&["ledger", "balance"], more).await;
    let left = owner.json(&earned).await;
    let had = spendable(&theirs["balance"]["balance"]);
    let has = spendable(&left["balance"]["balance"]);
    assert!(has < had && has > had - 2.0, "{had} {has}");
    let much = ["appliance", "collect", "attic", "1000000000"];
    let refused = owner.run(&much).await;
    assert_eq!(refused.code, 6, "{}", refused.err);
}

/// A node behind a router with a forwarded port says so in its invitations, before all else.
async fn invites_to_where_others_reach_it(eve: &Member, owner: &Member) {
    let made = eve.json(&["invite"]).await;
    let token = made["token"].as_str().unwrap();
    let nodes = Invitation::from_text(token).unwrap().bootstrap;
    let addresses = &nodes[0].addresses;
    assert!(
        addresses[0].starts_with("/ip4/192.0.2.9/tcp/7"),
        "{addresses:?}"
    );
    assert!(addresses[1].starts_with("/ip4/127.0.0.1/"), "{addresses:?}");
    let here = owner.run(&["invite"]).await;
    assert!(here.err.contains("this machine alone"), "{}", here.err);
}

/// The order lies where the agent reads it; without an agent nothing is erased.
async fn erases_what_it_names(owner: &Member, attic: &Member) {
    let earned = owner.json(&["appliance", "earnings", "attic"]).await;
    let account = earned["balance"]["account"].as_str().unwrap();
    let own = owner.json(&["ledger", "balance"]).await;
    let reset = ["appliance", "reset", "attic", "--account"];
    let other = [&reset[..], &[own["account"].as_str().unwrap()]].concat();
    let named = [&reset[..], &[account]].concat();
    for (words, code, why) in [
        (&other, 2, "its account is"),
        (&named, 9, "appliance collect"),
    ] {
        let ran = owner.run(words).await;
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
    }
    let sure = [&named[..], &["--lose-balance"]].concat();
    let shown = owner.json(&sure).await;
    assert_eq!(shown["orders"]["reset"], shown["node"]["node"]);
    let file = fs::read(attic.home.join("owner.json")).unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    assert_eq!(file["reset"], shown["node"]["node"]);
}

async fn drains_also_over_a_restart(owner: &Member, attic: &mut Member) {
    let drained = owner.json(&["appliance", "drain", "attic"]).await;
    assert_eq!(drained["node"]["state"], "draining");
    attic.stop().await;
    attic.start();
    let draining = |status: &Value| status["state"] == "draining";
    attic.until(&["node", "status"], draining).await;
    let resumed = |shown: &Value| shown["orders"]["drain"] == false;
    owner
        .until(&["appliance", "resume", "attic"], resumed)
        .await;
    let ready = |status: &Value| status["state"] == "ready";
    attic.until(&["node", "status"], ready).await;
}

async fn refuses_strangers(eve: &Member, attic: &Member) {
    let before = fs::read(attic.home.join("owner.json")).unwrap();
    let account = "0".repeat(64);
    let orders: [&[&str]; 7] = [
        &["status", "attic"],
        &["earnings", "attic"],
        &["set", "attic", "price", "0"],
        &["drain", "attic"],
        &["log", "attic"],
        &["collect", "attic"],
        &["reset", "attic", "--account", &account],
    ];
    for words in orders {
        let ran = eve.run(&[&["appliance"], words].concat()).await;
        assert_eq!(ran.code, 9, "{words:?}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 3, "{}", ran.err);
        assert!(ran.err.contains("does not obey this node"), "{}", ran.err);
        assert_eq!(ran.out, "");
    }
    assert_eq!(fs::read(attic.home.join("owner.json")).unwrap(), before);
    let status = attic.json(&["node", "status"]).await;
    assert_eq!(status["state"], "ready");
}
