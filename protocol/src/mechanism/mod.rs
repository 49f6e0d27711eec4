//! Market mechanisms: pure functions from what the ledger holds to who gets what at which price.
//!
//! A mechanism is one file (or folder) that implements [`Mechanism`], and one line in
//! [`REGISTRY`]. Rules for all of them:
//!
//! 1. Integers only. Prices and money are micro-credits; sums are `u128` / `i128`.
//! 2. No clock, no randomness, no hash map: the outcome depends on the input's *set* of bids,
//!    never on their order.
//! 3. Ties go to the smaller `(time, id)`, unless the mechanism says otherwise.
//!
//! The typed entry points are `Mechanism::clear` and the functions of the modules. [`Listed`]
//! is the view without types: what a name lookup, a help page or a conformance test needs.

pub mod ausubel;
pub mod contract;
pub mod deadline;
mod dice;
pub mod level;
pub mod placement;
pub mod pool;
pub mod reservation;
pub mod share;

/// A way to sell. Implementors are markers without data.
pub trait Mechanism {
    /// Everything that the outcome may depend on.
    type Input;
    /// Who gets what, and at which price.
    type Outcome: PartialEq;
    /// Why an input cannot be cleared.
    type Error: std::error::Error;

    /// The stable name, as an offer on the ledger spells it. Lower case, no spaces.
    const NAME: &'static str;
    /// One line for users: what it is good for.
    const SUMMARY: &'static str;

    /// Clears the market.
    ///
    /// # Errors
    /// The input breaks a rule of the mechanism; nothing is sold then.
    fn clear(input: &Self::Input) -> Result<Self::Outcome, Self::Error>;

    /// Checks what every outcome must satisfy, without recomputing the clearing: within supply, no
    /// winner above his bid, sums that add up. The error says in words what does not hold.
    ///
    /// # Errors
    /// The outcome is not one that the mechanism may produce for this input.
    fn audit(input: &Self::Input, outcome: &Self::Outcome) -> Result<(), &'static str>;

    /// A small valid input drawn from `seed`, for conformance tests and demonstrations.
    fn specimen(seed: u64) -> Self::Input;
}

/// Why a mechanism failed its drill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// The mechanism refused its own specimen.
    #[error("specimen {seed} was refused")]
    Refused {
        /// The seed of the specimen.
        seed: u64,
    },
    /// Two clearings of one input differ.
    #[error("specimen {seed} cleared in two ways")]
    Unstable {
        /// The seed of the specimen.
        seed: u64,
    },
    /// The outcome fails the mechanism's own audit.
    #[error("specimen {seed}: {what}")]
    Audit {
        /// The seed of the specimen.
        seed: u64,
        /// What does not hold.
        what: &'static str,
    },
}

/// A mechanism seen without its types.
pub trait Listed: Sync {
    /// The stable name.
    fn name(&self) -> &'static str;
    /// One line for users.
    fn summary(&self) -> &'static str;
    /// Clears the specimen of `seed` twice, compares and audits.
    ///
    /// # Errors
    /// The first rule that the mechanism breaks.
    fn drill(&self, seed: u64) -> Result<(), Breach>;
}

impl<M: Mechanism + Sync> Listed for M {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn summary(&self) -> &'static str {
        M::SUMMARY
    }

    fn drill(&self, seed: u64) -> Result<(), Breach> {
        let input = M::specimen(seed);
        let outcome = M::clear(&input).map_err(|_| Breach::Refused { seed })?;
        let again = M::clear(&input).map_err(|_| Breach::Refused { seed })?;
        if outcome != again {
            return Err(Breach::Unstable { seed });
        }
        M::audit(&input, &outcome).map_err(|what| Breach::Audit { seed, what })
    }
}

/// Every mechanism that an offer may name, by name.
pub static REGISTRY: &[&dyn Listed] = &[
    &ausubel::Ausubel::<u64>::NEW,
    &contract::Contracts::<u64>::NEW,
    &deadline::Deadline::<u64>::NEW,
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
}
