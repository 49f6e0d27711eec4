//! A query under way at one node.
//!
//! 1. All begin as a lookup of the peers closest to a key. One that looks for a record takes the
//!    versions of the peers asked.
//! 2. One that puts a record then sends it to the [`K`] closest found, and is done with the first
//!    that confirms it.

use super::key::Key;
use super::path::Next;
use super::paths::Paths;
use super::{Id, Millis};
use gridbay_core::overlay::K;
use std::collections::{BTreeMap, VecDeque};

/// The purpose of a query.
#[derive(Clone, Debug)]
pub(super) enum Goal {
    /// To meet those close to us.
    Closest,
    /// To put the owner's record of this sequence.
    Put(Millis),
    /// To find the record of this node.
    Record(Id, Found),
}

/// The finds of a query for a record.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// The newest sequence, and the depth of the peer that had it first.
    pub(super) newest: Option<(Millis, u32)>,
    /// When any was found first.
    pub(super) first_at: Option<Millis>,
    /// The sequence that must be found.
    pub(super) wanted: Millis,
    /// How far down each peer was learnt of; those of our own table are at 1.
    pub(super) depths: BTreeMap<Id, u32>,
}

/// Step 2.
#[derive(Clone, Debug)]
struct Putting {
    rest: VecDeque<Id>,
    waiting: Vec<Id>,
    done: bool,
    confirmed: bool,
}

/// A query.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) owner: Id,
    pub(super) goal: Goal,
    /// When it, or its second step, began.
    pub(super) began: Millis,
    /// Peers asked, whether reached or not.
    pub(super) requests: u32,
    /// Peers whose dial is waited for.
    pub(super) pending: Vec<Id>,
    target: Key,
    paths: Paths,
    putting: Option<Putting>,
}

impl Query {
    pub(super) fn new(
        owner: Id,
        goal: Goal,
        target: Key,
        keys: &[Key],
        known: &[Id],
        now: Millis,
    ) -> Query {
        Query {
            owner,
            goal,
            began: now,
            requests: 0,
            pending: Vec::new(),
            target,
            paths: Paths::new(target, keys, known),
            putting: None,
        }
    }

    /// Its next step.
    pub(super) fn next(&mut self, keys: &[Key], now: Millis) -> Next {
        let next = match &mut self.putting {
            None => self.paths.next(keys, now),
            Some(putting) if putting.done => Next::Finished,
            Some(putting) if putting.waiting.len() >= K => Next::Full,
            Some(putting) => match putting.rest.pop_front() {
                Some(peer) => {
                    putting.waiting.push(peer);
                    Next::Ask(peer)
                }
                None if putting.waiting.is_empty() => Next::Finished,
                None => Next::Wait,
            },
        };
        self.requests += u32::from(matches!(next, Next::Ask(_)));
        next
    }

    /// The key it is about.
    pub(super) fn target(&self) -> Key {
        self.target
    }

    /// Begins step 2.
    pub(super) fn put(&mut self, now: Millis) {
        self.putting = Some(Putting {
            rest: self.paths.result().into(),
            waiting: Vec::new(),
            done: false,
            confirmed: false,
        });
        self.pending.clear();
        self.began = now;
    }

    pub(super) fn is_putting(&self) -> bool {
        self.putting.is_some()
    }

    /// Whether the record is with at least one peer.
    pub(super) fn is_put(&self) -> bool {
        self.putting.as_ref().is_some_and(|p| p.confirmed)
    }

    /// Whether an answer of this peer is waited for.
    pub(super) fn waits_for(&self, peer: Id) -> bool {
        match &self.putting {
            None => self.paths.is_waiting_for(peer),
            Some(putting) => putting.waiting.contains(&peer),
        }
    }

    /// A peer answered, naming others.
    pub(super) fn answered(&mut self, keys: &[Key], peer: Id, closer: &[Id]) {
        match &mut self.putting {
            None => {
                if let Goal::Record(_, found) = &mut self.goal {
                    let depth = found.depths.get(&peer).copied().unwrap_or(1);
                    for other in closer {
                        found.depths.entry(*other).or_insert(depth + 1);
                    }
                }
                self.paths.answered(keys, peer, closer);
            }
            Some(putting) => {
                putting.waiting.retain(|p| *p != peer);
                (putting.done, putting.confirmed) = (true, true);
            }
        }
    }

    /// A peer could not be asked.
    pub(super) fn failed(&mut self, keys: &[Key], peer: Id) {
        self.pending.retain(|p| *p != peer);
        match &mut self.putting {
            None => {
                self.paths.failed(keys, peer);
            }
            Some(putting) => putting.waiting.retain(|p| *p != peer),
        }
    }

    /// The peers found.
    pub(super) fn result(&self) -> Vec<Id> {
        self.paths.result()
    }
}

impl Found {
    /// A query for a record of at least this sequence, beginning with the peers known.
    pub(super) fn new(wanted: Millis, known: &[Id]) -> Found {
        Found {
            wanted,
            depths: known.iter().map(|p| (*p, 1)).collect(),
            ..Found::default()
        }
    }

    /// A peer, or our own store at depth 0, had it.
    pub(super) fn see(&mut self, sequence: Millis, depth: u32, now: Millis) {
        self.first_at.get_or_insert(now);
        if self.newest.is_none_or(|(newest, _)| newest < sequence) {
            self.newest = Some((sequence, depth));
        }
    }
}
