//! Updates that lie on disks or were handed over, through whole steps.

use super::*;
use crate::image::Image;
use crate::node::Failure;
use crate::step::taking::DRAIN;
use crate::update::env::Env;
use crate::update::manifest::{Manifest, Sum};
use crate::update::offered::{Offered, Origin};
use crate::update::record::Record;
use crate::update::slot::Slot;
use crate::update::trial::Boot;

pub(super) fn update(origin: Origin, built: u64) -> Offered {
    Offered {
        origin,
        id: built.to_string(),
        manifest: Ok(Manifest {
            flavour: "base".to_owned(),
            version: format!("0.{built}"),
            built,
            parts: [Sum {
                bytes: 1,
                hash: [0; 32],
            }; 3],
        }),
    }
}

fn disk(name: &str, built: u64) -> Offered {
    update(Origin::Device(name.to_owned()), built)
}

fn unsigned() -> Offered {
    Offered {
        manifest: Err(Fault::new("unsigned", "sign it")),
        ..update(Origin::Owner, 9)
    }
}

pub(super) fn started(env: Env) -> Boot {
    Boot {
        running: Slot::A,
        env: Ok(env),
        id: String::new(),
    }
}

pub(super) fn image() -> Image {
    Image {
        built: 1,
        version: "0.1".to_owned(),
        flavour: "base".to_owned(),
    }
}

/// A machine that runs well, with these updates about.
fn with(offered: &[Offered]) -> Seen {
    Seen {
        image: image(),
        boot: Some(started(Env::only(Slot::A))),
        offered: offered.to_vec(),
        ..ready("invitation = \"gridbay1a\"")
    }
}

/// The actions on updates alone.
fn about(actions: Vec<Action>) -> Vec<Action> {
    let about = |action: &Action| {
        let kinds = [
            Kind::TakeUpdate,
            Kind::DropUpdate,
            Kind::Drain,
            Kind::Reboot,
        ];
        kinds.contains(&action.kind())
    };
    actions.into_iter().filter(about).collect()
}

fn take(offered: &Offered) -> Action {
    Action::TakeUpdate(offered.origin.clone(), offered.id.clone())
}

fn notes(agent: &Agent) -> String {
    let notes = agent.memory.notes().iter();
    notes
        .map(|note| note.reason.clone())
        .collect::<Vec<_>>()
        .join("; ")
}

#[test]
fn the_newest_is_taken_and_is_told() {
    let (old, new) = (disk("vdb", 2), disk("vdc", 3));
    for offered in [[old.clone(), new.clone()], [new.clone(), old]] {
        let mut agent = Agent::new();
        let asked = about(agent.step(&with(&offered)).1);
        assert_eq!(asked, [take(&new)]);
        assert!(notes(&agent).contains("0.3 on disk vdc is checked and written"));
    }
}

#[test]
fn only_a_settled_machine_takes_one() {
    let good = disk("vdb", 2);
    let trial = Env::trial(Slot::A);
    for (boot, data) in [
        (Some(started(trial)), None),
        (Some(started(trial.start().1)), None),
        (Some(started(trial.start().1.start().1)), None),
        (
            Some(started(Env::only(Slot::A))),
            Some(Data::Broken(Fault::new("broken", ""))),
        ),
        (None, None),
    ] {
        let mut seen = with(std::slice::from_ref(&good));
        seen.boot = boot;
        seen.data = data.unwrap_or(seen.data);
        let mut agent = Agent::new();
        for _ in 0..60 {
            assert_eq!(about(agent.step(&seen).1), [], "{seen:?}");
        }
        let told = notes(&agent).contains("did not start this system");
        assert_eq!(told, seen.boot.is_none());
    }
}

