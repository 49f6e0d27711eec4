//! Tables: what is refused, and what the agent does boot by boot.

use super::*;
use crate::state::{Fault, State};
use crate::update::check::{Here, Refusal, admit};
use crate::update::env::EnvError;
use crate::update::record::{Record, Stage};
use crate::update::trial::{self, Boot, GOOD, LIMIT, Next, Standing};

fn here() -> Here {
    Here {
        flavour: "base".to_owned(),
        built: 1_790_000_000,
        running: Slot::A,
        env: Ok(Env::only(Slot::A)),
        room: [1_300_000, 10_000, 1_200_000],
    }
}

#[test]
fn an_update_that_does_not_fit_is_refused_with_the_reason() {
    let update = manifest(&parts(5));
    assert_eq!(admit(&update, &here(), false), Ok(Env::only(Slot::A)));
    let refused = |here: Here| admit(&update, &here, false).unwrap_err();
    let cluster = Here {
        flavour: "cluster".to_owned(),
        ..here()
    };
    assert!(refused(cluster).to_string().contains("flavour base"));
    let newer = Here {
        built: 1_790_000_007,
        ..here()
    };
    assert_eq!(admit(&update, &newer, true), Ok(Env::only(Slot::A)));
    assert_eq!(refused(newer), Refusal::Older { seconds: 7 });
    let small = Here {
        room: [1_300_000, 2_999, 1_200_000],
        ..here()
    };
    let (part, bytes, room) = (Part::Kernel, 3_000, 2_999);
    assert_eq!(refused(small), Refusal::Large { part, bytes, room });
    for tries in 0..=2 {
        let env = Env {
            tries,
            ..Env::trial(Slot::A)
        };
        let pending = Here {
            env: Ok(env),
            ..here()
        };
        assert_eq!(refused(pending), Refusal::Pending { slot: Slot::B });
    }
    let torn = Here {
        env: Err(EnvError::Damaged),
        ..here()
    };
    assert_eq!(refused(torn), Refusal::Env(EnvError::Damaged));
    let mut huge = update.clone();
    huge.parts = [any_sum(u64::MAX); 3];
    assert!(admit(&huge, &here(), true).is_err() && huge.bytes() == u64::MAX);
}

fn boot(running: Slot, trial: Option<Slot>, tries: u8) -> Boot {
    let env = Env {
        slot: Slot::A,
        trial,
        tries,
    };
    Boot {
        running,
        env: Ok(env),
        id: "now".to_owned(),
    }
}

#[test]
fn how_things_stand_follows_from_what_runs_and_what_is_on_trial() {
    let (a, b) = (Slot::A, Slot::B);
    for (boot, stands) in [
        (boot(a, None, 0), Standing::Settled),
        (boot(a, None, 2), Standing::Settled),
        // The boot loader could not read the kernel of a.
        (boot(b, None, 0), Standing::Settled),
        (boot(a, Some(b), 2), Standing::Pending),
        (boot(b, Some(b), 1), Standing::OnTrial),
        (boot(b, Some(b), 0), Standing::OnTrial),
        (boot(b, Some(b), 2), Standing::OnTrial),
        (boot(a, Some(b), 1), Standing::Left),
        (boot(a, Some(b), 0), Standing::Left),
    ] {
        assert_eq!(trial::standing(&boot, None), stands, "{boot:?}");
    }
    let env = Err(EnvError::Damaged);
    let id = String::new();
    let torn = Boot {
        running: b,
        env,
        id,
    };
    assert_eq!(trial::standing(&torn, None), Standing::Damaged);
    assert_eq!(
        trial::next(&torn, None, None, 0),
        Some(Next::Set(Env::only(b), None))
    );
}

