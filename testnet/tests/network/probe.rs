//! Hostile jobs in the tiers that are sold: nothing that they try succeeds.

use crate::{program, turn};
use gridbay_node::executor::{Config, Executor as _, Isolation, ProcessExecutor};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// Tiers that this machine offers to this user: found without the probes.
fn offered() -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    // Root's jobs are other users in the plain tier, and come through here.
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o711)).unwrap();
    let mut offered = Vec::new();
    for (name, isolation) in [("n", Isolation::Required), ("p", Isolation::Off)] {
        let mut config = Config::new(dir.path().join(name));
        config.supervisor = program();
        config.isolation = isolation;
        match ProcessExecutor::new(config).unwrap().probe() {
            Ok(found) => offered.push(found.tier.to_string()),
            Err(error) => not_checked(&error.to_string()),
        }
    }
    offered
}

/// Past what keeps the output of a test that passes.
fn not_checked(why: &str) {
    let _ = writeln!(std::io::stderr().lock(), "NOT CHECKED: the probes: {why}");
}

#[tokio::test]
async fn no_probe_succeeds_in_a_tier_that_is_sold() {
    let _turn = turn().await;
    let done = Command::new(program())
        .args(["probe", "-o", "json"])
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&done.stderr).into_owned();
    let rows: Vec<Value> = String::from_utf8(done.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let sold = |row: &&Value| row["sold"].as_bool().unwrap();
    let broken: Vec<_> = rows
        .iter()
        .filter(|row| text(row, "result") == "broken")
        .collect();
    let holes: Vec<_> = broken.iter().copied().filter(sold).collect();
    assert!(holes.is_empty(), "{holes:#?}\n{complaint}");
    assert!(done.status.success(), "{complaint}");

    let parts: BTreeSet<_> = rows
        .iter()
        .map(|row| (text(row, "tier"), text(row, "user"), sold(&row)))
        .collect();
    let count = |tier: &str, user: &str| {
        let of = |row: &&Value| text(row, "tier") == tier && text(row, "user") == user;
        rows.iter().filter(of).count()
    };
    let all = parts.iter().map(|(tier, user, _)| count(tier, user)).max();
    assert!(all.is_some_and(|all| all >= 60), "{parts:?}");
    let own = if nix::unistd::geteuid().is_root() {
        "root"
    } else {
        "user"
    };
    for tier in offered() {
        assert_eq!(Some(count(&tier, own)), all, "{tier} as {own}: {complaint}");
    }
    for (tier, user) in [("namespaces", "user"), ("plain", "user")] {
        // The user that root becomes is another one: there the command's own word has to do.
        let why = format!("{user}: no tier {tier} here: ");
        match complaint.lines().find(|line| line.contains(&why)) {
            Some(line) => not_checked(line),
            None => assert_eq!(Some(count(tier, user)), all, "{tier} as {user}"),
        }
    }
    // They can fail: a fence of nothing but the user's rights lets some of them through.
    let plain = |row: &&&Value| text(row, "tier") == "plain";
    assert!(broken.iter().filter(plain).count() > 0, "{complaint}");
}
