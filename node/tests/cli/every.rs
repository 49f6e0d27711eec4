//! Every command of the program is run by a test: those that read, and what can be undone, here,
//! in order, against one node; for the others it is told which test runs them.

use crate::gridbay;
use crate::served::Served;
use clap::CommandFactory as _;
use gridbay_node::cli::Cli;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const PATIENCE: Duration = Duration::from_secs(60);

/// How a command is run.
enum Row {
    /// It only reads: these words, and what it prints, in every form.
    Reads(&'static str, &'static str),
    /// It acts: these words, and what it prints.
    Acts(&'static str, &'static str),
    /// The same in a folder of nobody.
    Anew(&'static str, &'static str),
    /// What it is about is not there: these words, and the code. The failure says what to do.
    Lacks(&'static str, i32),
    /// Another test runs it: a file of the repository, and what stands there.
    Told(&'static str, &'static str),
}
use Row::{Acts, Anew, Lacks, Reads, Told};

const OWNER: &str = "node/tests/cli/owner.rs";
const MAIN: &str = "node/tests/cli/main.rs";
const JOIN: &str = "node/tests/cli/join.rs";
const HANDED: &str = "node/tests/cli/handed.rs";
const PRIVATE: &str = "node/tests/cli/private.rs";
const TOP: &str = "node/tests/cli/top.rs";
const DOOR: &str = "docs/doors/institution.md";
const APPLIANCES: &str = "docs/doors/appliance-owner.md";
const RESEARCHER: &str = "docs/doors/researcher.md";

/// Commands in the order in which they are run. Words in braces were learnt from the ones before.
#[rustfmt::skip]
const ROWS: &[(&str, Row)] = &[
    ("version", Reads("version", "gridbay ")),
    ("completions", Acts("completions bash", "--max-price")),
    ("man", Acts("man {DIR}/man", "")),
    ("config show", Reads("config show", "SETTING")),
    ("config example", Reads("config example", "listen")),
    ("api openapi", Reads("api openapi", "\"openapi\"")),
    ("init", Anew("init --name ada --address /ip4/127.0.0.1/udp/7411/quic-v1 --endowment 500", "")),
    ("found", Told(DOOR, "$ gridbay found --name")),
    ("found member", Told(DOOR, "found member --name uni-a")),
    ("invite", Told(DOOR, "invite --endowment 50")),
    ("join", Told(JOIN, "\"join\"")),
    ("node up", Told(PRIVATE, "async fn")),
    ("node stop", Told(PRIVATE, "\"node\", \"stop\"")),
    ("node status", Reads("node status", "block time")),
    ("node drain", Acts("node drain", "(draining)")),
    ("node resume", Acts("node resume", "(ready)")),
    ("status", Reads("status", "balance")),
    ("top", Told(TOP, "&[\"top\"]")),
    ("doctor", Told(MAIN, "&[\"doctor\"]")),
    ("federation", Reads("federation", "signed lately")),
    ("web", Lacks("web", 9)),
    ("audit", Reads("audit", "LINE")),
    ("alerts list", Reads("alerts list", "alerts have no way out")),
    ("alerts test", Lacks("alerts test", 2)),
    ("peer list", Reads("peer list", "PEER")),
    ("peer ping", Told(MAIN, "\"peer\", \"ping\"")),
    ("peer find", Told(MAIN, "\"peer\", \"find\"")),
    ("peer block", Told(MAIN, "\"peer\", \"block\"")),
    ("peer unblock", Told(MAIN, "\"peer\", \"unblock\"")),
    ("peer connect", Lacks("peer connect nobody-here", 3)),
    ("peer trust", Lacks("peer trust nobody-here", 3)),
    ("peer trust", Lacks("peer trust bob", 3)),
    ("peer untrust", Lacks("peer untrust nobody-here", 3)),
    ("offer set", Acts("offer set --class small -n 4 --reserve 1 --buy 2", "this node")),
    ("offer list", Reads("offer list", "OFFER")),
    ("offer show", Reads("offer show {OFFER}", "units are never taken back")),
    ("offer plan", Reads("offer plan", "no offer takes jobs by deadlines")),
    ("market prices", Reads("market prices", "CLASS")),
    ("market quote", Reads("market quote -n 2", "MECHANISM")),
    ("market find", Told("testnet/src/appliance/trial/fence.rs", "\"market\", \"find\"")),
    ("market calendar", Reads("market calendar", "no offer sells ahead of time")),
    ("market pools", Reads("market pools", "no offer is shared as a pool")),
    ("market solve", Told(RESEARCHER, "$ gridbay market solve --cases")),
    ("bid suggest", Reads("bid suggest -n 2", "credits per node-hour")),
    ("run", Acts("run --detach --anyway --max-price 0.5 --name waits -- true", "")),
    ("job list", Reads("job list", "waits")),
    ("job describe", Reads("job describe waits", "accepted")),
    ("job why", Reads("job why waits", "CONDITION")),
    ("job logs", Told(MAIN, "\"job\", \"logs\"")),
    ("job get", Acts("job get waits --dest {DIR}", "")),
    ("job wait", Told(MAIN, "\"job\", \"wait\"")),
    ("bid list", Reads("bid list", "waits")),
    ("bid amend", Acts("bid amend waits --max-price 0.6", "waits")),
    ("auction list", Reads("auction list", "AUCTION")),
    ("auction show", Reads("auction show {AUCTION}", "small")),
    ("auction verify", Reads("auction verify {AUCTION}", "ok ")),
    ("bid cancel", Acts("bid cancel waits", "job ")),
    ("job cancel", Acts("job cancel {JOB}", "{JOB}")),
    ("lease list", Reads("lease list", "LEASE")),
    ("lease show", Lacks("lease show 0123456789abcdef", 3)),
    ("lease net", Lacks("lease net 0123456789abcdef", 3)),
    ("lease connect", Lacks("lease connect 0123456789abcdef", 3)),
    ("lease disconnect", Lacks("lease disconnect 0123456789abcdef", 3)),
    ("cluster list", Reads("cluster list", "ID")),
    ("cluster key", Reads("cluster key", "")),
    ("cluster new", Told("testnet/src/parallel/mod.rs", "\"cluster\", \"new\"")),
    ("cluster show", Lacks("cluster show 0123456789abcdef", 3)),
    ("cluster exec", Lacks("cluster exec 0123456789abcdef -- true", 3)),
    ("cluster shell", Lacks("cluster shell 0123456789abcdef", 3)),
    ("cluster put", Lacks("cluster put 0123456789abcdef {DIR}/given 0:x", 3)),
    ("cluster get", Lacks("cluster get 0123456789abcdef 0:x {DIR}", 3)),
    ("cluster ps", Lacks("cluster ps 0123456789abcdef", 3)),
    ("cluster stop", Lacks("cluster stop 0123456789abcdef", 3)),
    ("cluster admit", Lacks("cluster admit 0123456789abcdef {KEY}", 3)),
    ("cluster dismiss", Lacks("cluster dismiss 0123456789abcdef {KEY}", 3)),
    ("cluster enter", Lacks("cluster enter 0123 {KEY}", 2)),
    ("cluster leave", Lacks("cluster leave 0123", 2)),
    ("cluster end", Lacks("cluster end 0123456789abcdef", 3)),
    ("contract list", Reads("contract list --all", "CONTRACT")),
    ("contract show", Lacks("contract show 0123", 3)),
    ("contract sign", Lacks("contract sign 0123", 3)),
    ("contract close", Lacks("contract close 0123", 3)),
    ("ledger balance", Reads("ledger balance", "account")),
    ("ledger transfer", Acts("ledger transfer beta 5", "done at height")),
    ("ledger history", Reads("ledger history", "transfer")),
    ("ledger statement", Reads("ledger statement", "transfer")),
    ("ledger invoice", Reads("ledger invoice", "BOUGHT")),
    ("ledger bank", Reads("ledger bank", "PRICE INDEX")),
    ("ledger head", Reads("ledger head", "state root")),
    ("ledger proof", Acts("ledger proof {HEIGHT} --out {DIR}/proof", "")),
    ("ledger check", Reads("ledger check {DIR}/proof", "transfer")),
    ("ledger verify", Reads("ledger verify", "ok: ")),
    ("ledger close", Told(MAIN, "\"ledger\", \"close\"")),
    ("token create", Acts("token create ci --scope read", "")),
    ("token list", Reads("token list", "ci")),
    ("token revoke", Acts("token revoke ci", "ci")),
    ("user add", Acts("user add ann", "")),
    ("user list", Reads("user list", "ann")),
    ("project create", Acts("project create bio --budget 9", "bio")),
    ("project member add", Acts("project member add bio ann --role manager", "manager")),
    ("project set", Acts("project set bio --jobs 3 --nodes 7", "nodes     0 of 7")),
    ("project list", Reads("project list", "bio")),
    ("project show", Reads("project show bio", "ann")),
    ("project member remove", Acts("project member remove bio ann", "bio")),
    ("project remove", Acts("project remove bio", "bio")),
    ("user remove", Acts("user remove ann", "ann")),
    ("offer withdraw", Acts("offer withdraw 1", "withdrawn")),
    ("appliance list", Told(APPLIANCES, "gridbay appliance list")),
    ("appliance add", Told(OWNER, "\"appliance\", \"add\"")),
    ("appliance remove", Told(APPLIANCES, "gridbay appliance remove")),
    ("appliance key", Told(OWNER, "\"appliance\", \"key\"")),
    ("appliance status", Told(OWNER, "\"appliance\", \"status\"")),
    ("appliance earnings", Told(OWNER, "\"appliance\", \"earnings\"")),
    ("appliance collect", Told(OWNER, "\"appliance\", \"collect\"")),
    ("appliance set", Told(OWNER, "\"appliance\", \"set\"")),
    ("appliance drain", Told(OWNER, "\"appliance\", \"drain\"")),
    ("appliance resume", Told(OWNER, "\"appliance\", \"resume\"")),
    ("appliance update", Told(HANDED, "\"appliance\", \"update\"")),
    ("appliance log", Told(OWNER, "\"appliance\", \"log\"")),
    ("appliance reset", Told(OWNER, "\"appliance\", \"reset\"")),
];

/// The commands that have none below them.
fn leaves(command: &clap::Command, before: &str, into: &mut Vec<String>) {
    let mut below = command.get_subcommands().peekable();
    if below.peek().is_none() || command.get_name() == "found" {
        into.push(before.trim().to_owned());
    }
    for sub in below {
        leaves(sub, &format!("{before} {}", sub.get_name()), into);
    }
}

#[test]
fn every_command_has_a_row_and_every_row_a_test() {
    let mut all = Vec::new();
    leaves(&Cli::command(), "", &mut all);
    let rows: BTreeSet<&str> = ROWS.iter().map(|(name, _)| *name).collect();
    let missing: Vec<&String> = all
        .iter()
        .filter(|name| !rows.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "run by no test: {missing:?}");
    let gone: Vec<_> = rows
        .iter()
        .filter(|row| !all.iter().any(|name| name == *row))
        .collect();
    assert!(gone.is_empty(), "no commands: {gone:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, row) in ROWS {
        match row {
            Reads(words, _) | Acts(words, _) | Anew(words, _) | Lacks(words, _) => {
                let own = words.strip_prefix(name);
                assert!(
                    own.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
                    "{name}"
                );
            }
            Told(file, text) => {
                let there = fs::read_to_string(root.join(file)).unwrap();
                assert!(there.contains(text), "{name}: {file} has no {text}");
            }
        }
    }
}

/// A run of all rows: the node, and what was learnt.
struct Run {
    at: Served,
    learnt: Vec<(&'static str, String)>,
}

impl Run {
    fn filled(&self, words: &str) -> Vec<String> {
        let fill = |word: &str| {
            self.learnt
                .iter()
                .fold(word.to_owned(), |word, (name, value)| {
                    word.replace(&format!("{{{name}}}"), value)
                })
        };
        words.split(' ').map(fill).collect()
    }

