mod afar;
mod cases;
mod random;
mod reset;
mod system;
mod taking;

use super::*;
use crate::action::{Action, Kind, Outcome};
use crate::config::{Files, Token};
use crate::node::{Class, NodeStatus, Offer, Trouble, Unit};
use crate::seen::{Clock, Folder, Machine, Network, Source};
use crate::state::{Fault, State};

pub(super) const GIB: u64 = 1 << 30;

/// An appliance that was just booted, with a good disk, network and clock.
pub(super) fn booted() -> Seen {
    Seen {
        data: Data::Mounted {
            free: 15 * GIB,
            total: 16 * GIB,
        },
        network: Network {
            addresses: vec!["192.0.2.7".to_owned()],
            route: true,
        },
        clock: Clock {
            before_image: false,
            synchronised: true,
            minute: 0,
        },
        unit: unit("inactive"),
        machine: Machine {
            vcpu: 2,
            memory_mib: 2_048,
            disk_mib: 16_384,
        },
        ..Seen::default()
    }
}

pub(super) fn unit(active: &str) -> Unit {
    Unit {
        active: active.to_owned(),
        ..Unit::default()
    }
}

pub(super) fn disk(text: &str) -> Vec<Source> {
    vec![Source {
        origin: "disk GRIDBAY".to_owned(),
        files: Ok(files(text)),
    }]
}

pub(super) fn files(text: &str) -> Files {
    Files {
        invite: Some(text.as_bytes().to_vec()),
        network: None,
    }
}

pub(super) fn token(text: &str) -> Token {
    Token::new(text).unwrap()
}

/// An appliance whose node is ready, by a disk that is still there.
pub(super) fn ready(text: &str) -> Seen {
    Seen {
        sources: disk(text),
        kept: files(text),
        folder: Folder {
            keys: true,
            joined: true,
            genesis: true,
            invitation: Some(token("gridbay1a")),
            settings: None,
            orders: None,
        },
        unit: unit("active"),
        node: Some(NodeStatus {
            state: "ready".to_owned(),
            account: Some("ab".to_owned()),
            peers: 3,
            ..NodeStatus::default()
        }),
        offers: Some(Vec::new()),
        classes: Some(vec![Class {
            name: "small".to_owned(),
            vcpu: 1,
            memory_mib: 1_024,
            disk_mib: 1_024,
            ..Class::default()
        }]),
        ..booted()
    }
}

/// The same before the node has caught up.
pub(super) fn joining() -> Seen {
    let mut seen = ready("invitation = \"gridbay1a\"");
    let node = seen.node.as_mut().unwrap();
    node.state = "joining".to_owned();
    node.account = None;
    seen
}

pub(super) fn own(reserve: &str) -> Offer {
    Offer {
        label: 1,
        account: String::new(),
        own: true,
        class: "small".to_owned(),
        units: 1,
        reserve: crate::config::Credits::new(reserve).ok(),
        buy: None,
        withdrawn: false,
        held_back: false,
    }
}

/// The state after so many seconds in which nothing changes.
pub(super) fn after(seen: &Seen, seconds: u64) -> State {
    let mut memory = Memory::default();
    let mut state = None;
    for now in 0..=seconds {
        let (next, _, kept) = step(&memory, seen, now);
        (state, memory) = (Some(next), kept);
    }
    state.unwrap()
}

/// Steps at one time after another, each with its outcomes.
pub(super) struct Agent {
    pub(super) memory: Memory,
    pub(super) now: u64,
}

impl Agent {
    pub(super) fn new() -> Agent {
        Agent {
            memory: Memory::default(),
            now: 0,
        }
    }
    pub(super) fn step(&mut self, seen: &Seen) -> (State, Vec<Action>) {
        let (state, actions, memory) = step(&self.memory, seen, self.now);
        self.memory = memory;
        self.now += 1;
        (state, actions)
    }
    /// A step that is told what became of the one before.
    pub(super) fn told(
        &mut self,
        seen: &Seen,
        kind: Kind,
        result: Result<(), crate::node::Failure>,
    ) -> (State, Vec<Action>) {
        let mut seen = seen.clone();
        seen.outcomes.push(Outcome { kind, result });
        self.step(&seen)
    }
}

pub(super) fn trouble(what: &str) -> Trouble {
    Trouble {
        what: what.to_owned(),
        hint: "mend it".to_owned(),
    }
}
