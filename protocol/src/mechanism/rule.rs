//! The trait of a mechanism, and the drills that test each one.

use super::{dice, meter};

/// A way to sell. Implementors are markers without data.
pub trait Mechanism {
    /// Everything that the outcome may depend on.
    type Input: Clone;
    /// The allocation, and the prices.
    type Outcome: PartialEq;
    /// Why an input cannot be cleared.
    type Error: std::error::Error;

    /// The stable name, as an offer on the ledger spells it. Lower case, no spaces.
    const NAME: &'static str;
    /// One line for users about its purpose.
    const SUMMARY: &'static str;

    /// Clears the market.
    ///
    /// # Errors
    /// The input breaks a rule of the mechanism; nothing is sold then.
    fn clear(input: &Self::Input) -> Result<Self::Outcome, Self::Error>;

    /// Checks what every outcome must satisfy, without recomputing the clearing: within supply, no
    /// winner above its bid, sums that add up. The error names the broken condition in words.
    ///
    /// # Errors
    /// The outcome is not one that the mechanism may produce for this input.
    fn audit(input: &Self::Input, outcome: &Self::Outcome) -> Result<(), &'static str>;

    /// The most steps that clearing this input takes, or refusing it. A step is one pass of an
    /// innermost loop, of equal cost but for a small factor; checks of single numbers and sorting,
    /// `n log n` whatever the input, are left out. So the delay of a block is known before anything
    /// is cleared.
    fn bound(input: &Self::Input) -> u64;

    /// A small valid input drawn from `seed`, for conformance tests and demonstrations.
    fn specimen(seed: u64) -> Self::Input;

    /// An input drawn from `seed` with the largest numbers and the longest lists that the
    /// mechanism's limits allow, or a little beyond: then it may be refused. Among any four seeds
    /// in a row one at least is not.
    fn extreme(seed: u64) -> Self::Input;

    /// Puts every list whose order must not matter into another order. `draw` gives a number below
    /// its argument.
    fn shuffle(input: &mut Self::Input, draw: &mut dyn FnMut(u64) -> u64);
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
    /// Another order of the input's lists gives another outcome.
    #[error("specimen {seed} clears in another way in another order")]
    Order {
        /// The seed of the specimen.
        seed: u64,
    },
    /// The clearing takes more steps than the mechanism's bound.
    #[error("specimen {seed} took {steps} steps, {bound} is the bound")]
    Work {
        /// The seed of the specimen.
        seed: u64,
        /// The steps that it took.
        steps: u64,
        /// The most that it may take.
        bound: u64,
    },
    /// The outcome fails the mechanism's own audit.
    #[error("specimen {seed}: {what}")]
    Audit {
        /// The seed of the specimen.
        seed: u64,
        /// The broken condition.
        what: &'static str,
    },
}

/// How a mechanism stood an extreme input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strain {
    /// Whether it was not refused.
    pub cleared: bool,
    /// Steps taken; 0 unless this package is tested.
    pub steps: u64,
    /// The most that it may take.
    pub bound: u64,
}

/// A mechanism seen without its types.
pub trait Listed: Sync {
    /// The stable name.
    fn name(&self) -> &'static str;
    /// One line for users.
    fn summary(&self) -> &'static str;
    /// Clears the specimen of `seed` twice, then shuffled, compares and audits.
    ///
    /// # Errors
    /// The first rule that the mechanism breaks.
    fn drill(&self, seed: u64) -> Result<(), Breach>;
    /// Clears the extreme input of `seed`, and says how that went. A cleared input must pass the
    /// audit, and its outcome must not depend on the order; nothing may panic or take more steps
    /// than its bound.
    ///
    /// # Errors
    /// The first rule that the mechanism breaks.
    fn strain(&self, seed: u64) -> Result<Strain, Breach>;
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
        let (outcome, _) = counted::<M>(&input, seed)?;
        let outcome = outcome.ok_or(Breach::Refused { seed })?;
        let again = M::clear(&input).map_err(|_| Breach::Refused { seed })?;
        if outcome != again {
            return Err(Breach::Unstable { seed });
        }
        in_another_order::<M>(&input, Some(&outcome), seed)?;
        M::audit(&input, &outcome).map_err(|what| Breach::Audit { seed, what })
    }

    fn strain(&self, seed: u64) -> Result<Strain, Breach> {
        let input = M::extreme(seed);
        let (outcome, steps) = counted::<M>(&input, seed)?;
        in_another_order::<M>(&input, outcome.as_ref(), seed)?;
        if let Some(outcome) = &outcome {
            M::audit(&input, outcome).map_err(|what| Breach::Audit { seed, what })?;
        }
        Ok(Strain {
            cleared: outcome.is_some(),
            steps,
            bound: M::bound(&input),
        })
    }
}

