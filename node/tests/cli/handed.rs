//! An owner's node hands an update over to another node, and a stranger's does not: real
//! processes, and a file in the place of an agent.

use crate::owner::{Member, network};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Bytes of a piece, as nodes ask for them.
const PIECE: usize = 512 * 1024;
/// Time for anything to happen.
const PATIENCE: Duration = Duration::from_secs(120);

/// A file that begins as an update, of so many bytes in all.
fn update(dir: &Path, name: &str, bytes: usize) -> PathBuf {
    let mut whole = b"gridbay-update 1\n".to_vec();
    let mut state = bytes as u32 | 1;
    while whole.len() < bytes {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        whole.extend_from_slice(&state.to_le_bytes());
    }
    whole.truncate(bytes);
    let path = dir.join(name);
    fs::write(&path, whole).unwrap();
    path
}

/// What an agent would tell.
fn agent(dir: &Path, trial: &str) {
    let folder = dir.join("agent");
    fs::create_dir_all(&folder).unwrap();
    let status = json!({"state": "ready", "reason": "sells", "version": "7", "trial": trial});
    fs::write(folder.join("status.json"), status.to_string()).unwrap();
}

/// The words that hand a file over.
fn words(file: &Path) -> [&str; 4] {
    ["appliance", "update", "attic", file.to_str().unwrap()]
}

/// Three nodes, of which two know the third as attic.
async fn named(dir: &Path) -> (Member, Member, Member) {
    let (owner, attic, eve) = network(dir).await;
    let status = attic.json(&["node", "status"]).await;
    let node = status["node"].as_str().unwrap();
    for at in [&owner, &eve] {
        at.json(&["appliance", "add", "attic", node]).await;
    }
    (owner, attic, eve)
}

#[tokio::test]
async fn an_owner_hands_an_update_over_and_a_stranger_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let (mut owner, mut attic, mut eve) = named(dir.path()).await;
    let file = update(dir.path(), "update", 5 * PIECE + 77);
    refused_where_no_agent_runs(&owner, &attic, &file).await;
    agent(dir.path(), "");
    refused_before_it_is_sent(&owner, dir.path()).await;
    refused_to_strangers(&eve, &attic, &file).await;
    handed_over_whole(&owner, &attic, &file).await;
    one_at_a_time(&owner, &attic, dir.path()).await;
    for member in [&mut owner, &mut attic, &mut eve] {
        member.stop().await;
    }
}

async fn refused_where_no_agent_runs(owner: &Member, attic: &Member, file: &Path) {
    let ran = owner.run(&words(file)).await;
    assert_eq!(ran.code, 9, "{}", ran.err);
    assert!(ran.err.contains("no agent runs there"), "{}", ran.err);
    assert!(!attic.home.join("updates").exists());
    let left = fs::read_dir(owner.home.join("granted")).unwrap().count();
    assert_eq!(left, 0, "what was refused stays on no disk");
}

async fn refused_before_it_is_sent(owner: &Member, dir: &Path) {
    let (plain, huge) = (dir.join("plain"), dir.join("huge"));
    fs::write(&plain, "gridbay-invitation").unwrap();
    update(dir, "huge", PIECE);
    let sparse = fs::OpenOptions::new().write(true).open(&huge).unwrap();
    sparse.set_len((1 << 30) + 1).unwrap();
    for (file, code, why) in [
        (plain, 2, "no update of an appliance"),
        (huge, 2, "more than 1073741824 bytes"),
        (dir.to_owned(), 2, "it is no file"),
        (dir.join("gone"), 3, "gone"),
    ] {
        let ran = owner.run(&words(&file)).await;
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 3, "{}", ran.err);
    }
}

async fn refused_to_strangers(eve: &Member, attic: &Member, file: &Path) {
    let ran = eve.run(&words(file)).await;
    assert_eq!(ran.code, 9, "{}", ran.err);
    assert!(ran.err.contains("does not obey this node"), "{}", ran.err);
    assert!(!attic.home.join("owner-update").exists());
    assert!(!attic.home.join("updates").exists());
}

