//! Penalties that the overlay itself gives, and bans. Pure: the time comes in.
//!
//! Penalties add up per peer, fade by [`FADE`] each second, and are handed to gossip's score
//! one to one. Whether the sum of both is too low is decided in `judge`. Both maps are bounded:
//! when full, the smallest penalty or the ban that ends first makes room.

use std::collections::BTreeMap;
use std::time::Instant;

use libp2p::PeerId;

/// Points for a frame that is malformed or above its cap.
pub(crate) const MALFORMED: f64 = 30.0;
/// Points for a frame that did not arrive in time. Where a path dies several come late at once, and
/// that is nobody's fault.
pub(crate) const SLOW: f64 = 5.0;
/// Points for a message of gossip on a topic that is none of ours: nobody sends one in good faith.
pub(crate) const FOREIGN: f64 = MALFORMED;
/// Share of a penalty left after a second: half is gone after 17 s.
const FADE: f64 = 0.96;
/// Penalties below this are forgotten.
const FORGOTTEN: f64 = 0.5;
/// A single report cannot weigh more, nor a sum grow beyond it.
const HEAVIEST: f64 = 1000.0;

/// The record of bad conduct.
#[derive(Debug)]
pub(crate) struct Standing {
    penalties: BTreeMap<PeerId, f64>,
    bans: BTreeMap<PeerId, Instant>,
    max_entries: usize,
}

impl Standing {
    pub(crate) fn new(max_entries: usize) -> Self {
        Self {
            penalties: BTreeMap::new(),
            bans: BTreeMap::new(),
            max_entries: max_entries.max(1),
        }
    }

    /// Adds points to a peer and returns its sum.
    pub(crate) fn penalise(&mut self, peer: PeerId, points: f64) -> f64 {
        let points = if points.is_finite() {
            points.clamp(0.0, HEAVIEST)
        } else {
            0.0
        };
        if !self.penalties.contains_key(&peer) && self.penalties.len() >= self.max_entries {
            let least = self
                .penalties
                .iter()
                .min_by(|a, b| a.1.total_cmp(b.1))
                .map(|(p, _)| *p);
            if let Some(least) = least {
                self.penalties.remove(&least);
            }
        }
        let sum = self.penalties.entry(peer).or_default();
        *sum = (*sum + points).min(HEAVIEST);
        *sum
    }

    /// The sum of a peer's penalties.
    pub(crate) fn sum(&self, peer: &PeerId) -> f64 {
        self.penalties.get(peer).copied().unwrap_or_default()
    }

    /// A second has passed. Returns the peers whose sum changed, with the new sum.
    pub(crate) fn fade(&mut self) -> Vec<(PeerId, f64)> {
        let fade = |(peer, sum): (&PeerId, &mut f64)| {
            *sum = if *sum * FADE < FORGOTTEN {
                0.0
            } else {
                *sum * FADE
            };
            (*peer, *sum)
        };
        let changed = self.penalties.iter_mut().map(fade).collect();
        self.penalties.retain(|_, sum| *sum > 0.0);
        changed
    }

    /// Bans a peer until then and forgets its penalty. Returns the ban that had to make room.
    pub(crate) fn ban(&mut self, peer: PeerId, until: Instant) -> Option<PeerId> {
        self.penalties.remove(&peer);
        let mut evicted = None;
        if !self.bans.contains_key(&peer) && self.bans.len() >= self.max_entries {
            evicted = self
                .bans
                .iter()
                .min_by_key(|(_, until)| **until)
                .map(|(peer, _)| *peer);
            if let Some(oldest) = evicted {
                self.bans.remove(&oldest);
            }
        }
        let end = self.bans.entry(peer).or_insert(until);
        *end = until.max(*end);
        evicted
    }

    /// When a peer's ban ends, if it is banned.
    pub(crate) fn banned_until(&self, peer: &PeerId) -> Option<Instant> {
        self.bans.get(peer).copied()
    }

    /// Takes back a ban and forgets the penalties of a peer.
    pub(crate) fn pardon(&mut self, peer: &PeerId) {
        self.bans.remove(peer);
        self.penalties.remove(peer);
    }

    /// Peers banned.
    pub(crate) fn banned(&self) -> usize {
        self.bans.len()
    }

    /// Removes and returns the bans that have ended.
    pub(crate) fn take_ended(&mut self, now: Instant) -> Vec<PeerId> {
        let ended: Vec<_> = self
            .bans
            .iter()
            .filter(|(_, until)| **until <= now)
            .map(|(peer, _)| *peer)
            .collect();
        self.bans.retain(|_, until| *until > now);
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn penalties_add_up_and_fade_away() {
        let mut standing = Standing::new(8);
        let peer = PeerId::random();
        assert_eq!(standing.penalise(peer, 30.0), 30.0);
        assert_eq!(standing.penalise(peer, 30.0), 60.0);
        assert_eq!(standing.penalise(peer, f64::NAN), 60.0);
        assert_eq!(standing.penalise(peer, -5.0), 60.0);
        assert_eq!(standing.sum(&peer), 60.0);
        assert_eq!(standing.sum(&PeerId::random()), 0.0);
        let mut last = 60.0;
        for _ in 0..1000 {
            match standing.fade().as_slice() {
                [(_, sum)] => {
                    assert!(*sum < last);
                    last = *sum;
                }
                _ => break,
            }
        }
        assert_eq!(last, 0.0);
    }

    #[test]
    fn bans_end_and_the_one_that_ends_first_makes_room() {
        let mut standing = Standing::new(2);
        let now = Instant::now();
        let peers: Vec<_> = (0..3).map(|_| PeerId::random()).collect();
        let at = |s| now + Duration::from_secs(s);
        assert_eq!(standing.ban(peers[0], at(50)), None);
        assert_eq!(standing.ban(peers[1], at(10)), None);
        assert_eq!(
            standing.ban(peers[0], at(5)),
            None,
            "a shorter ban does not shorten a longer"
        );
        assert_eq!(standing.banned_until(&peers[0]), Some(at(50)));
        assert_eq!(standing.ban(peers[2], at(60)), Some(peers[1]));
        assert_eq!(
            (standing.banned(), standing.banned_until(&peers[1])),
            (2, None)
        );
        assert_eq!(standing.take_ended(at(50)), [peers[0]]);
        assert_eq!(standing.take_ended(at(60)), [peers[2]]);
    }
}
