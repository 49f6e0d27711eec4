//! How much each peer may put with us. Pure: the time comes in.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libp2p::PeerId;

/// Records that one peer may put with us in a minute: one for what it provides at every tick, and
/// its own.
pub(super) const PUTS: u32 = 128;
/// Peers that may put in a minute.
const BRINGERS: usize = 1024;
const MINUTE: Duration = Duration::from_secs(60);

/// How many records each peer has put in this minute.
#[derive(Debug)]
pub(super) struct Bringers {
    puts: BTreeMap<PeerId, u32>,
    since: Instant,
}

impl Bringers {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            puts: BTreeMap::new(),
            since: now,
        }
    }

    /// Counts a put of a peer. Returns whether it may.
    pub(super) fn may_put(&mut self, peer: PeerId, now: Instant) -> bool {
        if now.duration_since(self.since) >= MINUTE {
            self.puts.clear();
            self.since = now;
        }
        if self.puts.len() >= BRINGERS && !self.puts.contains_key(&peer) {
            return false;
        }
        let puts = self.puts.entry(peer).or_default();
        *puts += 1;
        *puts <= PUTS
    }
}