#[test]
fn one_that_failed_is_told_and_not_tried_again_while_it_lies_there() {
    let good = disk("vdb", 2);
    let (seen, mut agent) = (with(std::slice::from_ref(&good)), Agent::new());
    assert_eq!(about(agent.step(&seen).1), [take(&good)]);
    let failed = Err(Failure::own("it is damaged", "copy it whole"));
    assert_eq!(about(agent.told(&seen, Kind::TakeUpdate, failed).1), []);
    for _ in 0..600 {
        assert_eq!(about(agent.step(&seen).1), []);
        assert!(notes(&agent).contains("on disk vdb is not taken: it is damaged"));
    }
    let other = disk("vdb", 3);
    assert_eq!(about(agent.step(&with(&[])).1), []);
    assert_eq!(notes(&agent), "");
    assert_eq!(
        about(agent.step(&with(std::slice::from_ref(&good))).1),
        [take(&good)]
    );
    agent.told(
        &with(&[good]),
        Kind::TakeUpdate,
        Err(Failure::own("no", "")),
    );
    assert_eq!(
        about(agent.step(&with(std::slice::from_ref(&other))).1),
        [take(&other)]
    );
}

#[test]
fn what_the_owner_handed_over_goes_and_the_reason_stays() {
    let (bad, good) = (with(&[unsigned()]), update(Origin::Owner, 2));
    let mut agent = Agent::new();
    assert_eq!(about(agent.step(&bad).1), [Action::DropUpdate]);
    let gone = with(&[]);
    for _ in 0..100 {
        assert_eq!(about(agent.step(&gone).1), []);
        assert!(notes(&agent).contains("handed over is not taken: unsigned"));
    }
    assert_eq!(
        about(agent.step(&bad).1),
        [Action::DropUpdate],
        "at once again"
    );
    let handed = with(std::slice::from_ref(&good));
    assert_eq!(about(agent.step(&handed).1), [take(&good)]);
    assert!(!notes(&agent).contains("unsigned"));
    let failed = Err(Failure::own("it is damaged", "copy it whole"));
    agent.told(&gone, Kind::TakeUpdate, failed);
    assert!(notes(&agent).contains("handed over is not taken: it is damaged"));
    assert_eq!(
        about(agent.step(&handed).1),
        [take(&good)],
        "handed over again"
    );
    agent.told(&gone, Kind::TakeUpdate, Ok(()));
    assert_eq!(notes(&agent), "");
}

/// A machine with an update that starts next.
fn written(by_agent: bool, leased: u32) -> Seen {
    let mut seen = with(&[disk("vdb", 3)]);
    seen.boot = Some(started(Env::trial(Slot::A)));
    seen.update = Some(Record {
        by_agent,
        ..Record::begun("0.2", Slot::B, "ready")
    });
    if let Some(node) = &mut seen.node {
        node.units_leased = leased;
    }
    seen
}

#[test]
fn a_machine_drains_before_it_reboots_for_an_update() {
    for (leased, reboots) in [(0, 1), (2, DRAIN)] {
        let (mut seen, mut agent) = (written(true, leased), Agent::new());
        assert_eq!(about(agent.step(&seen).1), [Action::Drain]);
        seen.drain_asked = true;
        while agent.now < reboots {
            assert_eq!(about(agent.step(&seen).1), [], "at {}", agent.now);
        }
        assert_eq!(about(agent.step(&seen).1), [Action::Reboot]);
    }
}

#[test]
fn an_update_that_the_boot_loader_passed_over_reboots_nothing_more() {
    let (mut seen, mut agent) = (written(true, 0), Agent::new());
    let (Some(boot), Some(record)) = (&mut seen.boot, &mut seen.update) else {
        panic!("there is an update");
    };
    (boot.id, record.boot) = ("now".to_owned(), "before".to_owned());
    for _ in 0..DRAIN * 2 {
        assert_eq!(about(agent.step(&seen).1), []);
    }
}

#[test]
fn an_update_that_somebody_wrote_by_hand_reboots_nothing() {
    let (seen, mut agent) = (written(false, 0), Agent::new());
    for _ in 0..DRAIN * 2 {
        assert_eq!(about(agent.step(&seen).1), []);
    }
}