    async fn ran(&self, words: &str, form: &[&str]) -> crate::Ran {
        let mut words = self.filled(words);
        // Behind the words of a job they would be its own.
        words.splice(0..0, form.iter().map(|word| (*word).to_owned()));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        gridbay(self.at.world.dir.path(), &words).await
    }

    async fn reads(&self, words: &str, says: &str) {
        let table = self.ran(words, &[]).await;
        assert_eq!(table.code, 0, "{words}: {}", table.err);
        assert!(table.out.contains(says), "{words}: {}", table.out);
        let json = self.ran(words, &["-o", "json"]).await;
        assert_eq!(json.code, 0, "{words}: {}", json.err);
        if !words.starts_with("config example") {
            serde_json::from_str::<serde_json::Value>(&json.out).expect(words);
        }
        let csv = self.ran(words, &["-o", "csv"]).await;
        assert_eq!(csv.code, 0, "{words}: {}", csv.err);
        if !["config example", "api openapi"].contains(&words) {
            let records = records(&csv.out);
            let even = records.iter().all(|record| *record == records[0]);
            assert!(even && !records.is_empty(), "{words}: {}", csv.out);
        }
        let ids = self.ran(words, &["-q"]).await;
        assert_eq!(ids.code, 0, "{words}: {}", ids.err);
    }

