//! Chance for tests and benchmarks: the same numbers from the same seed, on every machine.

use gridbay_protocol::splitmix::splitmix64;

/// SplitMix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        splitmix64(&mut self.0) % bound
    }
}
