//! One path of a lookup, as `ClosestPeersIter` of libp2p-kad 0.49.
//!
//! 1. It knows peers, nearest to the target first, and asks the nearest that it has not asked,
//!    [`PARALLELISM`] at a time.
//! 2. An answer makes progress if it brings a peer nearer than the [`K`]-th known, or if fewer are
//!    known. After [`PARALLELISM`] answers in a row without progress the path is stalled: then
//!    [`K`] are asked at a time, until one makes progress.
//! 3. It ends when the [`K`] nearest that did not fail have answered, or nobody is left to ask or
//!    to wait for.
//! 4. One that is silent for [`PEER_TIMEOUT`] is passed over; its answer counts if it comes after
//!    all.

use super::key::{Distance, Key};
use super::{Id, Millis, ms};
use gridbay_core::overlay::{K, PARALLELISM, PEER_TIMEOUT};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    /// Asked, with patience until then.
    Waiting(Millis),
    Silent,
    Failed,
    Answered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// With so many answers in a row that brought no progress.
    Iterating(usize),
    Stalled,
    Finished,
}

/// The next step of a path, or of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To ask this peer.
    Ask(Id),
    /// To wait, though it could ask more if it knew whom.
    Wait,
    /// To wait before it asks more.
    Full,
    /// Nothing more.
    Finished,
}

/// One path.
#[derive(Clone, Debug)]
pub struct Path {
    target: Key,
    peers: Vec<(Distance, Id, State)>,
    waiting: usize,
    phase: Phase,
}

impl Path {
    /// A path towards `target` from peers that are known.
    pub fn new(target: Key, keys: &[Key], known: &[Id]) -> Path {
        let mut peers: Vec<_> = known
            .iter()
            .map(|p| (keys[*p as usize].distance(&target), *p, State::New))
            .collect();
        peers.sort_unstable_by_key(|(distance, ..)| *distance);
        Path {
            target,
            peers,
            waiting: 0,
            phase: Phase::Iterating(0),
        }
    }

    /// Where a peer stands that was waited for and no longer is; `None` for any other.
    fn heard_from(&mut self, keys: &[Key], peer: Id) -> Option<usize> {
        if self.phase == Phase::Finished {
            return None;
        }
        let distance = keys[peer as usize].distance(&self.target);
        let at = self
            .peers
            .binary_search_by_key(&distance, |(distance, ..)| *distance)
            .ok()?;
        match self.peers[at].2 {
            State::Waiting(_) => self.waiting -= 1,
            State::Silent => {}
            State::New | State::Failed | State::Answered => return None,
        }
        Some(at)
    }

    /// An answer. Returns whether it was waited for.
    pub fn answered(&mut self, keys: &[Key], peer: Id, closer: &[Id]) -> bool {
        let Some(at) = self.heard_from(keys, peer) else {
            return false;
        };
        self.peers[at].2 = State::Answered;
        let last = self.peers.len().min(K) - 1;
        let range = self.peers[last].0;
        let mut progress = self.peers.len() < K;
        for peer in closer {
            let distance = keys[*peer as usize].distance(&self.target);
            let place = self
                .peers
                .binary_search_by_key(&distance, |(distance, ..)| *distance);
            if let Err(place) = place {
                self.peers.insert(place, (distance, *peer, State::New));
                progress |= distance < range;
            }
        }
        self.phase = match self.phase {
            _ if progress => Phase::Iterating(0),
            Phase::Iterating(n) if n + 1 < PARALLELISM => Phase::Iterating(n + 1),
            _ => Phase::Stalled,
        };
        true
    }

    /// A peer could not be asked. Returns whether it was waited for.
    pub fn failed(&mut self, keys: &[Key], peer: Id) -> bool {
        let Some(at) = self.heard_from(keys, peer) else {
            return false;
        };
        self.peers[at].2 = State::Failed;
        true
    }

    fn is_full(&self) -> bool {
        match self.phase {
            Phase::Iterating(_) => self.waiting >= PARALLELISM,
            Phase::Stalled => self.waiting >= K,
            Phase::Finished => true,
        }
    }

