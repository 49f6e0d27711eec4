//! Catch-up: the choice of the peer to ask for blocks that others have decided.
//!
//! 1. Peers state their tips. A claim is believed only so far that the peer is asked.
//! 2. A node that is two or more heights behind, or follows without voting, asks at once.
//! 3. A validator exactly one height behind usually decides by itself a moment later, so it asks
//!    after [`limits::ONE_BEHIND_MS`] without progress. It must ask: nobody repeats the votes of a
//!    decided height.
//! 4. One request is open at a time. A peer that does not answer, or answers badly, is asked last
//!    from then on, and nobody waits for its answer once a better peer is ahead: otherwise a peer
//!    that overstates its tip and keeps silent would hold up all that follow, again and again.

use crate::limits;
use std::collections::BTreeMap;

/// Transport key of a peer.
pub type Peer = [u8; 32];

#[derive(Debug, Default)]
struct Known {
    tip: u64,
    failures: u32,
    /// It was asked, and may still answer.
    owes: bool,
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    peer: Peer,
    at: u64,
}

/// The tips of peers, as far as known.
#[derive(Debug, Default)]
pub(crate) struct Catchup {
    peers: BTreeMap<Peer, Known>,
    asked: Option<Asked>,
    /// Since when somebody has been ahead of our present tip.
    behind: Option<u64>,
}