    /// What later rows need of what this one did.
    async fn learns(&mut self, name: &str, out: &str) {
        match name {
            "offer set" => {
                let id = out.lines().nth(1).unwrap().split(' ').next().unwrap();
                self.learnt.push(("OFFER", id.to_owned()));
                self.until("offer list", " open\n").await;
            }
            "run" => {
                self.learnt.push(("JOB", out.trim().to_owned()));
                self.until("job list", "outbid").await;
                // Another one wins, so that there is an auction to look at.
                let wins = "run --detach --max-price 10 -- true";
                let ran = self.ran(wins, &[]).await;
                assert_eq!(ran.code, 0, "{}", ran.err);
                let auctions = self.until("auction list -q", "").await;
                let id = auctions.lines().next().unwrap();
                self.learnt.push(("AUCTION", id.to_owned()));
            }
            "cluster key" => self.learnt.push(("KEY", out.trim().to_owned())),
            "ledger transfer" => {
                let height = out.split("done at height ").nth(1).unwrap();
                let digits = height.chars().take_while(char::is_ascii_digit);
                self.learnt.push(("HEIGHT", digits.collect()));
            }
            "node drain" | "node resume" => sleep(Duration::from_millis(100)).await,
            _ => {}
        }
    }

    /// Waits until a command that reads says something.
    async fn until(&self, words: &str, says: &str) -> String {
        let begin = Instant::now();
        loop {
            let ran = self.ran(words, &[]).await;
            if !ran.out.trim().is_empty() && ran.out.contains(says) {
                return ran.out;
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "{words}: {}{}",
                ran.out,
                ran.err
            );
            sleep(Duration::from_millis(100)).await;
        }
    }
}

/// How many values each record has (RFC 4180).
fn records(text: &str) -> Vec<usize> {
    let (mut all, mut values, mut quoted) = (Vec::new(), 1, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => values += 1,
            '\n' if !quoted => {
                all.push(values);
                values = 1;
            }
            _ => {}
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_do_what_they_say() {
    let at = Served::start(&[]).await;
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().to_str().unwrap().to_owned();
    fs::write(dir.path().join("given"), "x").unwrap();
    let genesis = at.world.genesis.encode();
    fs::write(at.world.dir.path().join("genesis.cbor"), genesis).unwrap();
    let mut run = Run {
        at,
        learnt: vec![("DIR", place)],
    };
    for (name, row) in ROWS {
        let out = match row {
            Told(..) => continue,
            Reads(words, says) => {
                run.reads(words, says).await;
                run.ran(words, &[]).await.out
            }
            Acts(words, says) => {
                let ran = run.ran(words, &[]).await;
                assert_eq!(ran.code, 0, "{words}: {}", ran.err);
                let says = run.filled(says).join(" ");
                assert!(ran.out.contains(&says), "{words}: {}", ran.out);
                ran.out
            }
            Anew(words, says) => {
                let words = run.filled(words);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let anew = dir.path().join("anew");
                fs::DirBuilder::new().mode(0o700).create(&anew).unwrap();
                let ran = gridbay(&anew, &words).await;
                assert_eq!(ran.code, 0, "{words:?}: {}", ran.err);
                assert!(ran.out.contains(says), "{words:?}: {}", ran.out);
                continue;
            }
            Lacks(words, code) => {
                let ran = run.ran(words, &[]).await;
                assert_eq!(ran.code, *code, "{words}: {}{}", ran.out, ran.err);
                for part in ["\n    why: ", "\n    try: "] {
                    assert!(ran.err.contains(part), "{words}: {}", ran.err);
                }
                continue;
            }
        };
        run.learns(name, &out).await;
    }
    run.at.stop().await;
}
