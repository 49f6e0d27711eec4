use super::probe::{Facts, Superblock, look, set_stamp};
use super::*;
use crate::data::prepare::file_system;
use crate::shell::command::Command;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const MIB: u64 = 1 << 20;
const SIZE: u64 = 160 * MIB;

/// A sparse file that stands for a device.
fn device(dir: &TempDir) -> PathBuf {
    let path = dir.path().join("disk");
    File::create(&path).unwrap().set_len(SIZE).unwrap();
    path
}

fn facts(path: &Path) -> Facts {
    let file = File::open(path).unwrap();
    look(&file, file.metadata().unwrap().len()).unwrap()
}

fn write(path: &Path, at: u64, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

/// A device with a file system, made as at the first boot.
fn formatted(dir: &TempDir) -> PathBuf {
    let path = device(dir);
    assert_eq!(file_system(&path, Duration::ZERO), Ok(false));
    path
}

#[test]
fn each_set_of_facts_has_one_plan() {
    let superblock = Some(Superblock { bytes: 1 });
    for (blank, superblock, copy, stamp, expected) in [
        (true, None, false, false, "format"),
        (false, None, false, true, "format"),
        (false, None, false, false, "refuse"),
        (false, None, true, false, "refuse"),
        (false, None, true, true, "refuse"),
        (false, superblock, false, false, "check"),
        (false, superblock, true, true, "check"),
    ] {
        let facts = Facts {
            size: SIZE,
            blank,
            superblock,
            copy,
            stamp,
        };
        let told = match plan(&facts) {
            Plan::Format => "format",
            Plan::Check => "check",
            Plan::Refuse(fault) => {
                assert!(!fault.hint.is_empty());
                "refuse"
            }
        };
        assert_eq!(told, expected, "{facts:?}");
    }
}

#[test]
fn codes_of_the_check_from_four_on_are_refused() {
    for code in 0..=3 {
        assert_eq!(checked(Some(code)), Ok(()));
    }
    for code in [Some(4), Some(8), Some(12), Some(-1), None] {
        assert!(checked(code).unwrap_err().hint.contains("e2fsck -b 32768"));
    }
}

#[test]
fn a_blank_device_is_formatted_with_quotas_and_found_again() {
    let dir = TempDir::new().unwrap();
    let path = device(&dir);
    assert!(facts(&path).blank);
    assert_eq!(file_system(&path, Duration::ZERO), Ok(false));
    let found = facts(&path);
    assert_eq!(found.superblock, Some(Superblock { bytes: SIZE }));
    assert!(!found.stamp && !found.blank && found.copy);
    let told = Command::new("dumpe2fs").arg("-h").path(&path);
    let told = told.run(Duration::from_secs(60)).unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    let features = text.lines().find(|l| l.contains("features")).unwrap();
    assert!(features.contains("quota") && features.contains("project"));
    assert_eq!(file_system(&path, Duration::ZERO), Ok(false));
}

#[test]
fn a_file_system_on_a_device_that_grew_is_to_be_grown() {
    let dir = TempDir::new().unwrap();
    let path = formatted(&dir);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(2 * SIZE).unwrap();
    assert_eq!(file_system(&path, Duration::ZERO), Ok(true));
}

#[test]
fn a_damaged_superblock_is_refused_and_left_as_it_is() {
    let dir = TempDir::new().unwrap();
    let path = formatted(&dir);
    for damage in [&[0; 4096][..], &[7; 4096]] {
        write(&path, 0, damage);
        let before = fs::read(&path).unwrap();
        let fault = file_system(&path, Duration::ZERO).unwrap_err();
        assert!(fault.hint.contains("e2fsck -b 32768"), "{fault:?}");
        assert!(fs::read(&path).unwrap() == before);
    }
    // Not even a stamp, or a start that is all zero, makes it blank.
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    set_stamp(&file, SIZE, &[7; 16]).unwrap();
    write(&path, 0, &vec![0; 8 * MIB as usize - 4096]);
    assert!(matches!(plan(&facts(&path)), Plan::Refuse(_)));
}

#[test]
fn whatever_is_not_zero_and_no_file_system_is_refused() {
    for at in [0, 512, 3 * MIB, SIZE - 1, SIZE - MIB] {
        let dir = TempDir::new().unwrap();
        let path = device(&dir);
        write(&path, at, b"x");
        assert!(matches!(plan(&facts(&path)), Plan::Refuse(_)), "{at}");
        assert!(file_system(&path, Duration::ZERO).is_err());
    }
}

#[test]
fn a_format_cut_short_is_begun_again() {
    let dir = TempDir::new().unwrap();
    let path = device(&dir);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    set_stamp(&file, SIZE, &[7; 16]).unwrap();
    write(&path, 5 * MIB, &[9; 4096]);
    assert_eq!(file_system(&path, Duration::ZERO), Ok(false));
    assert!(facts(&path).superblock.is_some() && !facts(&path).stamp);
    // mkfs writes copies before the first superblock: a cut in between leaves them alone.
    let id: [u8; 16] = fs::read(&path).unwrap()[1024 + 0x68..][..16]
        .try_into()
        .unwrap();
    write(&path, 0, &[0; 4096]);
    set_stamp(&file, SIZE, &id).unwrap();
    assert_eq!(plan(&facts(&path)), Plan::Format);
    assert_eq!(file_system(&path, Duration::ZERO), Ok(false));
    assert!(facts(&path).superblock.is_some() && !facts(&path).stamp);
}

#[test]
fn hostile_superblocks_do_not_confuse_the_look() {
    let dir = TempDir::new().unwrap();
    let path = device(&dir);
    let mut block = [0xff; 1024];
    block[0x38..0x3a].copy_from_slice(&[0x53, 0xef]);
    write(&path, 1024, &block);
    assert_eq!(facts(&path).superblock, None);
    block[0x18..0x1c].copy_from_slice(&6u32.to_le_bytes());
    write(&path, 1024, &block);
    assert_eq!(facts(&path).superblock, None);
    assert!(file_system(&path, Duration::ZERO).is_err());
    for size in [0, 1, 1024, 2048, 4095] {
        let small = dir.path().join("small");
        File::create(&small).unwrap().set_len(size).unwrap();
        assert_eq!(facts(&small).superblock, None);
    }
    let gone = file_system(&dir.path().join("gone"), Duration::ZERO);
    assert!(gone.unwrap_err().reason.contains("cannot be read"));
}

#[test]
fn a_reset_erases_everything_and_can_be_cut_short() {
    let dir = TempDir::new().unwrap();
    let (node, state) = (dir.path().join("gridbay"), dir.path().join("appliance"));
    fs::create_dir_all(node.join("keys")).unwrap();
    fs::create_dir_all(state.join("config")).unwrap();
    fs::write(node.join("keys/account.key"), "k").unwrap();
    fs::write(state.join("config/invite.toml"), "").unwrap();
    for words in [&b"yes"[..], b""] {
        fs::write(state.join(reset::MARKER), words).unwrap();
        assert!(!reset::is_asked(&state));
    }
    fs::write(state.join(reset::MARKER), reset::WORDS).unwrap();
    assert!(reset::is_asked(&state));
    // A job leaves folders within folders, more than a process has descriptors.
    let nest = "mkdir -p \"$0\" && cd -P \"$0\" && for i in $(seq 2000); do mkdir d && cd -P d || exit; done";
    let mut nested = std::process::Command::new("sh");
    nested.args(["-c", nest]).arg(node.join("jobs"));
    assert!(nested.status().unwrap().success());
    reset::erase(&node, &state).unwrap();
    assert!(!node.exists());
    // As after a cut in the middle.
    fs::write(state.join(reset::MARKER), reset::WORDS).unwrap();
    reset::erase(&node, &state).unwrap();
    assert_eq!(fs::read_dir(&state).unwrap().count(), 0);
    assert!(!node.exists() && !reset::is_asked(&state));
}
