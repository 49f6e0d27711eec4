//! Long random rows of looks: whatever is seen, some things never happen.

use super::*;
use crate::node::Failure;
use crate::update::env::Env;
use crate::update::offered::{Offered, Origin};
use crate::update::slot::Slot;

/// A small generator of numbers; the same seed gives the same row.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
    fn is(&mut self) -> bool {
        self.roll(2) == 0
    }
    fn of<T: Clone>(&mut self, list: &[T]) -> T {
        let index = usize::try_from(self.roll(list.len() as u64)).unwrap();
        list[index].clone()
    }
}

const TEXTS: [&str; 8] = [
    "",
    "gridbay1a",
    "invitation = \"gridbay1a\"",
    "invitation = \"gridbay1b\"\nname = \"x\"",
    "[sell]\nprice = 4",
    "[sell]\noff = true",
    "invitation = \"garbage\"",
    "\u{0}=",
];

fn random_files(dice: &mut Dice) -> Files {
    let mut file = |texts: &[&str]| dice.is().then(|| dice.of(texts).as_bytes().to_vec());
    Files {
        invite: file(&TEXTS),
        network: file(&["[Match]\n", "[NetDev]", ""]),
    }
}

fn random_node(dice: &mut Dice) -> NodeStatus {
    let states = ["joining", "ready", "closed", "draining", "halted", "other"];
    NodeStatus {
        state: dice.of(&states).to_owned(),
        account: dice.is().then(|| "ab".to_owned()),
        joining: dice.is().then(|| "it was used".to_owned()),
        peers: u32::try_from(dice.roll(2)).unwrap(),
        height: dice.roll(3),
        ..NodeStatus::default()
    }
}

fn random_outcomes(dice: &mut Dice) -> Vec<Outcome> {
    let kinds = [
        Kind::Join,
        Kind::Offer,
        Kind::Renew,
        Kind::Settings,
        Kind::Node,
        Kind::Keep,
        Kind::TakeUpdate,
        Kind::DropUpdate,
    ];
    let count = dice.roll(3);
    (0..count)
        .map(|_| Outcome {
            kind: dice.of(&kinds),
            result: if dice.is() {
                Ok(())
            } else {
                Err(Failure::own("no", ""))
            },
        })
        .collect()
}

fn random_orders(dice: &mut Dice) -> Vec<u8> {
    let texts = [
        "nonsense",
        "{}",
        r#"{"price":"3","units":1}"#,
        r#"{"hours":"01:00-02:00"}"#,
        r#"{"sell":false}"#,
    ];
    dice.of(&texts).as_bytes().to_vec()
}

fn random_update(dice: &mut Dice) -> Offered {
    let origins = [Origin::Owner, Origin::Device("vdb".to_owned())];
    let update = taking::update(dice.of(&origins), dice.roll(3));
    let manifest = match dice.is() {
        true => update.manifest,
        false => Err(Fault::new("unsigned", "sign it")),
    };
    Offered { manifest, ..update }
}

fn random(dice: &mut Dice) -> Seen {
    let room = |dice: &mut Dice| Data::Mounted {
        free: dice.roll(16) * GIB,
        total: 16 * GIB,
    };
    let source = |dice: &mut Dice| Source {
        origin: "disk".to_owned(),
        files: if dice.is() {
            Ok(random_files(dice))
        } else {
            Err("unreadable".to_owned())
        },
    };
    let up = ready("");
    let units = [
        "active",
        "inactive",
        "failed",
        "activating",
        "deactivating",
        "",
    ];
    Seen {
        data: match dice.roll(4) {
            0 => Data::Broken(Fault::new("broken", "")),
            _ => room(dice),
        },
        sources: (0..dice.roll(3)).map(|_| source(dice)).collect(),
        kept: random_files(dice),
        folder: Folder {
            keys: dice.is(),
            joined: dice.is(),
            genesis: dice.is(),
            invitation: dice.is().then(|| token("gridbay1a")),
            settings: dice.is().then(|| b"name = \"x\"".to_vec()),
            orders: dice.is().then(|| random_orders(dice)),
        },
        unit: Unit {
            restarts: u32::try_from(dice.roll(9)).unwrap(),
            ..unit(dice.of(&units))
        },
        node: dice.is().then(|| random_node(dice)),
        offers: dice.is().then(|| vec![own(dice.of(&["1", "4"]))]),
        classes: dice.is().then(|| up.classes.unwrap_or_default()),
        drain_asked: dice.roll(8) == 0,
        boot: dice.is().then(|| taking::started(Env::only(Slot::A))),
        offered: (0..dice.roll(3)).map(|_| random_update(dice)).collect(),
        outcomes: random_outcomes(dice),
        image: taking::image(),
        ..booted()
    }
}

/// The paths that an action can lead to are fixed by its kind, so this is a list of kinds that
/// never touch the folder of keys. A new kind has to be thought about here.
fn leaves_keys_alone(action: &Action, seen: &Seen) -> bool {
    match action {
        // The program makes keys only where there are none: never in a folder that had some.
        Action::Join(_) => !seen.folder.joined || seen.folder.keys,
        Action::Renew(_) => seen.folder.joined && seen.folder.keys,
        // None of these settings and orders asks for one.
        Action::Reset => false,
        Action::WriteSettings(text) => !text.contains("keys"),
        Action::Network(_)
        | Action::StartNode
        | Action::RestartNode
        | Action::SetOffer(_)
        | Action::Withdraw(_)
        | Action::Keep(_)
        | Action::SetBoot(..)
        | Action::TakeUpdate(..)
        | Action::DropUpdate
        | Action::Drain
        | Action::Reboot => true,
    }
}

#[test]
fn no_row_of_looks_endangers_keys_or_hurries() {
    let (mut joins, mut states) = (0, std::collections::BTreeSet::new());
    for seed in 1..=200 {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ seed);
        let mut memory = Memory::default();
        let (mut now, mut last) = (0, std::collections::BTreeMap::new());
        for _ in 0..100 {
            now += dice.roll(3);
            let seen = random(&mut dice);
            let (state, actions, next) = step(&memory, &seen, now);
            memory = next;
            states.insert(state.name());
            assert!(!state.reason().is_empty(), "{state:?}");
            let broken = matches!(seen.data, Data::Broken(_));
            assert!(
                !(broken || seen.drain_asked) || actions.is_empty(),
                "{actions:?}"
            );
            for action in &actions {
                assert!(leaves_keys_alone(action, &seen), "{action:?} {seen:?}");
                // A restart follows from what it is for.
                if *action == Action::RestartNode {
                    continue;
                }
                let before = last.insert(action.kind(), now);
                assert!(
                    before.is_none_or(|before| before < now),
                    "{action:?} at {now}"
                );
                joins += usize::from(action.kind() == Kind::Join);
            }
        }
    }
    assert!(joins > 100, "{joins}");
    assert_eq!(states.len(), 5, "{states:?}");
}

#[test]
fn what_stays_as_it_is_calms_down() {
    for seed in 1..=300 {
        let mut dice = Dice(0x2545_f491_4f6c_dd1d ^ seed);
        let seen = Seen {
            outcomes: Vec::new(),
            ..random(&mut dice)
        };
        let mut memory = Memory::default();
        let mut tried = 0;
        for now in 0..600 {
            let (_, actions, next) = step(&memory, &seen, now);
            memory = next;
            tried += actions
                .iter()
                .filter(|a| **a != Action::RestartNode)
                .count();
        }
        // At most 15 tries of each kind in ten minutes.
        assert!(tried <= 15 * 5, "{tried} {seen:?}");
    }
}
