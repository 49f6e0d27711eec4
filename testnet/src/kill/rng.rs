//! Numbers that a seed decides.

use gridbay_protocol::splitmix::splitmix64;

/// A stream of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed)
    }
    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }
    /// A number below `end`, which is above 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // The bias of a remainder does not matter for killing nodes.
        self.next() % end.max(1)
    }
    /// A number from a range, both ends included.
    pub(crate) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last.saturating_sub(first) + 1)
    }
    /// A stream of its own.
    pub(crate) fn fork(&mut self) -> Rng {
        Rng(self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_its_own_numbers_within_bounds() {
        let draw = |seed| {
            let mut rng = Rng::new(seed);
            (0..50).map(|_| rng.between(5, 9)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(draw(3).iter().all(|n| (5..=9).contains(n)));
    }
}
