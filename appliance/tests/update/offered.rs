//! Updates that the agent takes by itself: from disks, and from the node's owner.

use crate::machine::Machine;
use gridbay_appliance::shell::update::make::new_key;
use gridbay_appliance::shell::update::run::{By, UpdateError, update};
use gridbay_appliance::shell::update::{boot, record};
use gridbay_appliance::shell::watch::Watch;
use gridbay_appliance::status::{NAME, Note, Status};
use gridbay_appliance::update::env::Env;
use gridbay_appliance::update::install::InstallError;
use gridbay_appliance::update::record::Stage;
use gridbay_appliance::update::slot::Slot;
use std::fs;
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::{Path, PathBuf};

/// Ways in which an update comes to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Device,
    Label,
    Owner,
}

const WAYS: [Way; 3] = [Way::Device, Way::Label, Way::Owner];

impl Machine {
    /// Where an update of this way lies.
    fn place(&self, way: Way) -> PathBuf {
        match way {
            Way::Device => self.at("devices/vdb"),
            Way::Label => self.at("labels/GRIDBAY/gridbay-update"),
            Way::Owner => self.places.handed(),
        }
    }
    fn offer(&self, way: Way, bytes: &[u8]) {
        for folder in ["devices", "blocks/vdb", "blocks/loop0", "labels/GRIDBAY"] {
            fs::create_dir_all(self.at(folder)).unwrap();
        }
        fs::write(self.place(way), bytes).unwrap();
    }
    /// So many turns of a new agent; the last status.
    fn turns(&self, many: u32) -> Status {
        let mut watch = Watch::new(self.places.clone()).unwrap();
        for _ in 0..many {
            watch.turn().unwrap();
        }
        Status::read(&self.places.run.join(NAME)).unwrap()
    }
    fn reboots(&self) -> usize {
        let calls = fs::read_to_string(self.at("systemctl.calls")).unwrap_or_default();
        calls.lines().filter(|call| *call == "reboot").count()
    }
    fn env_now(&self) -> Env {
        boot(&self.places).unwrap().env.unwrap()
    }
    /// What the boot loader does, and what ends with a boot.
    fn boots(&self) {
        let (slot, env) = self.env_now().start();
        self.env(&env.block());
        self.runs(slot);
        drop(fs::remove_file(self.places.drain_marker()));
    }
}

#[test]
fn a_newer_update_is_taken_from_wherever_it_lies() {
    for way in WAYS {
        let machine = Machine::new();
        let good = fs::read(machine.made("0.2.0", 1_001)).unwrap();
        machine.offer(way, &good);
        let status = machine.turns(3);
        assert_eq!(machine.env_now(), Env::trial(Slot::A), "{way:?}");
        assert_eq!(status.trial, "0.2.0");
        assert_eq!(status.state, "draining");
        assert_eq!(machine.reboots(), 1, "{way:?}");
        let kept = record(&machine.places).unwrap();
        assert_eq!(
            (kept.stage, kept.by_agent, kept.before.as_str()),
            (Stage::Written, true, "waiting")
        );
        assert_eq!(machine.place(way).exists(), way != Way::Owner);
        // It runs, and lies there still.
        machine.boots();
        machine.image("0.2.0", 1_001);
        let status = machine.turns(3);
        assert_eq!((status.slot.as_str(), machine.reboots()), ("b", 1));
        assert_eq!(status.notes, []);
    }
}

