//! The commands around updates, with files in the place of partitions: what a builder makes, what
//! an owner writes, and what the agent does about it. Neither root nor a device is needed.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod machine;
mod offered;

use crate::machine::Machine;
use gridbay_appliance::shell::update::make::{MakeError, new_key, public_key};
use gridbay_appliance::shell::update::run::UpdateError;
use gridbay_appliance::shell::update::{boot, record};
use gridbay_appliance::update::check::Refusal;
use gridbay_appliance::update::env::Env;
use gridbay_appliance::update::install::InstallError;
use gridbay_appliance::update::manifest::HeaderError;
use gridbay_appliance::update::record::Stage;
use gridbay_appliance::update::slot::Slot;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn an_update_is_written_beside_the_running_system_and_starts_next() {
    let machine = Machine::new();
    assert_eq!(
        (machine.status().slot, machine.status().trial),
        ("a".into(), "".into())
    );
    let before = machine.disk();
    let written = machine.update(&machine.made("0.2.0", 1_001)).unwrap();
    assert_eq!(written.version, "0.2.0");
    let after = machine.disk();
    assert_eq!((&after[..2], &after[5]), (&before[..2], &before[5]));
    let padded = |byte: u8, length: usize| [vec![byte; length], vec![0; 3_000 - length]].concat();
    assert_eq!(
        (&after[2], &after[3]),
        (&padded(8, 2_000), &padded(9, 1_000))
    );
    assert_eq!(after[4], Env::trial(Slot::A).block());
    assert_eq!(after[6], [vec![7; 8_000], vec![3; 1_000]].concat());
    let kept = record(&machine.places).unwrap();
    assert_eq!(
        (kept.stage, kept.before.as_str()),
        (Stage::Written, "waiting")
    );
    assert_eq!(machine.status().trial, "0.2.0");
    match machine.update(&machine.made("0.3.0", 1_002)) {
        Err(UpdateError::Refused(Refusal::Pending { slot })) => assert_eq!(slot, Slot::B),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_refused_writes_nothing() {
    let machine = Machine::new();
    let before = machine.disk();
    let good = fs::read(machine.made("0.2.0", 1_001)).unwrap();
    let file = machine.at("changed");
    let refused = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let error = machine.update(&file).unwrap_err();
        assert!(!error.hint().is_empty());
        assert_eq!(machine.disk(), before, "{error}");
        assert_eq!(record(&machine.places), None);
        error
    };
    let folder = machine.update(machine.dir.path());
    assert!(matches!(folder, Err(UpdateError::Kind)), "{folder:?}");
    let short = refused(&good[..good.len() - 1]);
    assert!(matches!(short, UpdateError::Length { .. }), "{short}");
    let long = refused(&[&good[..], b"x"].concat());
    assert!(matches!(long, UpdateError::Length { .. }), "{long}");
    let mut changed = good.clone();
    *changed.last_mut().unwrap() ^= 1;
    let changed = refused(&changed);
    assert!(
        matches!(changed, UpdateError::Install(InstallError::Hash { .. })),
        "{changed}"
    );
    assert!(matches!(
        refused(b""),
        UpdateError::Header(HeaderError::Form)
    ));
    let older = fs::read(machine.made("0.0.9", 999)).unwrap();
    assert!(matches!(
        refused(&older),
        UpdateError::Refused(Refusal::Older { seconds: 1 })
    ));
    fs::remove_file(machine.at("key")).unwrap();
    new_key(&machine.at("key")).unwrap();
    let foreign = fs::read(machine.made("0.2.0", 1_001)).unwrap();
    assert!(matches!(
        refused(&foreign),
        UpdateError::Header(HeaderError::Signature)
    ));
    fs::write(machine.at("update-keys"), "").unwrap();
    assert!(matches!(
        refused(&good),
        UpdateError::Header(HeaderError::NoKeys)
    ));
    fs::write(machine.at("update-keys"), "garbage").unwrap();
    assert!(matches!(refused(&good), UpdateError::Keys(_)));
}

#[test]
fn without_a_slot_or_with_damaged_boot_settings_nothing_is_written() {
    let machine = Machine::new();
    let file = machine.made("0.2.0", 1_001);
    machine.env(&[b'#'; 1024]);
    let before = machine.disk();
    let refused = machine.update(&file);
    assert!(
        matches!(refused, Err(UpdateError::Refused(Refusal::Env(_)))),
        "{refused:?}"
    );
    fs::write(&machine.places.command_line, "root=/dev/vda gridbay.slot=a").unwrap();
    assert!(matches!(machine.update(&file), Err(UpdateError::NoSlot)));
    assert_eq!(machine.disk(), before);
    // The agent mends them for the system that runs.
    machine.runs(Slot::B);
    machine.status();
    assert_eq!(boot(&machine.places).unwrap().env, Ok(Env::only(Slot::B)));
}

#[test]
fn an_update_that_was_left_is_told_and_its_trial_ends() {
    let machine = Machine::new();
    machine.status();
    machine.update(&machine.made("0.2.0", 1_001)).unwrap();
    let (first, env) = Env::trial(Slot::A).start();
    machine.env(&env.block());
    machine.runs(first);
    let status = machine.status();
    assert_eq!(
        (status.slot.as_str(), status.trial.as_str()),
        ("b", "0.2.0")
    );
    assert_eq!(boot(&machine.places).unwrap().env, Ok(env));
    let (_, env) = env.start();
    machine.env(&env.block());
    machine.runs(env.start().0);
    let note = "the update 0.2.0 did not become ready and was left; this is 0.1.0";
    for _ in 0..2 {
        let status = machine.status();
        assert_eq!((status.slot.as_str(), status.trial.as_str()), ("a", ""));
        assert_eq!(status.notes[0].reason, note);
        assert_eq!(boot(&machine.places).unwrap().env, Ok(Env::only(Slot::A)));
        assert_eq!(record(&machine.places).unwrap().stage, Stage::Left);
        assert!(machine.places.settled_marker().exists());
    }
    machine.update(&machine.made("0.3.0", 1_002)).unwrap();
    assert!(machine.status().notes.is_empty());
}

#[test]
fn an_update_that_the_boot_loader_passes_over_is_left_and_told() {
    let machine = Machine::new();
    machine.status();
    machine.update(&machine.made("0.2.0", 1_001)).unwrap();
    // The agent starts anew in the same boot: the new system still starts next.
    assert_eq!(machine.status().trial, "0.2.0");
    machine.runs(Slot::A);
    let note = "the update 0.2.0 was not started by the boot loader and was left; this is 0.1.0";
    for _ in 0..2 {
        let status = machine.status();
        assert_eq!((status.slot.as_str(), status.trial.as_str()), ("a", ""));
        assert_eq!(status.notes[0].reason, note);
        assert!(!status.notes[0].hint.is_empty());
        assert_eq!(boot(&machine.places).unwrap().env, Ok(Env::only(Slot::A)));
        assert_eq!(record(&machine.places).unwrap().stage, Stage::Unstarted);
    }
    machine.update(&machine.made("0.3.0", 1_002)).unwrap();
    assert!(machine.status().notes.is_empty());
}

#[test]
fn a_secret_key_is_its_owners_alone_and_never_replaced() {
    let machine = Machine::new();
    let key = machine.at("key");
    let mode = fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let twice = new_key(&key).unwrap_err();
    assert!(matches!(twice, MakeError::Exists { .. }));
    assert!(
        twice
            .to_string()
            .starts_with(&format!("{} exists", key.display()))
    );
    let public = fs::read_to_string(machine.at("update-keys")).unwrap();
    assert_eq!(public_key(&key).unwrap(), public.trim());
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(public_key(&key), Err(MakeError::Open { .. })));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, "garbage").unwrap();
    assert!(matches!(public_key(&key), Err(MakeError::Key(_))));
}
