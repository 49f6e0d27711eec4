//! What a step remembers: what was tried, and since when things are as they are.

use super::taking::Updates;
use super::tries::Tries;
use crate::action::{Kind, NewOffer};
use crate::config::Token;
use crate::seen::{Machine, Seen};
use crate::state::Fault;

/// Time over which restarts are counted, seconds.
const WINDOW: u64 = 120;

/// So long the memory must stay before more of it counts, seconds.
const CALM: u64 = 10;

/// What a step remembers for the next one. It holds a secret, so it has no debug output.
#[derive(Clone, Default)]
pub struct Memory {
    pub(super) tries: Tries,
    /// The invitation that the node's program found to be of the folder's network.
    pub(super) admitted: Option<Token>,
    /// The offer that was set last, as it was asked for.
    pub(super) offered: Option<NewOffer>,
    /// Since when no interface has an address.
    pub(super) unplugged: Option<u64>,
    /// Since when the node does not answer.
    pub(super) silent: Option<u64>,
    /// Since when the node has no peers.
    pub(super) lonely: Option<u64>,
    /// The node's height, and since when.
    pub(super) height: Option<(u64, u64)>,
    /// The count of restarts that others are compared with, and since when.
    pub(super) restarts: Option<(u32, u64)>,
    /// The machine's memory: what counts, what was seen last, and since when that is so.
    pub(super) room: Option<(u64, u64, u64)>,
    /// Since when the state is as good as a system on trial must be.
    pub(super) good: Option<u64>,
    /// Updates that lie about.
    pub(super) updates: Updates,
}

impl Memory {
    /// Notes on updates, told in any state.
    pub fn notes(&self) -> &[Fault] {
        &self.updates.notes
    }
    /// Takes in what became of the last actions.
    pub(super) fn learn(&mut self, seen: &Seen) {
        for outcome in &seen.outcomes {
            self.tries.ended(outcome.kind, &outcome.result);
            if outcome.kind == Kind::Join && outcome.result.is_ok() {
                let judged = self.tries.subject(Kind::Join).map(Token::new);
                self.admitted = judged.and_then(Result::ok);
            }
            if outcome.kind == Kind::TakeUpdate {
                self.updates.learn(&outcome.result);
            }
            if outcome.kind == Kind::Offer && outcome.result.is_err() {
                self.offered = None;
            }
        }
    }
    /// The machine as far as it may be sold. Less memory counts at once; more of it only once it
    /// has stayed, since a host gives it back little by little and each offer is an entry of the
    /// ledger.
    pub(super) fn machine(&self, seen: Machine) -> Machine {
        Machine {
            memory_mib: self.room.map_or(seen.memory_mib, |(counts, ..)| counts),
            ..seen
        }
    }
    /// Notes since when things are as they are.
    pub(super) fn watch(&mut self, seen: &Seen, now: u64) {
        let since = |is: bool, before: Option<u64>| is.then(|| before.unwrap_or(now));
        self.unplugged = since(seen.network.addresses.is_empty(), self.unplugged);
        let mib = seen.machine.memory_mib;
        self.room = Some(match self.room {
            Some((counts, last, since)) if counts < mib => {
                let since = if last == mib { since } else { now };
                let stayed = now.saturating_sub(since) >= CALM;
                (if stayed { mib } else { counts }, mib, since)
            }
            _ => (mib, mib, now),
        });
        let silent = seen.folder.joined && seen.node.is_none();
        self.silent = since(silent, self.silent);
        let lonely = seen.node.as_ref().is_some_and(|node| node.peers == 0);
        self.lonely = since(lonely, self.lonely);
        self.height = seen.node.as_ref().map(|node| match self.height {
            Some((height, since)) if height == node.height => (height, since),
            _ => (node.height, now),
        });
        let count = seen.unit.restarts;
        self.restarts = match self.restarts {
            Some((base, from)) if base <= count && now.saturating_sub(from) <= WINDOW => {
                Some((base, from))
            }
            _ => Some((count, now)),
        };
    }
}
