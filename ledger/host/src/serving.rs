//! The pace at which peers get decided blocks: requests cost nothing, but answers cost a disk and a
//! line.
//!
//! 1. A peer has one request open at a time; a later one replaces it.
//! 2. After an answer a peer rests as long as its bytes take at
//!    [`limits::SERVE_PEER_BYTES_PER_MS`], and at least [`limits::SERVE_REST_MS`]. A request that
//!    arrives meanwhile waits; it is not refused, so an honest peer notices nothing but the pace.
//! 3. All peers that are no validators' nodes also rest together, at
//!    [`limits::SERVE_STRANGERS_BYTES_PER_MS`], and take turns: validators lose nothing by them,
//!    however many they are.

use crate::catchup::Peer;
use crate::limits;
use std::collections::{BTreeMap, VecDeque};

/// A request that waits.
#[derive(Clone, Copy, Debug)]
struct Open {
    peer: Peer,
    from: u64,
    stranger: bool,
}

/// The requests that wait and the peers that rest.
#[derive(Debug, Default)]
pub(crate) struct Serving {
    open: VecDeque<Open>,
    rests: BTreeMap<Peer, u64>,
    strangers_rest: u64,
}

impl Serving {
    /// Requests that wait.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
    /// A peer asks for blocks from a height on.
    pub(crate) fn ask(&mut self, peer: Peer, from: u64, stranger: bool) {
        if let Some(open) = self.open.iter_mut().find(|open| open.peer == peer) {
            *open = Open {
                peer,
                from,
                stranger,
            };
        } else if self.open.len() < limits::PEERS {
            self.open.push_back(Open {
                peer,
                from,
                stranger,
            });
        }
    }
    fn ready_at(&self, open: &Open) -> u64 {
        let rest = self.rests.get(&open.peer).copied().unwrap_or(0);
        let shared = if open.stranger {
            self.strangers_rest
        } else {
            0
        };
        rest.max(shared)
    }
    /// When the next request can be answered; `None` if none waits.
    pub(crate) fn due(&self) -> Option<u64> {
        self.open.iter().map(|open| self.ready_at(open)).min()
    }
    /// The next request to answer now: the asker, and the height from which it asks.
    pub(crate) fn next(&mut self, now: u64) -> Option<(Peer, u64, bool)> {
        let first = self.open.iter().position(|o| self.ready_at(o) <= now)?;
        let open = self.open.remove(first)?;
        Some((open.peer, open.from, open.stranger))
    }
    /// A peer was sent an answer of so many bytes.
    pub(crate) fn answered(&mut self, peer: Peer, stranger: bool, bytes: u64, now: u64) {
        self.rests.retain(|_, until| *until > now);
        let rest = (bytes / limits::SERVE_PEER_BYTES_PER_MS).max(limits::SERVE_REST_MS);
        self.rests.insert(peer, now.saturating_add(rest));
        if stranger {
            let rest = (bytes / limits::SERVE_STRANGERS_BYTES_PER_MS).max(1);
            self.strangers_rest = now.saturating_add(rest);
        }
    }
    /// A peer is gone. It still rests, should it come back.
    pub(crate) fn gone(&mut self, peer: &Peer) {
        self.open.retain(|open| open.peer != *peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_share_one_pace_and_validators_do_not_wait_for_them() {
        let mut serving = Serving::default();
        let bytes = limits::SYNC_BYTES as u64;
        for n in 0..100 {
            serving.ask([n; 32], 1, true);
        }
        serving.ask([200; 32], 1, false);
        let (mut now, mut sent) = (1_000, 0);
        for turn in 0..100 {
            let (peer, _, stranger) = serving.next(now).unwrap();
            assert_eq!(peer, [turn; 32], "in turn");
            serving.answered(peer, stranger, bytes, now);
            sent += bytes;
            if turn == 0 {
                let (peer, ..) = serving.next(now).unwrap();
                assert_eq!(peer, [200; 32]);
                serving.answered(peer, false, bytes, now);
            }
            assert!(serving.next(now).is_none());
            // Each asks again at once, and again, and leaves and returns in between.
            serving.ask(peer, 2, true);
            serving.gone(&peer);
            serving.ask(peer, 3, true);
            now = serving.due().unwrap();
        }
        let took = now - 1_000;
        assert!(
            sent / took <= limits::SERVE_STRANGERS_BYTES_PER_MS,
            "{sent} in {took} ms"
        );
        assert_eq!(serving.open.len(), 100);
    }
}