#[test]
fn one_that_was_left_is_not_tried_again() {
    for way in WAYS {
        let machine = Machine::new();
        let good = fs::read(machine.made("0.2.0", 1_001)).unwrap();
        machine.offer(way, &good);
        machine.turns(3);
        for _ in 0..3 {
            machine.boots();
        }
        let left = "the update 0.2.0 did not become ready and was left; this is 0.1.0";
        for again in [false, true] {
            if again {
                machine.offer(way, &good);
            }
            let status = machine.turns(4);
            assert_eq!((status.slot.as_str(), status.trial.as_str()), ("a", ""));
            assert_eq!(status.notes[0].reason, left, "{way:?}");
            assert_eq!(machine.env_now(), Env::only(Slot::A));
            assert_eq!(machine.reboots(), 1, "{way:?}");
        }
        let status = machine.turns(1);
        assert!(status.notes.len() <= 1, "{:?}", status.notes);
        let newer = fs::read(machine.made("0.3.0", 1_002)).unwrap();
        machine.offer(way, &newer);
        machine.turns(3);
        assert_eq!(
            (machine.env_now(), machine.reboots()),
            (Env::trial(Slot::A), 2)
        );
    }
}

/// Updates that are not taken, with a word of the reason.
fn bad(machine: &Machine) -> Vec<(Vec<u8>, &'static str)> {
    let good = fs::read(machine.made("0.2.0", 1_001)).unwrap();
    let mut damaged = good.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let short = good[..good.len() - 1].to_vec();
    let older = fs::read(machine.made("0.0.9", 999)).unwrap();
    let own = fs::read(&machine.places.image).unwrap();
    let foreign = String::from_utf8_lossy(&good[..16]).replace('1', "7");
    let foreign = [foreign.as_bytes(), &good[16..]].concat();
    let other_key = machine.at("key");
    fs::remove_file(&other_key).unwrap();
    new_key(&other_key).unwrap();
    let unsigned = fs::read(machine.made("0.2.0", 1_001)).unwrap();
    fs::write(&machine.places.image, own).unwrap();
    vec![
        (damaged, "is not what was signed"),
        (short, "bytes and should have"),
        (older, "was built 1 s before"),
        (foreign, "of another form"),
        (unsigned, "no key that this image trusts"),
    ]
}

#[test]
fn what_is_no_good_gets_a_note_and_writes_nothing() {
    for way in WAYS {
        let machine = Machine::new();
        let before = machine.disk();
        for (bytes, why) in bad(&machine) {
            machine.offer(way, &bytes);
            let mut watch = Watch::new(machine.places.clone()).unwrap();
            let mut lines = Vec::new();
            for _ in 0..4 {
                lines.extend(watch.turn().unwrap().1);
            }
            let told: Vec<_> = lines.iter().filter(|line| line.contains(why)).collect();
            assert_eq!(told.len(), 1, "{way:?}, {why}: {lines:?}");
            let status = Status::read(&machine.places.run.join(NAME)).unwrap();
            let Note { reason, hint } = &status.notes[0];
            assert!(reason.contains(why) && !hint.is_empty(), "{reason}; {hint}");
            assert_eq!(status.state, "waiting");
            assert_eq!(machine.place(way).exists(), way != Way::Owner);
        }
        assert_eq!((machine.disk(), machine.reboots()), (before, 0));
    }
}

#[test]
fn one_of_another_flavour_is_refused() {
    for way in WAYS {
        let machine = Machine::new();
        let good = fs::read(machine.made("0.2.0", 1_001)).unwrap();
        machine.offer(way, &good);
        let text = r#"{"version":"0.1.0","flavour":"cluster","built":1000}"#;
        fs::write(&machine.places.image, text).unwrap();
        let status = machine.turns(3);
        assert!(status.notes[0].reason.contains("flavour"), "{status:?}");
        assert_eq!(machine.env_now(), Env::only(Slot::A));
    }
}

#[test]
fn a_disk_that_is_no_update_is_passed_over() {
    let machine = Machine::new();
    machine.offer(Way::Device, b"EFI PART and so on");
    fs::write(machine.at("devices/loop0"), "gridbay-update 1\n").unwrap();
    fs::create_dir(machine.at("blocks/vdc")).unwrap();
    assert_eq!(machine.turns(2).notes, []);
}

