//! Checks of signatures that peers cause for nothing.
//!
//! Checking an entry costs this node some fifty microseconds, and signing one costs its author
//! nothing if the ledger never takes it. So every check that brings no ready entry into the pool
//! is counted against the peer that sent the entry, in a bucket of its own. A validator's node is
//! not counted: it passes on what others wrote.
//!
//! 1. A bucket holds [`limits::IDLE_CHECKS`] checks and regains [`limits::IDLE_CHECKS_PER_SECOND`].
//! 2. While a bucket is empty, entries of its peer are not looked at, and the peer is penalised.
//! 3. Of each bucket only the time is kept at which it is full again. Where there are too many, the
//!    one that is full first makes room.

use crate::catchup::Peer;
use crate::limits;
use std::collections::BTreeMap;

/// Microseconds in which a bucket regains one check.
const REGAIN_US: u64 = 1_000_000 / limits::IDLE_CHECKS_PER_SECOND;

/// The buckets.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// When each is full again, in microseconds.
    full: BTreeMap<Peer, u64>,
}

impl Checks {
    /// Whether an entry of a peer may be checked at a time, in milliseconds.
    pub(crate) fn may(&self, peer: &Peer, now_ms: u64) -> bool {
        let full = self.full.get(peer).copied().unwrap_or_default();
        let owed = full.saturating_sub(now_ms.saturating_mul(1_000));
        owed < limits::IDLE_CHECKS * REGAIN_US
    }
    /// Counts a check that was of no use.
    pub(crate) fn count(&mut self, peer: Peer, now_ms: u64) {
        let now = now_ms.saturating_mul(1_000);
        if !self.full.contains_key(&peer) && self.full.len() >= limits::PEERS {
            self.make_room(now);
        }
        let full = self.full.entry(peer).or_default();
        *full = (*full).max(now) + REGAIN_US;
    }
    fn make_room(&mut self, now: u64) {
        self.full.retain(|_, full| *full > now);
        let first = self.full.iter().min_by_key(|(_, full)| **full);
        if let Some(peer) = first.map(|(peer, _)| *peer)
            && self.full.len() >= limits::PEERS
        {
            self.full.remove(&peer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(n: u64) -> Peer {
        let mut peer = [0; 32];
        peer[..8].copy_from_slice(&n.to_le_bytes());
        peer
    }

    /// Checks that a peer causes at a time until it may cause no more, of twice a bucket.
    fn checked(checks: &mut Checks, peer: Peer, now_ms: u64) -> u64 {
        let mut n = 0;
        while n < 2 * limits::IDLE_CHECKS && checks.may(&peer, now_ms) {
            checks.count(peer, now_ms);
            n += 1;
        }
        n
    }

    #[test]
    fn a_peer_causes_a_bucket_at_once_and_its_rate_from_then_on() {
        let mut checks = Checks::default();
        assert_eq!(checked(&mut checks, peer(1), 5_000), limits::IDLE_CHECKS);
        assert_eq!(
            checked(&mut checks, peer(1), 7_000),
            2 * limits::IDLE_CHECKS_PER_SECOND
        );
        assert_eq!(
            checked(&mut checks, peer(2), 7_000),
            limits::IDLE_CHECKS,
            "each has a bucket of its own"
        );
    }

    #[test]
    fn there_are_so_many_buckets_and_the_emptiest_stay() {
        let mut checks = Checks::default();
        checked(&mut checks, peer(0), 0);
        for n in 1..3 * limits::PEERS as u64 {
            checks.count(peer(n), 0);
        }
        assert_eq!(checks.full.len(), limits::PEERS);
        assert!(!checks.may(&peer(0), 0));
    }
}
