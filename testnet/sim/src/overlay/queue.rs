//! Events to come, in order of time and, at equal times, of entry.

use super::{Id, Millis};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that happens. Runs tell apart what a node was before it left and after it came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A node starts.
    Start(Id),
    /// A node looks whether something is due.
    Wake(Id),
    /// A handshake has ended, or nobody has answered for long enough.
    Dialled { from: Id, to: Id, run: u32 },
    /// A dial could not even begin.
    NotDialled { from: Id, to: Id, run: u32 },
    /// Both ends of a connection know who the other is.
    Identified { a: Id, b: Id, since: Millis },
    /// A peer's answer to a query arrives.
    Answer { query: u64, peer: Id },
    /// A record arrives at a peer.
    Store { at: Id, owner: Id, sequence: Millis },
    /// A query has taken too long.
    Late { query: u64, began: Millis },
    /// A query for a record has found one long enough ago.
    Ripe { query: u64 },
    /// The peers of a node that left notice.
    Silence(Id),
    /// Some node leaves.
    Leave,
    /// Some node comes.
    Come,
    /// Two nodes are drawn for a measured lookup.
    Probe,
    /// A node looks for the record of another, and is measured.
    Seek { from: Id, of: Id },
}

/// The future.
#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<(Millis, u64, Event)>>,
    told: u64,
}

impl Queue {
    pub(super) fn push(&mut self, at: Millis, event: Event) {
        self.told += 1;
        self.heap.push(Reverse((at, self.told, event)));
    }

    /// The next thing that happens, if it does until then.
    pub(super) fn pop_before(&mut self, last: Millis) -> Option<(Millis, Event)> {
        let Reverse((at, ..)) = self.heap.peek()?;
        if *at > last {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, event))| (at, event))
    }
}
