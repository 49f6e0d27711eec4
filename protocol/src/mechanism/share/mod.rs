//! Proportional shares of a pool for a budget: the auction of Abacus (Zhang et al., sections IV and
//! V).
//!
//! A pool of one seller has several resource types. Each job brings a budget, which is a rate:
//! micro-credits per slot. The market splits the budget over the types as serves the job best;
//! nobody states a price. With `alpha = sixteenths / 16` job `i` holds of type `j` the share `s_ij
//! = b_ij^alpha / sum over l of b_lj^alpha`, in Q32.
//!
//! | utility | what a job maximises | pull `h_j` of type `j` |
//! |---|---|---|
//! | [`Utility::Linear`] | `sum w_j s_j` | `w_j * s_j * (1 - s_j)` |
//! | [`Utility::Log`] | `sum w_j ln s_j` | `w_j * (1 - s_j)` |
//!
//! 1. Jobs are taken by ascending id. Each starts with its budget split evenly, by largest
//!    remainders.
//! 2. A round lets one job after the other move, and each sees the moves of those before it
//!    (Gauss-Seidel). A move is `inner` times: find the pulls against the rivals as they stand,
//!    split the budget in proportion to them by largest remainders. Pulls that are all zero (a job
//!    without rivals or wishes) leave the split as it is.
//! 3. A round in which each part of each budget changed by less than `eps` ends the auction: it
//!    converged. After `max_rounds` the last split counts as well. Without jobs there is no round.
//!
//! A split that no longer moves is a best response of every job: the condition of a maximum is that
//! `b_j` is proportional to `h_j`. Integer rounding can leave a cycle of one micro-credit, so `eps`
//! should be 1,000 or more.
//!
//! `work` bounds the steps of an auction: jobs x types x rounds x passes.
//!
//! Shares become units, and budgets payments, in [`units`]; on the ledger, where processors run
//! tasks, in [`dispatch`]. Weights may be learnt from past runs; estimates are in floating point
//! and belong to the buyer, off the ledger.

pub mod dispatch;
mod rounds;
mod specimen;
mod split;
pub mod units;
mod work;

use std::fmt::Debug;
use std::marker::PhantomData;

use super::Mechanism;
use super::dice::shuffle;
use crate::fixed::{self, ONE};
use serde::{Deserialize, Serialize};

/// Jobs in one auction: four times what Abacus was measured with; their powers fill the first-level
/// cache.
pub const JOBS_MAX: usize = 512;
/// Resource types of a pool: processor, memory, disk, network, accelerators, and room.
pub const TYPES_MAX: usize = 8;
/// Budget of a job, micro-credits per slot, exclusive: its powers stay below 2^82 and their
/// products within 128 bits.
pub const BUDGET_END: u64 = 1 << 50;
/// Sixteenths of the exponent: beyond 1 large budgets would crowd out small ones more than in
/// proportion.
pub const SIXTEENTHS_MAX: u32 = 16;
/// Rounds of an auction; 5 are usual, 30 were seen.
pub const ROUNDS_MAX: u32 = 500;
/// Passes of a job's move; 5 come close to the best response.
pub const INNER_MAX: u32 = 16;
/// Jobs times types times rounds times passes, so that no auction holds up a block: under half a
/// second.
pub const STEPS_MAX: u64 = 1 << 22;

const _: () = assert!(fixed::ROOT_MAX >= (BUDGET_END as u128) << 32);
const _: () = assert!(STEPS_MAX >= JOBS_MAX as u64 * TYPES_MAX as u64 * 200 * 5);

/// How a job's utility depends on its shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Utility {
    /// Types replace one another: the sum of weight times share.
    Linear,
    /// Types complete one another: the sum of weight times logarithm of the share.
    Log,
}

/// The rule's numbers, policy of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Resource types, 1 to [`TYPES_MAX`].
    pub types: usize,
    /// Sixteenths of the exponent alpha, 0 (equal shares) to 16 (in proportion to the budgets).
    pub sixteenths: u32,
    /// Smallest change of a part of a budget that counts as one, micro-credits, at least 1.
    pub eps: u64,
    /// Rounds at most, 1 to [`ROUNDS_MAX`].
    pub max_rounds: u32,
    /// Passes of a move, 1 to [`INNER_MAX`].
    pub inner: u32,
}

