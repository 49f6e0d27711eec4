//! What erases a machine, and what does not.

use super::*;
use crate::node::Failure;

const DISK: &str = "invitation = \"gridbay1a\"\nowner = \"OWNER\"\n";

fn key(digits: &str) -> String {
    digits.repeat(32)
}

/// A disk with such an invitation that wants the node with a key erased.
fn asks(invitation: &str, node: &str) -> String {
    format!("invitation = \"{invitation}\"\nreset = \"{}\"", key(node))
}

/// A ready machine whose node has the key abab..., and a disk.
fn with(disk: &str) -> Seen {
    let mut seen = ready(disk);
    seen.node.as_mut().unwrap().node = key("ab");
    seen
}

/// The same with an owner, who told something from afar.
fn told(by: &str, node: &str) -> Seen {
    let mut seen = with(&DISK.replace("OWNER", &key("0a")));
    let (by, node) = (key(by), key(node));
    seen.folder.settings = Some(format!("[owner]\nkey = \"{}\"\n", key("0a")).into_bytes());
    let orders = format!("{{\"owner\":\"{by}\",\"count\":1,\"reset\":\"{node}\"}}");
    seen.folder.orders = Some(orders.into_bytes());
    seen
}

fn erases(seen: &Seen) -> bool {
    let (state, actions) = Agent::new().step(seen);
    let erases = actions.contains(&Action::Reset);
    assert_eq!(erases, state.name() == "draining", "{state:?}");
    if erases {
        assert_eq!(actions, [Action::Reset, Action::Reboot]);
    }
    erases
}

#[test]
fn a_disk_erases_with_the_machines_own_invitation_and_key_alone() {
    assert!(erases(&with(&asks("gridbay1a", "ab"))));
    for (invitation, node) in [("gridbay1a", "cd"), ("gridbay1b", "ab")] {
        let mut seen = with(&asks(invitation, node));
        seen.kept = files("invitation = \"gridbay1a\"");
        assert!(!erases(&seen), "{invitation} {node}");
    }
    let mut silent = with(&asks("gridbay1a", "ab"));
    silent.node = None;
    assert!(!erases(&silent), "nobody knows whose machine that is");
}

#[test]
fn an_owner_erases_from_afar_and_nobody_else() {
    assert!(erases(&told("0a", "ab")));
    assert!(!erases(&told("0b", "ab")), "another owner");
    assert!(!erases(&told("0a", "cd")), "another node");
}

#[test]
fn a_machine_whose_keys_are_gone_has_nothing_to_lose() {
    let mut seen = with(&asks("gridbay1b", "cd"));
    seen.node = None;
    assert!(!erases(&seen));
    seen.folder.keys = false;
    assert!(erases(&seen));
}

#[test]
fn an_erased_machine_waits_for_other_settings() {
    let mut seen = with(&asks("gridbay1a", "ab"));
    (seen.folder, seen.kept, seen.node) = (Folder::default(), Files::default(), None);
    let (state, actions) = Agent::new().step(&seen);
    assert_eq!((state.name(), actions.len()), ("waiting", 0));
    assert!(state.hint().contains("without `reset`"), "{}", state.hint());
}

#[test]
fn a_reset_that_fails_is_told_and_tried_again() {
    let seen = with(&asks("gridbay1a", "ab"));
    let mut agent = Agent::new();
    agent.step(&seen);
    let failure = Failure::own("no space", "see to the data disk");
    let result = Err(failure);
    let failed = Seen {
        outcomes: vec![Outcome {
            kind: Kind::Reset,
            result,
        }],
        ..seen
    };
    let (state, actions) = agent.step(&failed);
    assert_eq!(state.name(), "error");
    assert!(state.reason().contains("no space"), "{}", state.reason());
    assert_eq!(actions, [Action::Reset, Action::Reboot]);
}
