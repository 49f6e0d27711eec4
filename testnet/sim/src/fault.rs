//! Faults that a plan injects, each at a time of its own.

use crate::class::CLASSES;
use serde::{Deserialize, Serialize};

/// The bytes never synced that a power loss leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leaves {
    /// Nothing.
    Nothing,
    /// Any of their sectors; a file never synced may be gone.
    Some,
    /// All of them, as after a killed process.
    All,
}

/// A cut: it decides which nodes hear each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Two groups that cannot hear one another; these nodes are the first group.
    Halves(Vec<usize>),
    /// As [`Cut::Halves`], but this node hears and is heard by all.
    Bridge(Vec<usize>, usize),
    /// Only this node hears and is heard by others.
    Star(usize),
    /// The nodes hear only their neighbours in a ring.
    Ring,
    /// Others do not hear this node, but it hears them.
    Mute(usize),
    /// This node hears nobody, but is heard.
    Deaf(usize),
    /// The first does not hear the second.
    OneWay(usize, usize),
}

impl Cut {
    /// Whether messages of `from` do not reach `to`, of `nodes` nodes.
    pub fn stops(&self, from: usize, to: usize, nodes: usize) -> bool {
        let split = |group: &[usize]| group.contains(&from) != group.contains(&to);
        match self {
            Cut::Halves(group) => split(group),
            Cut::Bridge(group, bridge) => split(group) && from != *bridge && to != *bridge,
            Cut::Star(hub) => from != *hub && to != *hub,
            Cut::Ring => {
                let step = from.abs_diff(to);
                step != 1 && step != nodes.saturating_sub(1)
            }
            Cut::Mute(node) => from == *node,
            Cut::Deaf(node) => to == *node,
            Cut::OneWay(hears, speaks) => to == *hears && from == *speaks,
        }
    }
    /// Its kind, for counting.
    pub fn kind(&self) -> &'static str {
        match self {
            Cut::Halves(_) => "cut in halves",
            Cut::Bridge(..) => "cut with a bridge",
            Cut::Star(_) => "cut to a star",
            Cut::Ring => "cut to a ring",
            Cut::Mute(_) => "mute node",
            Cut::Deaf(_) => "deaf node",
            Cut::OneWay(..) => "one-way cut",
        }
    }
}

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The node's process ends after it has performed this many more effects.
    Crash {
        /// The node.
        node: usize,
        /// Effects it still performs.
        after: u64,
        /// The bytes that its disk keeps.
        leaves: Leaves,
    },
    /// A node that is down starts again, with the disk it has.
    Restart(usize),
    /// A node that does not vote starts again with an empty disk.
    FreshDisk(usize),
    /// Messages stop reaching some nodes; replaces an earlier cut.
    Cut(Cut),
    /// Everybody hears everybody again.
    Heal,
    /// A node's wall clock jumps to this many milliseconds ahead of the world's.
    Skew(usize, i64),
    /// A node does nothing for some milliseconds, like a stopped process or a suspended machine.
    Pause(usize, u64),
    /// Everything a node does takes this many milliseconds longer.
    Slow(usize, u64),
    /// What the first sends the second is held for some milliseconds and then comes in its order,
    /// as through a stream whose flow was stopped.
    Stall {
        /// The sender.
        from: usize,
        /// The receiver, which waits.
        to: usize,
        /// For how long.
        ms: u64,
    },
    /// A node takes in only so many messages of others a second, for some milliseconds.
    Reader {
        /// The node.
        node: usize,
        /// Messages in a second.
        per_s: u64,
        /// For how long.
        ms: u64,
    },
    /// Between two nodes each class of messages keeps its order but takes a time of its own, so
    /// that classes overtake one another, for some milliseconds.
    Overtake {
        /// The nodes.
        between: [usize; 2],
        /// By class, in the order of [`CLASSES`]: milliseconds that its messages take longer.
        late: [u64; CLASSES.len()],
        /// For how long.
        ms: u64,
    },
    /// A node's disk takes no more bytes.
    DiskFull(usize),
    /// A node's disk refuses to write, after so many more writes.
    DiskError(usize, u64),
    /// A node's disk fails to sync once, after so many more syncs, and forgets what it should have
    /// kept.
    SyncError(usize, u64),
    /// A node's disk works again.
    DiskCure(usize),
}

impl Fault {
    /// Its kind, for counting.
    pub fn kind(&self) -> &'static str {
        match self {
            Fault::Crash {
                leaves: Leaves::All,
                ..
            } => "kill",
            Fault::Crash {
                leaves: Leaves::Some,
                ..
            } => "power loss with a torn tail",
            Fault::Crash {
                leaves: Leaves::Nothing,
                ..
            } => "power loss",
            Fault::Restart(_) => "restart",
            Fault::FreshDisk(_) => "fresh disk",
            Fault::Cut(cut) => cut.kind(),
            Fault::Heal => "heal",
            Fault::Skew(..) => "clock jump",
            Fault::Pause(..) => "pause",
            Fault::Slow(..) => "slow node",
            Fault::Stall { .. } => "stalled stream",
            Fault::Reader { .. } => "slow reader",
            Fault::Overtake { .. } => "classes reordered",
            Fault::DiskFull(_) => "disk full",
            Fault::DiskError(..) => "disk error",
            Fault::SyncError(..) => "failed sync",
            Fault::DiskCure(_) => "disk cured",
        }
    }
}

/// A fault at a time of the world, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timed {
    /// When.
    pub at: u64,
    /// What.
    pub fault: Fault,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_stop_what_their_shape_says() {
        let heard = |cut: &Cut| -> Vec<(usize, usize)> {
            let pairs = (0..4).flat_map(|a| (0..4).map(move |b| (a, b)));
            pairs
                .filter(|(a, b)| a != b && !cut.stops(*a, *b, 4))
                .collect()
        };
        assert_eq!(
            heard(&Cut::Halves(vec![0, 1])),
            [(0, 1), (1, 0), (2, 3), (3, 2)]
        );
        assert_eq!(heard(&Cut::Bridge(vec![0], 1)).len(), 8);
        assert_eq!(heard(&Cut::Star(2)).len(), 6);
        assert_eq!(heard(&Cut::Ring).len(), 8);
        assert_eq!(heard(&Cut::Mute(0)).len(), 9);
        assert!(heard(&Cut::Mute(0)).iter().all(|(from, _)| *from != 0));
        assert!(heard(&Cut::Deaf(0)).iter().all(|(_, to)| *to != 0));
        assert!(!heard(&Cut::OneWay(1, 2)).contains(&(2, 1)));
    }
}