#[test]
fn a_system_on_trial_is_taken_after_a_minute_and_reboots_after_ten() {
    let on_trial = boot(Slot::B, Some(Slot::B), 1);
    let taken = Some(Next::Set(Env::only(Slot::B), Some(Stage::Committed)));
    for (good, now, next) in [
        (None, 0, None),
        (None, LIMIT - 1, None),
        (None, LIMIT, Some(Next::Reboot)),
        (Some(30), 30, None),
        (Some(30), 30 + GOOD - 1, None),
        (Some(30), 30 + GOOD, taken),
        (Some(LIMIT - 1), LIMIT, None),
        (Some(LIMIT - 1), LIMIT - 1 + GOOD, taken),
    ] {
        assert_eq!(
            trial::next(&on_trial, None, good, now),
            next,
            "{good:?} at {now}"
        );
        let settled = boot(Slot::A, None, 0);
        assert_eq!(trial::next(&settled, None, good, now), None);
        let pending = boot(Slot::A, Some(Slot::B), 2);
        let mut written = Record::begun("0.2", Slot::B, "ready").at(Stage::Written);
        for (boot, next) in [
            ("", None),
            ("now", None),
            (
                "before",
                Some(Next::Set(Env::only(Slot::A), Some(Stage::Unstarted))),
            ),
        ] {
            written.boot = boot.to_owned();
            assert_eq!(trial::next(&pending, Some(&written), good, now), next);
        }
        let left = Some(Next::Set(Env::only(Slot::A), Some(Stage::Left)));
        assert_eq!(
            trial::next(&boot(Slot::A, Some(Slot::B), 0), None, good, now),
            left
        );
    }
}

#[test]
fn waiting_and_draining_are_good_only_for_a_machine_that_did_so() {
    let waiting = State::Waiting {
        how: Fault::new("x", "y"),
    };
    let joining = State::Joining {
        what: String::new(),
    };
    let ready = State::Ready {
        selling: String::new(),
        notes: Vec::new(),
    };
    let before = |state| Record::begun("0.2", Slot::B, state);
    assert!(trial::is_good(&ready, None));
    assert!(!trial::is_good(&waiting, None));
    assert!(!trial::is_good(&waiting, Some(&before("ready"))));
    assert!(trial::is_good(&waiting, Some(&before("waiting"))));
    assert!(!trial::is_good(&joining, Some(&before("joining"))));
    let draining = State::Draining {
        what: String::new(),
    };
    assert!(!trial::is_good(&draining, Some(&before("ready"))));
    assert!(trial::is_good(&draining, Some(&before("draining"))));
}

#[test]
fn the_owner_is_told_of_an_update_that_was_left_until_the_next_one() {
    let record = Record::begun("0.2", Slot::B, "ready").at(Stage::Written);
    let left = boot(Slot::A, Some(Slot::B), 0);
    let told = |boot: &Boot, record: Option<&Record>| {
        trial::note(Some(boot), record, "0.1").map(|note| note.reason)
    };
    let note = "the update 0.2 did not become ready and was left; this is 0.1";
    assert_eq!(told(&left, Some(&record)).as_deref(), Some(note));
    let settled = boot(Slot::A, None, 0);
    assert_eq!(told(&settled, Some(&record)), None);
    let noted = record.at(Stage::Left);
    assert_eq!(told(&settled, Some(&noted)).as_deref(), Some(note));
    assert_eq!(told(&settled, Some(&record.at(Stage::Committed))), None);
    let unknown = "the update did not become ready and was left; this is 0.1";
    assert_eq!(told(&left, None).as_deref(), Some(unknown));
    let pending = boot(Slot::A, Some(Slot::B), 2);
    assert_eq!(trial::pending(Some(&pending), Some(&record)), "0.2");
    assert_eq!(trial::pending(Some(&pending), None), "slot b");
    assert_eq!(trial::pending(Some(&left), Some(&record)), "");
    assert_eq!(trial::pending(None, Some(&record)), "");
}

#[test]
fn a_record_is_read_back_and_garbage_is_none() {
    let record = Record::begun("0.2", Slot::B, "ready").at(Stage::Left);
    let text = serde_json::to_vec(&record).unwrap();
    assert_eq!(Record::read(&text), Some(record));
    for garbage in ["", "{", "7", "{\"stage\":\"x\"}", "{\"version\":1}"] {
        assert_eq!(Record::read(garbage.as_bytes()), None, "{garbage}");
    }
    let hostile = Record::read(b"{\"version\":\"\\u001b[2J\",\"x\":1}").unwrap();
    assert_eq!(
        (hostile.version.as_str(), hostile.stage),
        ("?[2J", Stage::Begun)
    );
}