impl Terms {
    /// The recommended numbers for a pool of so many types: the root of the budgets, changes below
    /// 0.1 credit ignored.
    #[must_use]
    pub const fn usual(types: usize) -> Self {
        Terms {
            types,
            sixteenths: 8,
            eps: 100_000,
            max_rounds: 200,
            inner: 5,
        }
    }
}

/// One bidder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job<K> {
    /// Unique among the jobs of an auction.
    pub id: K,
    /// Micro-credits per slot, below [`BUDGET_END`]. All of it is split.
    pub budget: u64,
    /// How the job's utility depends on its shares.
    pub utility: Utility,
    /// Worth of each type to the job; only their proportions matter.
    pub weights: Vec<u32>,
}

/// The input of an auction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input<K> {
    /// The rule's numbers.
    pub terms: Terms,
    /// The jobs, in any order.
    pub jobs: Vec<Job<K>>,
}

/// The shares of one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Award<K> {
    /// The job.
    pub id: K,
    /// Its budget split over the types, micro-credits per slot.
    pub parts: Vec<u64>,
    /// Its share of each type, Q32.
    pub shares: Vec<u64>,
}

/// The result of an auction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome<K> {
    /// Every job, by id.
    pub awards: Vec<Award<K>>,
    /// Rounds taken.
    pub rounds: u32,
    /// Whether the last round changed nothing that counts.
    pub converged: bool,
}

/// Why an auction is refused. Terms are checked first, then ids; the smallest guilty id is named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error<K: Debug> {
    /// Types beyond the range.
    #[error("{0} resource types, not 1 to {TYPES_MAX}")]
    Types(usize),
    /// The exponent exceeds 1.
    #[error("an exponent of {0} sixteenths, not 0 to {SIXTEENTHS_MAX}")]
    Sixteenths(u32),
    /// No change is below 0.
    #[error("no auction converges with eps 0")]
    Eps,
    /// Rounds beyond the range.
    #[error("{0} rounds, not 1 to {ROUNDS_MAX}")]
    Rounds(u32),
    /// Passes beyond the range.
    #[error("{0} passes, not 1 to {INNER_MAX}")]
    Inner(u32),
    /// Too many jobs.
    #[error("{0} jobs, more than {JOBS_MAX}")]
    Jobs(usize),
    /// Each number is in its range, but not their product.
    #[error("{0} steps, more than {STEPS_MAX}")]
    Steps(u64),
    /// Two jobs have one id.
    #[error("two jobs have the id {0:?}")]
    DuplicateId(K),
    /// A budget beyond the range.
    #[error("the budget of job {id:?} is {budget} micro-credits, not below {BUDGET_END}")]
    Budget {
        /// The job.
        id: K,
        /// Micro-credits.
        budget: u64,
    },
    /// A job does not weigh each type once.
    #[error("job {id:?} has {weights} weights, the pool {types} types")]
    Weights {
        /// The job.
        id: K,
        /// Weights that it has.
        weights: usize,
        /// Types of the pool.
        types: usize,
    },
}

/// The jobs by id, all of them in range.
fn check<K: Ord + Clone + Debug>(input: &Input<K>) -> Result<Vec<&Job<K>>, Error<K>> {
    let terms = &input.terms;
    if !(1..=TYPES_MAX).contains(&terms.types) {
        return Err(Error::Types(terms.types));
    }
    if terms.sixteenths > SIXTEENTHS_MAX {
        return Err(Error::Sixteenths(terms.sixteenths));
    }
    if terms.eps == 0 {
        return Err(Error::Eps);
    }
    if !(1..=ROUNDS_MAX).contains(&terms.max_rounds) {
        return Err(Error::Rounds(terms.max_rounds));
    }
    if !(1..=INNER_MAX).contains(&terms.inner) {
        return Err(Error::Inner(terms.inner));
    }
    if input.jobs.len() > JOBS_MAX {
        return Err(Error::Jobs(input.jobs.len()));
    }
    let cells = (input.jobs.len() * terms.types) as u64;
    let steps = cells * u64::from(terms.max_rounds) * u64::from(terms.inner);
    if steps > STEPS_MAX {
        return Err(Error::Steps(steps));
    }
    let mut jobs: Vec<&Job<K>> = input.jobs.iter().collect();
    jobs.sort_by(|a, b| a.id.cmp(&b.id));
    if let Some(pair) = jobs.windows(2).find(|pair| pair[0].id == pair[1].id) {
        return Err(Error::DuplicateId(pair[0].id.clone()));
    }
    for job in &jobs {
        let (id, weights) = (job.id.clone(), job.weights.len());
        if job.budget >= BUDGET_END {
            let budget = job.budget;
            return Err(Error::Budget { id, budget });
        }
        if weights != terms.types {
            let types = terms.types;
            return Err(Error::Weights { id, weights, types });
        }
    }
    Ok(jobs)
}