async fn handed_over_whole(owner: &Member, attic: &Member, file: &Path) {
    let ran = owner.run(&words(file)).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("gridbay appliance status attic"),
        "{}",
        ran.out
    );
    let handed = attic.home.join("owner-update");
    assert_eq!(fs::read(&handed).unwrap(), fs::read(file).unwrap());
    let mode = fs::metadata(&handed).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for folder in [attic.home.join("updates"), owner.home.join("granted")] {
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{folder:?}");
    }
    let shown = owner.json(&["appliance", "status", "attic"]).await;
    assert_eq!(shown["update"]["state"], "handed");
}

async fn one_at_a_time(owner: &Member, attic: &Member, dir: &Path) {
    let other = update(dir, "other", 2 * PIECE);
    let refused = async |why: &str| {
        let ran = owner.run(&words(&other)).await;
        assert_eq!(ran.code, 9, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
    };
    let handed = attic.home.join("owner-update");
    let before = fs::read(&handed).unwrap();
    refused("another update waits for the agent").await;
    assert_eq!(fs::read(&handed).unwrap(), before);
    fs::remove_file(&handed).unwrap();
    agent(dir, "0.2.0");
    refused("the update 0.2.0 is on trial").await;
    let shown = owner.run(&["appliance", "status", "attic"]).await;
    assert!(shown.out.contains("on trial"), "{}", shown.out);
    agent(dir, "");
    let ran = owner.run(&words(&other)).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(fs::read(&handed).unwrap(), fs::read(&other).unwrap());
}

/// The one file in a folder, and its bytes.
fn part(folder: &Path) -> Option<(PathBuf, u64)> {
    let entry = fs::read_dir(folder).ok()?.next()?.ok()?;
    Some((entry.path(), entry.metadata().ok()?.len()))
}

#[tokio::test]
async fn a_handover_goes_on_after_a_cut_and_begins_anew_after_damage() {
    let dir = tempfile::tempdir().unwrap();
    let (mut owner, mut attic, mut eve) = named(dir.path()).await;
    eve.stop().await;
    agent(dir.path(), "");
    let file = update(dir.path(), "update", 96 * PIECE + 5);
    let folder = attic.home.join("updates");
    let mut hands = crate::command(&owner.home, &words(&file));
    hands
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut hands = hands.spawn().unwrap();
    let began = Instant::now();
    while part(&folder).is_none_or(|(_, held)| held < 2 * PIECE as u64) {
        assert!(began.elapsed() < PATIENCE, "nothing comes");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    attic.node.as_mut().unwrap().kill().await.unwrap();
    hands.kill().await.unwrap();
    let (path, held) = part(&folder).unwrap();
    assert!(held < 96 * PIECE as u64, "it was whole before the cut");
    attic.start();
    let ready = |status: &Value| status["state"] == "ready";
    attic.until(&["node", "status"], ready).await;
    let answers = |shown: &Value| shown["update"].is_null();
    owner
        .until(&["appliance", "status", "attic"], answers)
        .await;
    // A piece is damaged: the whole is refused for its hash, and the next try is from the start.
    let whole = fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    damaged[7] ^= 1;
    fs::write(&path, damaged).unwrap();
    let ran = owner.run(&words(&file)).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("is not what was announced"), "{}", ran.err);
    assert!(!path.exists());
    // What is good is gone on with.
    fs::write(&path, &whole[..PIECE + 9]).unwrap();
    let ran = owner.run(&words(&file)).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let handed = attic.home.join("owner-update");
    assert_eq!(fs::read(&handed).unwrap(), fs::read(&file).unwrap());
    let log = fs::read_to_string(attic.home.join("log")).unwrap();
    let from = format!("held={PIECE} ");
    let went_on = |line: &str| line.contains("pulls an update") && line.contains(&from);
    assert!(
        log.lines().any(went_on),
        "{}",
        gridbay_node::ui::clean(&log)
    );
    for member in [&mut owner, &mut attic] {
        member.stop().await;
    }
}
