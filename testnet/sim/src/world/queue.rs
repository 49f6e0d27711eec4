//! Events to come, by time; events of one time in the order in which they were made.

use gridbay_core::agent::RunId;
use gridbay_core::input::Input;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Something that will happen.
#[derive(Debug)]
pub(crate) enum Event {
    /// A node gets an input, if it still lives the life that it was meant for.
    Input {
        node: usize,
        life: u64,
        input: Box<Input>,
    },
    /// A node wanted to be woken now.
    Wake { node: usize, life: u64 },
    /// A played job comes to its end by itself.
    JobEnds { node: usize, job: RunId },
    /// An item of the plan's faults is due.
    Fault(usize),
    /// Nobody answered a question in time.
    Unanswered(u64),
    /// The connections between nodes are looked at again.
    Links,
    /// A direction between two nodes that stalled may go on.
    Flow(usize, usize),
    /// A node that reads slowly takes a message.
    Read { node: usize, until: u64 },
    /// A house floods while the network is calm, for the time of this number.
    Crowd(u64),
    /// A node whose program ended by a fault of its disk tries again.
    Retry(usize),
    /// A user does something.
    Deed,
    /// A liar does something unasked.
    Whim(usize),
}

#[derive(Debug)]
struct Due {
    at: u64,
    seq: u64,
    event: Event,
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Due {}
impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Due {
    /// The heap gives its greatest: the earliest event.
    fn cmp(&self, other: &Due) -> Ordering {
        (other.at, other.seq).cmp(&(self.at, self.seq))
    }
}

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Due>,
    seq: u64,
}

impl Queue {
    /// Adds an event.
    pub(crate) fn push(&mut self, at: u64, event: Event) {
        self.seq += 1;
        let seq = self.seq;
        self.heap.push(Due { at, seq, event });
    }
    /// The next event, if it happens by `end`.
    pub(crate) fn pop(&mut self, end: u64) -> Option<(u64, Event)> {
        if self.heap.peek()?.at > end {
            return None;
        }
        self.heap.pop().map(|due| (due.at, due.event))
    }
}
