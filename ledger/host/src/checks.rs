//! Bounds the signature checks that a peer causes with entries that come to nothing.
//!
//! Checking an entry costs this node some fifty microseconds, and signing one costs its author
//! nothing if the ledger never takes it. So every check that brings no ready entry into the mempool
//! is counted against the peer that sent the entry, in a bucket of its own. A validator's node is
//! not counted: it passes on others' entries.
//!
//! 1. A bucket holds [`limits::IDLE_CHECKS`] checks and regains [`limits::IDLE_CHECKS_PER_SECOND`].
//! 2. While a bucket is empty, entries of its peer are not looked at, and the peer is penalised.
//! 3. There are [`limits::PEERS`] buckets at the most.

use crate::catchup::Peer;
use crate::limits;
use gridbay_protocol::buckets::Buckets;
use std::time::Duration;

/// Time in which a bucket regains one check.
const REGAIN: Duration = Duration::from_micros(1_000_000 / limits::IDLE_CHECKS_PER_SECOND);
/// Time in which an empty bucket fills.
const WHOLE: Duration = Duration::from_micros(REGAIN.as_micros() as u64 * limits::IDLE_CHECKS);

/// The buckets. Times are those since the node's start.
#[derive(Debug)]
pub(crate) struct Checks(Buckets<Peer, Duration>);

impl Default for Checks {
    fn default() -> Checks {
        Checks(Buckets::new(limits::PEERS))
    }
}

impl Checks {
    /// Whether an entry of a peer may be checked at a time, in milliseconds.
    pub(crate) fn may(&self, peer: &Peer, now_ms: u64) -> bool {
        let now = Duration::from_millis(now_ms);
        self.0.holds(peer, REGAIN, WHOLE, now)
    }
    /// Counts a check that was of no use.
    pub(crate) fn count(&mut self, peer: Peer, now_ms: u64) {
        self.0.take(peer, REGAIN, Duration::from_millis(now_ms));
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
        assert_eq!(checks.0.len(), limits::PEERS);
        assert!(!checks.may(&peer(0), 0));
    }
}
