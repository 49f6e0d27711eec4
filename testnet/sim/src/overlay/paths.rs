//! A lookup over paths that share no peer, as `ClosestDisjointPeersIter` of libp2p-kad 0.49
//! (S/Kademlia).
//!
//! 1. All [`PARALLELISM`] paths begin with the same known peers. A peer asked by one path is asked
//!    by no other; the others learn whether it answered, but not the peers that it named.
//! 2. Paths take turns. The lookup ends when all have ended.
//! 3. Its result are the results of all, each peer once, nearest first: up to three times
//!    [`super::path`]'s.

use super::key::Key;
use super::path::{Next, Path};
use super::{Id, Millis};
use gridbay_core::overlay::PARALLELISM;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Response {
    Waiting,
    Answered,
    Failed,
}

/// The paths of a lookup.
#[derive(Clone, Debug)]
pub struct Paths {
    paths: Vec<Path>,
    turn: usize,
    /// The peers asked, by path.
    asked: BTreeMap<Id, (usize, Response)>,
}

impl Paths {
    /// Paths towards `target` from peers that are known.
    pub fn new(target: Key, keys: &[Key], known: &[Id]) -> Paths {
        let path = Path::new(target, keys, known);
        Paths {
            paths: vec![path; PARALLELISM],
            turn: 0,
            asked: BTreeMap::new(),
        }
    }

    /// An answer. Returns whether it was waited for.
    pub fn answered(&mut self, keys: &[Key], peer: Id, closer: &[Id]) -> bool {
        let Some((by, response)) = self.asked.get_mut(&peer) else {
            return false;
        };
        let counted = self.paths[*by].answered(keys, peer, closer);
        if counted {
            *response = Response::Answered;
        }
        let by = *by;
        self.others(by).for_each(|path| {
            path.answered(keys, peer, &[]);
        });
        counted
    }

    /// A peer could not be asked. Returns whether it was waited for.
    pub fn failed(&mut self, keys: &[Key], peer: Id) -> bool {
        let Some((by, response)) = self.asked.get_mut(&peer) else {
            return false;
        };
        let counted = self.paths[*by].failed(keys, peer);
        if counted {
            *response = Response::Failed;
        }
        let by = *by;
        self.others(by).for_each(|path| {
            path.failed(keys, peer);
        });
        counted
    }

    fn others(&mut self, by: usize) -> impl Iterator<Item = &mut Path> {
        let all = self.paths.iter_mut().enumerate();
        all.filter(move |(i, _)| *i != by).map(|(_, path)| path)
    }

    /// The lookup's next step.
    pub fn next(&mut self, keys: &[Key], now: Millis) -> Next {
        let mut state = Next::Finished;
        for _ in 0..self.paths.len() {
            let by = self.turn;
            self.turn = (self.turn + 1) % self.paths.len();
            let wants = loop {
                let path = &mut self.paths[by];
                let wants = path.next(now);
                let Next::Ask(peer) = wants else {
                    break wants;
                };
                match self.asked.get(&peer) {
                    None => {
                        self.asked.insert(peer, (by, Response::Waiting));
                        return wants;
                    }
                    // It will be told.
                    Some((_, Response::Waiting)) => {}
                    Some((_, Response::Answered)) => {
                        path.answered(keys, peer, &[]);
                    }
                    Some((_, Response::Failed)) => {
                        path.failed(keys, peer);
                    }
                }
            };
            state = match (state, wants) {
                (Next::Wait, _) | (_, Next::Wait) => Next::Wait,
                (Next::Full, _) | (_, Next::Full) => Next::Full,
                _ => Next::Finished,
            };
        }
        state
    }

    /// The peers that are waited for.
    pub fn is_waiting_for(&self, peer: Id) -> bool {
        self.asked
            .get(&peer)
            .is_some_and(|(_, response)| *response == Response::Waiting)
    }

    /// Those nearest to the target, of all paths.
    pub fn result(&self) -> Vec<Id> {
        let mut all: Vec<_> = self.paths.iter().flat_map(Path::result).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|(_, peer)| peer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn no_peer_is_asked_twice_and_all_paths_end_at_the_nearest() {
        let mut rng = Rng::new(6, "paths");
        let target = Key::draw(&mut rng);
        let mut keys: Vec<Key> = (0..200).map(|_| Key::draw(&mut rng)).collect();
        keys.sort_by_key(|key| key.distance(&target));
        let mut paths = Paths::new(target, &keys, &[190, 191, 192, 193, 194, 195]);
        let mut asked = Vec::new();
        loop {
            match paths.next(&keys, 0) {
                Next::Ask(peer) => {
                    assert!(!asked.contains(&peer));
                    asked.push(peer);
                    let from = peer / 2;
                    let closer: Vec<Id> = (from..from + 20).filter(|p| *p != peer).collect();
                    assert!(paths.answered(&keys, peer, &closer));
                }
                Next::Finished => break,
                other => panic!("{other:?} though all have answered"),
            }
        }
        let found = paths.result();
        assert_eq!(found[..20], (0..20).collect::<Vec<Id>>());
        assert!(asked.len() > 20 && asked.len() < 100, "{}", asked.len());
    }

    #[test]
    fn liars_on_one_path_do_not_lead_the_others_astray() {
        let mut rng = Rng::new(7, "paths");
        let target = Key::draw(&mut rng);
        let mut keys: Vec<Key> = (0..100).map(|_| Key::draw(&mut rng)).collect();
        keys.sort_by_key(|key| key.distance(&target));
        let mut paths = Paths::new(target, &keys, &[97, 98, 99]);
        while let Next::Ask(peer) = paths.next(&keys, 0) {
            // 97 and the peers it names know only each other, nearer than everybody else's.
            let closer: Vec<Id> = match peer {
                97 => (0..10).collect(),
                0..10 => (0..10).collect(),
                _ => (20..60).collect(),
            };
            paths.answered(&keys, peer, &closer);
        }
        let found = paths.result();
        assert!((20..40).all(|p| found.contains(&p)), "{found:?}");
    }
}
