//! Chance with a seed.

use gridbay_protocol::splitmix::splitmix64;

/// A stream of numbers (SplitMix64).
pub(crate) struct Rng(pub u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
}
