//! A reset: step 13.
//!
//! 1. It is asked for by `reset` in settings that count, or by the owner from afar, and names the
//!    transport key of the node that is to be erased. After a reset the node has another key, so
//!    that what asked for it may stay where it is.
//! 2. A machine whose keys are gone has no key to name, and nothing to lose: any will do.
//! 3. The reboot drains, and erases at its next start (`data::reset`).

use super::turn::{Turn, told};
use crate::action::{Action, Kind};
use crate::config::Config;
use crate::state::{Fault, State};

impl Turn<'_> {
    /// The state of a machine that is to be erased; `None` for any other one.
    pub(super) fn reset(&mut self, config: &Config) -> Option<State> {
        let told_from_afar = self.told(config).ok().flatten();
        let asked = [
            config.reset.clone(),
            told_from_afar.and_then(|orders| orders.reset),
        ];
        let node = self.seen.node.as_ref().map(|node| node.node.as_str());
        let keys = self.seen.folder.keys;
        let is_this = |key: &String| match node {
            Some(node) => node == key,
            None => !keys,
        };
        let key = asked.into_iter().flatten().find(is_this)?;
        self.ask(Kind::Reset, &key, [Action::Reset, Action::Reboot]);
        Some(match self.memory.tries.failure(Kind::Reset, &key) {
            Some(failure) => State::Error {
                fault: told("the machine was not erased", failure),
            },
            None => State::Draining {
                what: "reboots, and erases its keys and settings then".to_owned(),
            },
        })
    }
}

/// The state of a machine that was erased, while the settings that asked for it are still there.
pub(super) fn done() -> State {
    State::Waiting {
        how: Fault::new(
            "this machine has no keys, and the settings ask for a reset",
            "give it another invitation, in settings without `reset`",
        ),
    }
}