impl Catchup {
    /// Peers whose tips are remembered.
    pub(crate) fn len(&self) -> usize {
        self.peers.len()
    }
    /// A peer states, or shows, that its tip is at least `tip`.
    pub(crate) fn heard(&mut self, peer: Peer, tip: u64, own: u64, now: u64) {
        if self.peers.len() < limits::PEERS || self.peers.contains_key(&peer) {
            let known = self.peers.entry(peer).or_default();
            known.tip = known.tip.max(tip);
            if tip > own {
                self.behind.get_or_insert(now);
            }
        }
    }
    /// Whether a peer says that it has this height.
    pub(crate) fn has(&self, peer: &Peer, height: u64) -> bool {
        self.peers
            .get(peer)
            .is_some_and(|known| known.tip >= height)
    }
    /// Whether a peer was asked for blocks and has not answered; it may take longer than we waited.
    pub(crate) fn owes(&self, peer: &Peer) -> bool {
        self.peers.get(peer).is_some_and(|known| known.owes)
    }
    /// A peer is gone.
    pub(crate) fn gone(&mut self, peer: &Peer) {
        self.peers.remove(peer);
        self.asked = self.asked.filter(|a| a.peer != *peer);
    }
    /// Our tip has grown.
    pub(crate) fn progress(&mut self, own: u64, now: u64) {
        let ahead = self.peers.values().any(|p| p.tip > own);
        self.behind = ahead.then_some(now);
    }
    /// An answer came from a peer; `good` if it brought us further.
    pub(crate) fn answered(&mut self, peer: &Peer, good: bool) {
        if self.asked.is_some_and(|a| a.peer == *peer) {
            self.asked = None;
        }
        if let Some(known) = self.peers.get_mut(peer) {
            known.owes = false;
        }
        if !good {
            self.failed(peer);
        }
    }
    fn failed(&mut self, peer: &Peer) {
        if let Some(known) = self.peers.get_mut(peer) {
            // It has to state its tip again before it is asked again.
            known.failures = known.failures.saturating_add(1);
            known.tip = 0;
        }
    }
    /// Whether a peer says that it is ahead by more than the block being decided.
    pub(crate) fn is_behind(&self, own: u64) -> bool {
        self.peers
            .values()
            .any(|known| known.tip > own.saturating_add(1))
    }
    /// Whether a peer says that it has blocks after our tip.
    pub(crate) fn knows_more(&self, own: u64) -> bool {
        self.peers.values().any(|known| known.tip > own)
    }
    fn best(&self, own: u64) -> Option<(Peer, u64)> {
        let ahead = self.peers.iter().filter(|(_, known)| known.tip > own);
        ahead
            .min_by_key(|(peer, known)| (known.failures, u64::MAX - known.tip, **peer))
            .map(|(peer, known)| (*peer, known.tip))
    }
    /// Whether a peer that failed less often than the one that was asked is ahead.
    fn is_surpassed(&self, asked: &Asked, own: u64) -> bool {
        let failures = |peer: &Peer| self.peers.get(peer).map_or(u32::MAX, |k| k.failures);
        let best = self.best(own);
        best.is_some_and(|(peer, _)| failures(&peer) < failures(&asked.peer))
    }
    /// When to look again; `None` if nobody is ahead.
    pub(crate) fn due(&self, own: u64, voting: bool) -> Option<u64> {
        if let Some(asked) = self.asked.filter(|asked| !self.is_surpassed(asked, own)) {
            return Some(asked.at.saturating_add(limits::SYNC_RETRY_MS));
        }
        let (_, tip) = self.best(own)?;
        let patience = if voting && tip == own + 1 {
            limits::ONE_BEHIND_MS
        } else {
            0
        };
        Some(self.behind?.saturating_add(patience))
    }
    /// Whom to ask now for the blocks after our tip.
    pub(crate) fn ask(&mut self, own: u64, voting: bool, now: u64) -> Option<Peer> {
        if self.due(own, voting)? > now {
            return None;
        }
        if let Some(silent) = self.asked.take() {
            self.failed(&silent.peer);
        }
        let (peer, _) = self.best(own)?;
        self.asked = Some(Asked { peer, at: now });
        if let Some(known) = self.peers.get_mut(&peer) {
            known.owes = true;
        }
        Some(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_height_is_a_race_two_are_a_lag() {
        let mut catchup = Catchup::default();
        assert!(!catchup.is_behind(7), "nobody said anything");
        catchup.heard([1; 32], 8, 7, 0);
        assert!(!catchup.is_behind(7));
        catchup.heard([1; 32], 9, 7, 0);
        assert!(catchup.is_behind(7));
        catchup.gone(&[1; 32]);
        assert!(!catchup.is_behind(7));
    }

    #[test]
    fn a_validator_one_behind_waits_a_moment_others_do_not() {
        let mut catchup = Catchup::default();
        catchup.heard([1; 32], 5, 4, 1_000);
        assert_eq!(catchup.ask(4, true, 1_000), None);
        assert_eq!(catchup.due(4, true), Some(1_300));
        assert_eq!(catchup.ask(4, true, 1_300), Some([1; 32]));
        let mut catchup = Catchup::default();
        catchup.heard([1; 32], 6, 4, 1_000);
        assert_eq!(catchup.ask(4, true, 1_000), Some([1; 32]));
        let mut catchup = Catchup::default();
        catchup.heard([1; 32], 5, 4, 1_000);
        assert_eq!(catchup.ask(4, false, 1_000), Some([1; 32]));
        catchup.answered(&[1; 32], true);
        catchup.progress(5, 1_010);
        assert_eq!(catchup.due(5, false), None);
    }

    #[test]
    fn a_liar_about_its_tip_is_asked_last() {
        let mut catchup = Catchup::default();
        catchup.heard([1; 32], u64::MAX, 4, 0);
        catchup.heard([2; 32], 9, 4, 0);
        assert_eq!(catchup.ask(4, true, 0), Some([1; 32]));
        assert_eq!(catchup.ask(4, true, 500), None, "one request at a time");
        assert_eq!(catchup.ask(4, true, 1_000), Some([2; 32]));
        catchup.heard([1; 32], u64::MAX, 4, 1_100);
        catchup.answered(&[2; 32], true);
        assert_eq!(catchup.ask(4, true, 1_200), Some([2; 32]));
    }

    #[test]
    fn a_liar_that_failed_once_holds_nobody_up_again() {
        let mut catchup = Catchup::default();
        let (liar, honest) = ([1; 32], [2; 32]);
        catchup.heard(liar, u64::MAX, 4, 0);
        assert_eq!(catchup.ask(4, false, 0), Some(liar));
        catchup.heard(honest, 5, 4, 10);
        assert_eq!(catchup.ask(4, false, 10), None, "it may yet answer");
        assert_eq!(catchup.ask(4, false, 1_000), Some(honest));
        catchup.answered(&honest, true);
        catchup.progress(5, 1_010);
        for own in 5..100 {
            let now = own * 250;
            catchup.heard(liar, u64::MAX, own, now);
            assert_eq!(catchup.ask(own, false, now), Some(liar));
            catchup.heard(honest, own + 1, own, now + 5);
            assert_eq!(catchup.due(own, false), Some(now), "at once");
            assert_eq!(catchup.ask(own, false, now + 5), Some(honest));
            catchup.answered(&honest, true);
            catchup.progress(own + 1, now + 10);
        }
    }
}
