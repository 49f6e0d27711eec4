//! One step of the agent: from what was seen to a state and to actions, without I/O.
//!
//! 1. A data partition that cannot be used ends the step: an error, and no action at all.
//! 2. A node that is to be drained is left alone. On a disk that is full nothing is begun; a node
//!    that has joined runs on.
//! 3. The owner's network settings are put in place, since the node needs the network; those of a
//!    disk whose settings are refused are not.
//! 4. Settings come from the first place that has a file, else from the copy of those accepted
//!    last. A disk that is gone, or is the same, therefore changes nothing.
//! 5. A folder without a network joins by the invitation. A folder that has one, and is no member
//!    yet, lets the node's program judge another invitation: one of a foreign network is told and
//!    replaces nothing. A member goes by files with its own invitation alone.
//! 6. Settings are kept once their invitation was accepted.
//! 7. The node's settings file gets the agent's keys, and the node runs.
//! 8. While the ledger refuses the folder's invitation, an accepted new one takes its place.
//! 9. A ready node offers what the machine has (`offers.rs`), by the settings and, before them, by
//!    what the owner told the node from afar. Memory that the host takes back is not offered from
//!    the next step on, and leases that run go on.
//! 10. Each action is tried again after 1, 2, 4, ... 60 s until what was seen no longer calls for
//!     it. Other settings start that anew, and still no kind of action comes twice in a second, but
//!     for the restart that follows from what was written.
//! 11. A system on trial is taken or left, whatever the state (`update::trial`).
//! 12. An update that lies on a disk or was handed over is taken, whatever the state (`taking`).
//! 13. A machine that its owner wants erased reboots for that (`reset`).
//!
//! No other action removes or replaces a key.

mod admit;
mod memory;
mod netfile;
mod offers;
mod ownfile;
mod reset;
mod sell;
mod surroundings;
mod system;
mod taking;
mod tries;
mod turn;

pub use memory::Memory;

use crate::action::Action;
use crate::seen::{Data, Seen};
use crate::state::State;

/// One step at a time in seconds, which only ever grows.
pub fn step(memory: &Memory, seen: &Seen, now: u64) -> (State, Vec<Action>, Memory) {
    let mut memory = memory.clone();
    memory.learn(seen);
    memory.watch(seen, now);
    let (state, mut actions, mut memory) = match &seen.data {
        Data::Broken(fault) => {
            let fault = fault.clone();
            (State::Error { fault }, Vec::new(), memory)
        }
        Data::Mounted { .. } => {
            let mut turn = turn::Turn::new(seen, memory, now);
            let state = turn.decide();
            let (actions, memory) = turn.done();
            (state, actions, memory)
        }
    };
    actions.extend(system::action(&mut memory, seen, &state, now));
    actions.extend(taking::actions(&mut memory, seen, now));
    (state, actions, memory)
}

#[cfg(test)]
mod tests;
