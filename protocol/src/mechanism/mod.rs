//! Market mechanisms: pure functions from the ledger's records to allocations and prices.
//!
//! A mechanism is one file (or folder) that implements [`Mechanism`], and one line in
//! [`REGISTRY`]. Rules for all of them:
//!
//! 1. Integers only. Prices and money are micro-credits; sums are `u128` / `i128`.
//! 2. No clock, no randomness, no hash map: the outcome depends on the input's *set* of bids,
//!    never on their order.
//! 3. Ties go to the smaller `(time, id)`, unless the mechanism says otherwise.
//!
//! The typed entry points are `Mechanism::clear` and the functions of the modules. [`Listed`] is
//! the view without types, for name lookups, help pages and conformance tests.
//!
//! A mechanism's head names its paper. Remarks at steps name what these follow: `eq. 3`, `Alg. 1,
//! l. 5` or `3.2.1 p. 31` of that paper; `A.3, 4` is point 4 of a rule of the reference by which
//! the vectors (`node/core/tests/vectors`) were made.
//!
//! Every mechanism in the registry is tested for this, by [`Listed::drill`] on small markets and
//! [`Listed::strain`] on the largest ones: one input has one outcome; the order of its lists does
//! not matter; every outcome passes the mechanism's own audit (feasible, nobody pays above its bid,
//! the sums add up); an input at the stated limits, or just beyond, is cleared or refused, without
//! overflow, and in no more steps than the mechanism's own bound.

pub mod ausubel;
pub mod contract;
pub mod deadline;
mod dice;
pub mod level;
mod meter;
pub mod placement;
pub mod posted;
pub mod reservation;
mod rule;
pub mod share;

pub use rule::{Breach, Listed, Mechanism, Strain};

/// Every mechanism that an offer may name, by name.
pub static REGISTRY: &[&dyn Listed] = &[
    &ausubel::Ausubel::<u64>::NEW,
    &contract::Contracts::<u64>::NEW,
    &deadline::Deadline::<u64>::NEW,
    &posted::Posted::<u64>::NEW,
    &reservation::Reservation::<u64, u64>::NEW,
    &share::Share::<u64>::NEW,
];

/// The mechanism of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Listed> {
    REGISTRY
        .iter()
        .copied()
        .find(|listed| listed.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_sorted_and_found() {
        assert!(REGISTRY.is_sorted_by(|a, b| a.name() < b.name()));
        for listed in REGISTRY {
            assert_eq!(
                find(listed.name()).map(|l| l.summary()),
                Some(listed.summary())
            );
            assert!(
                listed
                    .name()
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b == b'-')
            );
            assert!(!listed.summary().is_empty() && listed.summary().len() < 100);
        }
        assert!(find("no-such-mechanism").is_none());
    }

    #[test]
    fn every_mechanism_passes_its_drill() {
        for listed in REGISTRY {
            for seed in 0..300 {
                assert_eq!(listed.drill(seed), Ok(()), "{}", listed.name());
            }
        }
    }

    #[test]
    fn every_mechanism_stands_its_limits() {
        for listed in REGISTRY {
            let stood = (0..8).map(|seed| listed.strain(seed));
            let stood: Result<Vec<Strain>, Breach> = stood.collect();
            let stood = stood.unwrap_or_else(|breach| panic!("{}: {breach}", listed.name()));
            let some = |four: &[Strain]| four.iter().any(|strain| strain.cleared);
            assert!(stood.chunks(4).all(some), "{}: {stood:?}", listed.name());
            // A bound that no input comes near says nothing.
            let near = |strain: &Strain| strain.steps >= strain.bound / 50;
            let near = stood.iter().any(|s| s.steps > 500_000 && near(s));
            assert!(near, "{}: {stood:?}", listed.name());
        }
    }
}
