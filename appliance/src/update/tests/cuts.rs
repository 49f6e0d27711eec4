//! The power is cut after any number of writes, and of what was not synchronised any part is lost.

use super::*;
use crate::update::env::TRIES;
use crate::update::install::{InstallError, check, install};

/// A small generator of bits; the same seed gives the same row.
struct Dice(u64);

impl Dice {
    fn is(&mut self) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 & 1 == 0
    }
}

fn update(disk: &mut Memory, new: &[Vec<u8>; 3], running: Slot) -> Result<(), InstallError> {
    let env = disk.env();
    let source = new.concat();
    install(disk, &manifest(new), &mut source.as_slice(), (running, env))
}

#[test]
fn an_update_is_written_to_the_other_slot_and_put_on_trial() {
    let (old, new) = (parts(0), parts(77));
    for running in [Slot::A, Slot::B] {
        let mut disk = Memory::with(running, &old);
        update(&mut disk, &new, running).unwrap();
        assert!(disk.loose.is_empty());
        assert!(disk.holds(running, &old) && disk.holds(running.other(), &new));
        assert_eq!(disk.env(), Env::trial(running));
    }
}

#[test]
fn after_a_cut_at_any_moment_a_whole_system_starts() {
    let (old, new, other) = (parts(0), parts(77), parts(33));
    for running in [Slot::A, Slot::B] {
        // The boot settings name the other system where the boot loader could not read this one.
        for named in [running, running.other()] {
            let mut whole = Memory::with(running, &old);
            if named != running {
                for (part, bytes) in PARTS.into_iter().zip(&other) {
                    let mut full = bytes.clone();
                    full.resize(room(part), 0);
                    whole.kept.insert(name(Place::Part(named, part)), full);
                }
                whole.kept.insert("env", Env::only(named).block().to_vec());
            }
            let mut counted = whole.clone();
            update(&mut counted, &new, running).unwrap();
            let writes = u64::MAX - counted.left;
            assert!(writes > 10, "{writes}");
            for left in 0..=writes {
                for seed in 1..=3 {
                    let mut disk = whole.clone();
                    disk.left = left;
                    let written = update(&mut disk, &new, running);
                    assert_eq!(written.is_ok(), left == writes);
                    let mut dice = Dice(seed * 0x9e37_79b9 + left);
                    disk.bring(|_| dice.is());
                    starts_a_whole_one(&disk, [(running, &old), (named, &other)], &new);
                }
            }
        }
    }
}

/// Each of the next starts is of a system that is whole, and a trial is of the new one.
fn starts_a_whole_one(disk: &Memory, old: [(Slot, &[Vec<u8>; 3]); 2], new: &[Vec<u8>; 3]) {
    assert!(
        disk.holds(old[0].0, old[0].1),
        "the running system was written"
    );
    let mut env = disk.env();
    for _ in 0..=TRIES {
        let (slot, next) = env.start();
        match env.trial {
            Some(trial) if trial == slot => assert!(disk.holds(slot, new)),
            _ => assert!(
                old.iter()
                    .any(|(at, one)| *at == slot && disk.holds(slot, one))
            ),
        }
        env = next;
    }
}

#[test]
fn a_disk_that_holds_something_else_than_was_written_starts_no_trial() {
    struct Liar(Memory);
    impl Disk for Liar {
        fn room(&mut self, place: Place) -> io::Result<u64> {
            self.0.room(place)
        }
        fn write(&mut self, place: Place, at: u64, bytes: &[u8]) -> io::Result<()> {
            let mut bytes = bytes.to_vec();
            if place == Place::Part(Slot::B, Part::Initrd) && at > 0 {
                bytes[0] ^= 1;
            }
            self.0.write(place, at, &bytes)
        }
        fn read(&mut self, place: Place, at: u64, bytes: &mut [u8]) -> io::Result<()> {
            self.0.read(place, at, bytes)
        }
        fn sync(&mut self, place: Place) -> io::Result<()> {
            self.0.sync(place)
        }
        fn forget(&mut self) -> io::Result<()> {
            self.0.forget()
        }
    }
    let new = parts(77);
    let mut disk = Liar(Memory::with(Slot::A, &parts(0)));
    let source = new.concat();
    let at = (Slot::A, Env::only(Slot::A));
    let failed = install(&mut disk, &manifest(&new), &mut source.as_slice(), at);
    match failed {
        Err(InstallError::Differs { part }) => assert_eq!(part, Part::Initrd),
        other => panic!("{other:?}"),
    }
    assert_eq!(disk.0.env(), Env::only(Slot::A));
}

#[test]
fn parts_that_are_cut_short_or_changed_are_told_before_and_while_writing() {
    let new = parts(77);
    let manifest = manifest(&new);
    let whole = new.concat();
    assert!(check(&manifest, &mut whole.as_slice()).is_ok());
    let mut changed = whole.clone();
    changed[1_200_001] ^= 1;
    match check(&manifest, &mut changed.as_slice()) {
        Err(InstallError::Hash { part }) => assert_eq!(part, Part::Kernel),
        other => panic!("{other:?}"),
    }
    let short = &whole[..whole.len() - 1];
    match check(&manifest, &mut &short[..]) {
        Err(InstallError::Source { part, .. }) => assert_eq!(part, Part::Initrd),
        other => panic!("{other:?}"),
    }
    for source in [&changed[..], short] {
        let mut disk = Memory::with(Slot::A, &parts(0));
        let at = (Slot::A, Env::only(Slot::A));
        assert!(install(&mut disk, &manifest, &mut &source[..], at).is_err());
        assert_eq!(disk.env(), Env::only(Slot::A));
    }
}