/// Splits all budgets and finds the shares.
///
/// # Errors
/// The first rule that the input breaks, see [`Error`].
pub fn clear<K: Ord + Clone + Debug>(input: &Input<K>) -> Result<Outcome<K>, Error<K>> {
    let jobs = check(input)?;
    Ok(rounds::run(&input.terms, &jobs))
}

/// The auction as a [`Mechanism`], for jobs with ids of type `K`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Share<K>(PhantomData<fn() -> K>);

impl<K> Share<K> {
    /// The marker, usable in statics.
    pub const NEW: Self = Share(PhantomData);
}

impl<K: Ord + Clone + Debug + From<u8> + From<u16>> Mechanism for Share<K> {
    type Input = Input<K>;
    type Outcome = Outcome<K>;
    type Error = Error<K>;

    const NAME: &'static str = "share";
    const SUMMARY: &'static str =
        "a fair share of a pool for a budget per slot: no prices to state";

    fn clear(input: &Input<K>) -> Result<Outcome<K>, Error<K>> {
        clear(input)
    }

    fn bound(input: &Input<K>) -> u64 {
        work::bound(input)
    }

    fn audit(input: &Input<K>, outcome: &Outcome<K>) -> Result<(), &'static str> {
        audit(input, outcome)
    }

    fn specimen(seed: u64) -> Input<K> {
        specimen::draw(seed)
    }

    fn extreme(seed: u64) -> Input<K> {
        specimen::extreme(seed)
    }

    fn shuffle(input: &mut Input<K>, draw: &mut dyn FnMut(u64) -> u64) {
        shuffle(&mut input.jobs, draw);
    }
}

/// See [`Mechanism::audit`]: whether the shares follow from the split, not whether the split is the
/// best.
fn audit<K: Ord + Clone + Debug>(
    input: &Input<K>,
    outcome: &Outcome<K>,
) -> Result<(), &'static str> {
    let jobs = check(input).map_err(|_| "the input is none")?;
    let terms = &input.terms;
    if outcome.rounds > terms.max_rounds {
        return Err("more rounds than allowed");
    }
    if !outcome.converged && outcome.rounds < terms.max_rounds {
        return Err("it ended before it converged");
    }
    if !jobs
        .iter()
        .map(|j| &j.id)
        .eq(outcome.awards.iter().map(|a| &a.id))
    {
        return Err("awards are not those of the jobs, by id");
    }
    for (job, award) in jobs.iter().zip(&outcome.awards) {
        if award.parts.len() != terms.types || award.shares.len() != terms.types {
            return Err("an award has not one part and share of each type");
        }
        let spent: u128 = award.parts.iter().map(|b| u128::from(*b)).sum();
        if spent != u128::from(job.budget) {
            return Err("the parts of a budget are not the budget");
        }
    }
    for kind in 0..terms.types {
        let power = |a: &Award<K>| fixed::pow16(u128::from(a.parts[kind]) << 32, terms.sixteenths);
        let powers: Vec<u128> = outcome.awards.iter().map(power).collect();
        let sum: u128 = powers.iter().sum();
        let mut held = 0;
        for (award, power) in outcome.awards.iter().zip(powers) {
            let share = u128::from(award.shares[kind]);
            held += share;
            let below = share * sum <= power << 32;
            if !below || (sum > 0 && (share + 1) * sum <= power << 32) {
                return Err("a share does not follow from the budgets");
            }
        }
        if held > ONE {
            return Err("more than the whole pool is shared out");
        }
    }
    Ok(())
}
