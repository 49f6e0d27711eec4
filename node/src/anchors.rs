//! The validators to which this node stays connected.
//!
//! 1. A validator's node stays connected to all others.
//! 2. Any other stays connected to [`ANCHORS`], drawn by lot, and the others rest: its entries
//!    reach all validators through any of them, and word of blocks comes from every peer. One that
//!    has been `AWAY` too long makes room for the next, and each `TERM` the one that was drawn
//!    first does: none keeps silent to us for ever, and in time the round trips to all are known.
//! 3. While entries of our own are under way, that is `ACTIVE` long after the last was sent, none
//!    rests: a validator acknowledges an entry to the nodes that sent it. What waits is sent to
//!    each that comes (`gridbay_host`, entries, step 5).
//! 4. Those that the owner's settings name never rest.

use crate::overlay::{OverlayHandle, PeerId};
use gridbay_core::overlay::ANCHORS;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long one that is drawn may be away.
const AWAY: Duration = Duration::from_secs(20);
/// How long one is drawn that answers.
const TERM: Duration = Duration::from_secs(600);
/// How long none rests after an entry of our own.
const ACTIVE: Duration = Duration::from_secs(30);
/// How often it is looked who is there.
const LOOK: Duration = Duration::from_secs(10);

/// Calls them.
#[derive(Clone, Debug, Default)]
pub struct Anchors(Arc<Notify>);

impl Anchors {
    /// Entries of our own go out.
    pub fn call_all(&self) {
        self.0.notify_one();
    }

    /// Steps 2 to 4 for validators that are kept, for as long as the node runs.
    pub(crate) async fn attend(self, net: OverlayHandle, validators: Vec<PeerId>) {
        let mut lot = Lot::new(validators, Instant::now());
        let mut called = None;
        loop {
            let now = Instant::now();
            let active = called.is_some_and(|at: Instant| now.duration_since(at) < ACTIVE);
            let peers = net.peers();
            lot.look(now, |peer| peers.iter().any(|info| info.peer == *peer));
            if let Err(error) = net.rest(lot.resting(active)) {
                // At the next look it is tried again.
                tracing::debug!(%error, "the validators that rest stay as they are");
            }
            tokio::select! {
                () = self.0.notified() => called = Some(Instant::now()),
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }
}

/// The order in which validators are drawn.
#[derive(Debug)]
struct Lot {
    /// All, the drawn ones first; whoever is drawn no longer goes to the end.
    order: VecDeque<PeerId>,
    /// Drawn ones that are not connected, and since when.
    away: BTreeMap<PeerId, Instant>,
    /// When the first of the drawn ones has had its term.
    term: Instant,
}

impl Lot {
    fn new(mut order: Vec<PeerId>, now: Instant) -> Lot {
        let lot = RandomState::new();
        order.sort_by_key(|peer| lot.hash_one(peer));
        Lot {
            order: order.into(),
            away: BTreeMap::new(),
            term: now + TERM,
        }
    }

    fn drawn(&self) -> impl Iterator<Item = &PeerId> {
        self.order.iter().take(ANCHORS)
    }

    /// The validators that rest now; none while entries are under way.
    fn resting(&self, active: bool) -> BTreeSet<PeerId> {
        let drawn = if active { self.order.len() } else { ANCHORS };
        self.order.iter().skip(drawn).copied().collect()
    }

    /// Draws anew where that is due.
    fn look(&mut self, now: Instant, here: impl Fn(&PeerId) -> bool) {
        let missing: Vec<PeerId> = self.drawn().filter(|peer| !here(peer)).copied().collect();
        self.away.retain(|peer, _| missing.contains(peer));
        for peer in missing {
            let since = *self.away.entry(peer).or_insert(now);
            if now.duration_since(since) >= AWAY {
                self.away.remove(&peer);
                self.order.retain(|one| *one != peer);
                self.order.push_back(peer);
            }
        }
        if now >= self.term {
            self.term = now + TERM;
            self.order.rotate_left(usize::from(!self.order.is_empty()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lot(validators: usize, now: Instant) -> Lot {
        Lot::new((0..validators).map(|_| PeerId::random()).collect(), now)
    }

    fn first(lot: &Lot) -> Vec<PeerId> {
        lot.drawn().copied().collect()
    }

    #[test]
    fn all_but_few_rest_and_none_while_entries_are_under_way() {
        for (validators, resting) in [(0, 0), (1, 0), (2, 0), (3, 1), (7, 5)] {
            let lot = lot(validators, Instant::now());
            let rest = lot.resting(false);
            assert_eq!(rest.len(), resting);
            assert!(first(&lot).iter().all(|peer| !rest.contains(peer)));
            assert_eq!(lot.resting(true), BTreeSet::new());
        }
    }

    #[test]
    fn one_that_stays_away_makes_room_for_the_next() {
        let now = Instant::now();
        let mut lot = lot(4, now);
        let [lost, other] = first(&lot)[..] else {
            panic!("two are drawn");
        };
        let here = |peer: &PeerId| *peer != lost;
        lot.look(now, here);
        lot.look(now + AWAY / 2, |_| true);
        lot.look(now + AWAY, here);
        assert_eq!(first(&lot), [lost, other], "it was back in time");
        lot.look(now + 2 * AWAY, here);
        assert_eq!(first(&lot)[0], other);
        assert_eq!(lot.order.back(), Some(&lost));
        assert!(lot.resting(false).contains(&lost) && lot.away.is_empty());
    }

    #[test]
    fn everyone_has_its_term() {
        let mut now = Instant::now();
        let mut lot = lot(5, now);
        let mut seen: BTreeSet<PeerId> = BTreeSet::new();
        for _ in 0..4 {
            lot.look(now, |_| true);
            seen.extend(lot.drawn());
            now += TERM;
        }
        assert_eq!(seen.len(), 5);
        self::lot(0, now).look(now + TERM, |_| true);
    }
}
