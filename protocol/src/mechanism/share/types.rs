//! The types of a pool and its jobs, the limits, and the types of an auction's outcome.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use crate::fixed;

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
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Utility {
    /// Types replace one another: the sum of weight times share (section III).
    Linear,
    /// Types complete one another: the sum of weight times logarithm of the share (section III).
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
