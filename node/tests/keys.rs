//! Key files: modes, owners, refusals.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use gridbay_node::keys::{KeyFileError, KeyFolder, KeyName, read_secret, write_secret};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn keys_are_private_and_survive() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/keys");
    let folder = KeyFolder::open(&path).unwrap();
    folder.create_missing(&KeyName::NODE).unwrap();
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("account.key")), 0o600);
    let first = folder.load().unwrap();
    assert!(first.validator.is_none());
    assert_ne!(first.account.public(), first.transport.public());

    folder.create_missing(&KeyName::NODE).unwrap();
    folder.create_missing(&KeyName::VALIDATOR).unwrap();
    let again = KeyFolder::open(&path).unwrap().load().unwrap();
    assert_eq!(again.account.public(), first.account.public());
    assert!(again.validator.is_some());
}

#[test]
fn loose_modes_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let folder = KeyFolder::open(&path).unwrap();
    folder.create_missing(&KeyName::NODE).unwrap();
    set_mode(&path.join("account.key"), 0o640);
    let error = folder.load().unwrap_err();
    assert!(matches!(error, KeyFileError::Loose { mode: 0o640, .. }));
    assert!(error.to_string().ends_with("mode 640: others can read it"));
    set_mode(&path.join("account.key"), 0o600);
    folder.load().unwrap();
    set_mode(&path, 0o755);
    let error = KeyFolder::open(&path).unwrap_err();
    assert!(matches!(error, KeyFileError::Loose { mode: 0o755, .. }));
}

#[test]
fn links_and_broken_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let folder = KeyFolder::open(&path).unwrap();
    folder.create_missing(&KeyName::NODE).unwrap();
    let account = path.join("account.key");
    fs::rename(&account, path.join("elsewhere")).unwrap();
    symlink(path.join("elsewhere"), &account).unwrap();
    assert!(matches!(folder.load(), Err(KeyFileError::Io { .. })));
    fs::remove_file(&account).unwrap();
    write_secret(&account, "abcd\n").unwrap();
    assert!(matches!(folder.load(), Err(KeyFileError::Broken(_))));
}

#[test]
fn half_a_validator_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let folder = KeyFolder::open(&path).unwrap();
    folder
        .create_missing(&[KeyName::Account, KeyName::Transport, KeyName::Validator])
        .unwrap();
    assert!(matches!(folder.load(), Err(KeyFileError::Missing(_))));
}

#[test]
fn a_secret_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("api.token");
    write_secret(&path, "one").unwrap();
    assert!(matches!(
        write_secret(&path, "two"),
        Err(KeyFileError::Exists(_))
    ));
    assert_eq!(read_secret(&path).unwrap(), "one");
}

#[test]
fn debug_shows_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let folder = KeyFolder::open(&dir.path().join("keys")).unwrap();
    folder.create_missing(&KeyName::NODE).unwrap();
    folder.create_missing(&KeyName::VALIDATOR).unwrap();
    let text = fs::read_to_string(dir.path().join("keys/beacon.key")).unwrap();
    assert!(!format!("{:?}", folder.load().unwrap()).contains(text.trim()));
}