#[test]
fn nothing_is_taken_while_another_is_on_trial() {
    let machine = Machine::new();
    machine.update(&machine.made("0.2.0", 1_001)).unwrap();
    let newer = fs::read(machine.made("0.3.0", 1_002)).unwrap();
    machine.offer(Way::Owner, &newer);
    let pending = machine.turns(3);
    assert_eq!((pending.trial.as_str(), machine.reboots()), ("0.2.0", 0));
    machine.boots();
    machine.image("0.2.0", 1_001);
    let on_trial = machine.turns(3);
    assert_eq!(
        (on_trial.slot.as_str(), on_trial.trial.as_str()),
        ("b", "0.2.0")
    );
    assert!(machine.place(Way::Owner).exists());
    assert_eq!(record(&machine.places).unwrap().version, "0.2.0");
    // Once that one is taken, it is the turn of the next.
    machine.env(&Env::only(Slot::B).block());
    machine.turns(1);
    assert_eq!(machine.env_now(), Env::trial(Slot::B));
    assert!(!machine.place(Way::Owner).exists());
}

#[test]
fn a_link_a_pipe_or_a_folder_in_the_place_of_the_file_is_not_followed() {
    let machine = Machine::new();
    let (good, place) = (machine.made("0.2.0", 1_001), machine.places.handed());
    symlink(&good, &place).unwrap();
    let status = machine.turns(2);
    assert!(
        status.notes[0].reason.contains("cannot be read"),
        "{status:?}"
    );
    assert!(good.exists() && place.symlink_metadata().is_err());
    let made = std::process::Command::new("mkfifo").arg(&place).status();
    assert!(made.unwrap().success());
    assert!(machine.turns(2).notes[0].reason.contains("no plain file"));
    assert!(place.symlink_metadata().is_err());
    fs::create_dir(&place).unwrap();
    assert!(machine.turns(3).notes[0].reason.contains("no plain file"));
    assert!(place.is_dir());
    assert_eq!(machine.env_now(), Env::only(Slot::A));
}

/// Takes a handed update, whose file is changed once it was checked.
fn changed(machine: &Machine, change: impl Fn(&Path)) -> UpdateError {
    let good = fs::read(machine.made("0.2.0", 1_001)).unwrap();
    let place = machine.places.handed();
    fs::write(&place, &good).unwrap();
    let header = good.len() - 11_000;
    let id = gridbay_appliance::update::manifest::id(&good, Some(header));
    let mut checked = 0;
    let taken = update(&machine.places, &place, By::Agent(&id), |line| {
        if line.contains("is whole and signed") {
            checked += 1;
            change(&place);
        }
    });
    assert_eq!(checked, 1, "{taken:?}");
    taken.unwrap_err()
}

#[test]
fn what_the_node_changes_after_the_check_does_not_get_in() {
    let write = |at: u64| {
        move |path: &Path| {
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            file.write_all_at(b"evil", at).unwrap();
        }
    };
    let machine = Machine::new();
    let error = changed(&machine, write(5_000));
    let hash = matches!(error, UpdateError::Install(InstallError::Hash { .. }));
    assert!(hash, "{error}");
    assert_eq!(machine.env_now(), Env::only(Slot::A));
    let error = changed(&machine, |path| {
        fs::OpenOptions::new()
            .write(true)
            .open(path)
            .unwrap()
            .set_len(4_000)
            .unwrap();
    });
    let source = matches!(error, UpdateError::Install(InstallError::Source { .. }));
    assert!(source, "{error}");
    assert_eq!(machine.env_now(), Env::only(Slot::A));
}

#[test]
fn another_update_than_was_decided_on_is_not_taken() {
    let machine = Machine::new();
    let good = machine.made("0.2.0", 1_001);
    let before = machine.disk();
    let taken = update(&machine.places, &good, By::Agent("0a"), |_| {});
    assert!(matches!(taken, Err(UpdateError::Changed)), "{taken:?}");
    assert_eq!(machine.disk(), before);
}
