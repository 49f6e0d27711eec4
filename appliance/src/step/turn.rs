//! The decisions of one step, in the order that the module above tells.

use super::memory::Memory;
use super::{netfile, reset, surroundings};
use crate::action::{Action, Kind};
use crate::config::Config;
use crate::node::{Failure, NodeStatus};
use crate::seen::{Data, Seen};
use crate::state::{Fault, State};
use crate::text::{clean, what_runs};

/// Least part of the data partition that must be free, as a divisor.
const FREE_PART: u64 = 20;
/// Least bytes of it that must be free.
const FREE_BYTES: u64 = 64 << 20;
/// Longest text of others that is shown.
pub(super) const SHOWN: usize = 300;

/// A step under way.
pub(super) struct Turn<'a> {
    pub(super) seen: &'a Seen,
    pub(super) memory: Memory,
    pub(super) now: u64,
    pub(super) actions: Vec<Action>,
    pub(super) notes: Vec<Fault>,
    /// Whether what the places tell may be used.
    pub(super) accepted: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn new(seen: &'a Seen, memory: Memory, now: u64) -> Turn<'a> {
        Turn {
            seen,
            memory,
            now,
            actions: Vec::new(),
            notes: Vec::new(),
            accepted: true,
        }
    }
    pub(super) fn done(self) -> (Vec<Action>, Memory) {
        (self.actions, self.memory)
    }

    pub(super) fn decide(&mut self) -> State {
        if self.seen.drain_asked {
            return State::Draining {
                what: draining(self.seen.node.as_ref()),
            };
        }
        if let Some(fault) = full(&self.seen.data) {
            self.accepted = false;
            if self.seen.folder.joined && self.seen.folder.keys {
                self.network();
                self.run();
            }
            return State::Error { fault };
        }
        if !self.seen.folder.joined {
            self.network();
        }
        let in_force = match self.settings() {
            Ok(in_force) => in_force,
            Err(state) => return state,
        };
        if !self.seen.folder.joined {
            return match in_force.config.reset {
                None => self.join(&in_force.config),
                Some(_) => reset::done(),
            };
        }
        if !self.seen.folder.keys {
            let erased = self.reset(&in_force.config);
            return erased.unwrap_or_else(|| State::Error {
                fault: Fault::new(
                    "the node's folder belongs to a network, and its keys are gone",
                    "put back a copy of the folder keys, or have it erased: write \
                     reset = \"NODEKEY\" into the invite.toml of its disk",
                ),
            });
        }
        let config = self.admit(in_force);
        if let Some(state) = self.reset(&config) {
            return state;
        }
        self.network();
        let ready = self.prepare(&config) && self.run();
        let state = match (&self.seen.node, ready) {
            (Some(node), true) => self.with_node(node, &config),
            _ => self.on_the_way("the node starts"),
        };
        self.noted(state)
    }

    /// Asks for actions, unless they were tried a moment ago.
    pub(super) fn ask(
        &mut self,
        kind: Kind,
        subject: &str,
        actions: impl IntoIterator<Item = Action>,
    ) {
        if self.memory.tries.due(kind, subject, self.now) {
            self.actions.extend(actions);
        }
    }

    /// Step 3. Settings that were not accepted bring no network either.
    fn network(&mut self) {
        let mut sources = self.sources().filter(|_| self.accepted);
        let given = sources.find_map(|files| files.network.as_ref());
        let Some(file) = given.or(self.seen.kept.network.as_ref()) else {
            return;
        };
        if let Some(fault) = netfile::fault(file) {
            self.notes.push(fault);
        } else if self.seen.network_in_use.as_ref() == Some(file) {
            self.memory.tries.settled(Kind::Network);
        } else {
            let subject = String::from_utf8_lossy(file);
            self.ask(Kind::Network, &subject, [Action::Network(file.clone())]);
        }
    }

    /// Step 7: whether the node's unit runs.
    fn run(&mut self) -> bool {
        match self.seen.unit.active.as_str() {
            "active" => {
                self.memory.tries.settled(Kind::Node);
                true
            }
            "inactive" | "failed" => {
                self.ask(Kind::Node, "", [Action::StartNode]);
                false
            }
            _ => false,
        }
    }

    fn with_node(&mut self, node: &NodeStatus, config: &Config) -> State {
        match node.state.as_str() {
            "ready" => self.sell(config),
            "draining" => State::Draining {
                what: draining(Some(node)),
            },
            "closed" => State::Error {
                fault: Fault::new(
                    "the node's account was closed",
                    "ask a member for an invitation, and have the machine erased: write \
                     reset = \"NODEKEY\" into the invite.toml of its disk",
                ),
            },
            "halted" => State::Error {
                fault: surroundings::trouble(self.seen).unwrap_or_else(|| {
                    Fault::new("the node is halted", "see to the data partition's disk")
                }),
            },
            _ => self.on_the_way("the node catches up with the ledger"),
        }
    }

    fn on_the_way(&self, what: &str) -> State {
        match surroundings::fault(&self.memory, self.seen, self.now) {
            Some(fault) => State::Error { fault },
            None => State::Joining {
                what: what.to_owned(),
            },
        }
    }

    /// A ready node has notes; to any other state they are an afterthought.
    fn noted(&mut self, state: State) -> State {
        let State::Ready { selling, .. } = state else {
            return state;
        };
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(surroundings::trouble(self.seen));
        notes.extend(surroundings::outside(&self.memory, self.seen, self.now));
        State::Ready { selling, notes }
    }
}

fn draining(node: Option<&NodeStatus>) -> String {
    let runs = node.map(|node| what_runs(node.units_leased, node.jobs_hosted));
    let runs = runs.map_or(String::new(), |runs| format!("; {runs}"));
    format!("takes no new leases{runs}")
}

/// Whether the data partition is so full that nothing new is begun.
fn full(data: &Data) -> Option<Fault> {
    let Data::Mounted { free, total } = *data else {
        return None;
    };
    let least = FREE_BYTES.max(total / FREE_PART);
    (free < least).then(|| {
        Fault::new(
            format!(
                "the data disk is full: {} MiB free of {} MiB",
                free >> 20,
                total >> 20
            ),
            "give the machine a larger disk: the partition grows at the next boot",
        )
    })
}

/// What an action failed with, told as a fault.
pub(super) fn told(what: &str, failure: &Failure) -> Fault {
    Fault::new(
        format!("{what}: {}", clean(&failure.why, SHOWN)),
        clean(&failure.next, SHOWN),
    )
}
