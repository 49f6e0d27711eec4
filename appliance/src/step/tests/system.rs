//! A system on trial, through whole steps.

use super::*;
use crate::update::env::Env;
use crate::update::record::{Record, Stage};
use crate::update::slot::Slot;
use crate::update::trial::{Boot, GOOD, LIMIT};

/// The same machine with its other system on trial, and started.
fn on_trial(seen: Seen, before: &str) -> Seen {
    Seen {
        boot: Some(Boot {
            running: Slot::B,
            env: Ok(Env::trial(Slot::A).start().1),
            id: String::new(),
        }),
        update: Some(Record::begun("0.2", Slot::B, before)),
        ..seen
    }
}

/// What is asked for about the system, at each second until so many have passed.
fn asked(seen: &Seen, seconds: u64) -> Vec<(u64, Action)> {
    let mut memory = Memory::default();
    let mut asked = Vec::new();
    for now in 0..=seconds {
        let (_, actions, next) = step(&memory, seen, now);
        memory = next;
        let about = |action: &Action| matches!(action.kind(), Kind::Boot | Kind::Reboot);
        asked.extend(
            actions
                .into_iter()
                .filter(about)
                .map(|action| (now, action)),
        );
    }
    asked
}

#[test]
fn a_good_system_on_trial_is_taken_after_a_minute() {
    let taken = Action::SetBoot(Env::only(Slot::B), Some(Stage::Committed));
    let ready = on_trial(ready("invitation = \"gridbay1a\""), "waiting");
    let waiting = on_trial(booted(), "waiting");
    for seen in [ready, waiting] {
        assert_eq!(asked(&seen, GOOD), [(GOOD, taken.clone())]);
    }
}

#[test]
fn one_that_is_no_good_reboots_after_ten_minutes_and_asks_again_if_that_fails() {
    let broken = Seen {
        data: Data::Broken(Fault::new("broken", "")),
        ..ready("invitation = \"gridbay1a\"")
    };
    let unasked = booted();
    for seen in [broken, joining(), unasked] {
        let asked = asked(&on_trial(seen, "ready"), LIMIT + 2);
        let reboots = [(LIMIT, Action::Reboot), (LIMIT + 1, Action::Reboot)];
        assert_eq!(asked, reboots);
    }
}

#[test]
fn good_seconds_count_only_in_a_row() {
    let good = on_trial(booted(), "waiting");
    let bad = on_trial(joining(), "waiting");
    let mut memory = Memory::default();
    for now in 0..300 {
        let seen = if now % 50 == 49 { &bad } else { &good };
        let (_, actions, next) = step(&memory, seen, now);
        memory = next;
        assert!(
            actions.iter().all(|action| action.kind() != Kind::Boot),
            "{now}"
        );
    }
}

#[test]
fn a_machine_without_a_trial_or_without_boot_settings_is_left_alone() {
    let settled = Boot {
        running: Slot::A,
        env: Ok(Env::only(Slot::A)),
        id: String::new(),
    };
    for boot in [None, Some(settled)] {
        let seen = Seen { boot, ..joining() };
        assert_eq!(asked(&seen, LIMIT + GOOD), []);
    }
}