    /// Its next step.
    pub fn next(&mut self, now: Millis) -> Next {
        if self.phase == Phase::Finished {
            return Next::Finished;
        }
        let full = self.is_full();
        // None once somebody near is waited for: then answers from farther away cannot end it.
        let mut answered = Some(0);
        for (_, peer, state) in &mut self.peers {
            match state {
                State::Waiting(until) if now >= *until => {
                    self.waiting -= 1;
                    *state = State::Silent;
                }
                State::Waiting(_) if full => return Next::Full,
                State::Waiting(_) => answered = None,
                State::Answered => {
                    if let Some(count) = &mut answered {
                        *count += 1;
                        if *count >= K {
                            self.phase = Phase::Finished;
                            return Next::Finished;
                        }
                    }
                }
                State::New if full => return Next::Full,
                State::New => {
                    *state = State::Waiting(now + ms(PEER_TIMEOUT));
                    self.waiting += 1;
                    return Next::Ask(*peer);
                }
                State::Silent | State::Failed => {}
            }
        }
        if self.waiting > 0 {
            return Next::Wait;
        }
        self.phase = Phase::Finished;
        Next::Finished
    }

    /// The nearest that answered, [`K`] at the most, nearest first.
    pub fn result(&self) -> impl Iterator<Item = (Distance, Id)> + '_ {
        let answered = self.peers.iter().filter(|p| p.2 == State::Answered);
        answered
            .take(K)
            .map(|(distance, peer, _)| (*distance, *peer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Keys, sorted so that node 0 is nearest to the target.
    fn world(n: usize) -> (Key, Vec<Key>) {
        let mut rng = Rng::new(5, "paths");
        let target = Key::draw(&mut rng);
        let mut keys: Vec<Key> = (0..n).map(|_| Key::draw(&mut rng)).collect();
        keys.sort_by_key(|key| key.distance(&target));
        (target, keys)
    }

    fn asked(path: &mut Path) -> Vec<Id> {
        std::iter::from_fn(|| match path.next(0) {
            Next::Ask(peer) => Some(peer),
            _ => None,
        })
        .collect()
    }

    #[test]
    fn three_are_asked_at_a_time_and_a_stalled_path_asks_all() {
        let (target, keys) = world(60);
        let known: Vec<Id> = (40..60).collect();
        let mut path = Path::new(target, &keys, &known);
        assert_eq!(asked(&mut path), [40, 41, 42]);
        assert!(path.answered(&keys, 40, &[10, 11]));
        assert_eq!(asked(&mut path), [10], "the nearest first");
        for peer in [41, 42, 10] {
            assert!(path.answered(&keys, peer, &[]));
        }
        assert_eq!(asked(&mut path).len(), 18, "all that are known");
    }

    #[test]
    fn it_ends_with_the_nearest_that_answer() {
        let (target, keys) = world(100);
        let mut path = Path::new(target, &keys, &[99]);
        let mut open = asked(&mut path);
        while let Some(peer) = open.pop().filter(|_| path.phase != Phase::Finished) {
            if peer % 5 == 1 {
                assert!(path.failed(&keys, peer));
            } else {
                let first = peer / 2;
                let closer: Vec<Id> = (first..first + 20).filter(|p| *p != peer).collect();
                assert!(path.answered(&keys, peer, &closer));
                assert!(!path.answered(&keys, peer, &[]), "once");
            }
            open.extend(asked(&mut path));
        }
        assert_eq!(path.next(0), Next::Finished);
        // Only 1 could have named 0, and 1 is silent.
        let wanted: Vec<Id> = (2..26).filter(|p| p % 5 != 1).collect();
        assert_eq!(path.result().map(|(_, p)| p).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_silent_peer_is_passed_over() {
        let (target, keys) = world(4);
        let mut path = Path::new(target, &keys, &[0, 1, 2, 3]);
        assert_eq!(asked(&mut path), [0, 1, 2]);
        for peer in [0, 1] {
            path.answered(&keys, peer, &[]);
        }
        assert_eq!(asked(&mut path), [3]);
        path.answered(&keys, 3, &[]);
        assert_eq!(path.next(9_999), Next::Wait);
        assert_eq!(path.next(10_000), Next::Finished);
        assert_eq!(path.result().count(), 3);
    }
}