/// The outcome, if there is one, and the steps it took: within the bound.
fn counted<M: Mechanism>(input: &M::Input, seed: u64) -> Result<(Option<M::Outcome>, u64), Breach> {
    let (outcome, steps) = meter::count(|| M::clear(input).ok());
    let bound = M::bound(input);
    match steps <= bound {
        true => Ok((outcome, steps)),
        false => Err(Breach::Work { seed, steps, bound }),
    }
}

/// Shuffles the input and compares the outcome, or that there is none.
fn in_another_order<M: Mechanism>(
    input: &M::Input,
    outcome: Option<&M::Outcome>,
    seed: u64,
) -> Result<(), Breach> {
    let mut shuffled = input.clone();
    M::shuffle(&mut shuffled, &mut dice::dice(!seed));
    match M::clear(&shuffled).ok().as_ref() == outcome {
        true => Ok(()),
        false => Err(Breach::Order { seed }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mechanism that serves the first in the list, charges more than was bid, and looks at a
    /// long list twice.
    struct Rude;

    impl Mechanism for Rude {
        type Input = Vec<u64>;
        type Outcome = u64;
        type Error = std::fmt::Error;
        const NAME: &'static str = "rude";
        const SUMMARY: &'static str = "first come, first served";

        fn clear(input: &Vec<u64>) -> Result<u64, std::fmt::Error> {
            let looks = if input.len() > 100 { 2 } else { 1 };
            (0..looks).for_each(|_| meter::steps(input.len()));
            input.first().copied().ok_or(std::fmt::Error)
        }
        fn audit(input: &Vec<u64>, outcome: &u64) -> Result<(), &'static str> {
            match input.contains(outcome) && *outcome < 100 {
                true => Ok(()),
                false => Err("too much"),
            }
        }
        fn bound(input: &Vec<u64>) -> u64 {
            input.len() as u64
        }
        fn specimen(seed: u64) -> Vec<u64> {
            match seed {
                0 => vec![],
                1 => vec![100],
                _ => (0..seed).collect(),
            }
        }
        fn extreme(seed: u64) -> Vec<u64> {
            Rude::specimen(seed)
        }
        fn shuffle(input: &mut Vec<u64>, draw: &mut dyn FnMut(u64) -> u64) {
            dice::shuffle(input, draw);
        }
    }

    #[test]
    fn a_mechanism_that_breaks_a_rule_fails_its_drill() {
        assert_eq!(Rude.drill(0), Err(Breach::Refused { seed: 0 }));
        let what = "too much";
        assert_eq!(Rude.drill(1), Err(Breach::Audit { seed: 1, what }));
        assert_eq!(Rude.drill(90), Err(Breach::Order { seed: 90 }));
        let (seed, steps, bound) = (101, 202, 101);
        let slow = Err(Breach::Work { seed, steps, bound });
        assert_eq!(
            (Rude.drill(101), Rude.strain(101).err()),
            (slow.clone(), slow.err())
        );
        let (cleared, steps, bound) = (false, 0, 0);
        let refused = Strain {
            cleared,
            steps,
            bound,
        };
        assert_eq!(Rude.strain(0), Ok(refused));
        assert_eq!(Rude.strain(1), Err(Breach::Audit { seed: 1, what }));
    }
}
