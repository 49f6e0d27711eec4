//! The types of a seller with jobs by deadlines, the limits, and the types of a planning's outcome.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

/// Jobs, the new one included, up to which the plan is an optimum: twice the time and memory for
/// each further job.
pub const EXACT_JOBS: usize = 18;
/// Jobs of one seller, the new one included: bounds the local search, whose steps take quadratic
/// time.
pub const JOBS: usize = 128;
/// Deadlines and ages in intervals: two years of one-minute slots.
pub const HORIZON: u32 = 1 << 20;
/// Units of one seller per interval: a thousand times the units of a class.
pub const CAPACITY: u64 = 1 << 24;
/// Work of one job in units times intervals: the largest seller can do as much until the horizon.
pub const WORK: u64 = CAPACITY * HORIZON as u64;
/// Price of a job in micro-credits: the largest amount of money.
pub const PRICE: u64 = i64::MAX as u64;
/// A whole in parts per million.
pub const WHOLE_PPM: u32 = 1_000_000;

// Sums of work leave room in 64 bits, and so do the squares of times; products of a job's work, its
// window and another one's price fit 128 bits.
const _: () = assert!(JOBS as u64 <= u64::MAX / WORK / 2);
const _: () = assert!((WORK as u128 * HORIZON as u128) <= u128::MAX / PRICE as u128);
const _: () = assert!(EXACT_JOBS <= 31 && EXACT_JOBS <= JOBS);

/// How the price falls between the deadlines. With x intervals of w gone since the soft one:
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Evenly: `pmax - floor((pmax - pmin) * x / w)`.
    Linear,
    /// First fast, then slowly: `pmin + floor((pmax - pmin) * (w - x)^2 / w^2)`.
    Convex,
    /// First slowly, then fast: `pmax - floor((pmax - pmin) * x^2 / w^2)`.
    Concave,
}

/// A job with work still to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job<K> {
    /// Unique among the jobs of the seller.
    pub id: K,
    /// Units times intervals still to do (r' of the paper), 1 ..= [`WORK`].
    pub work: u64,
    /// Intervals since the job was accepted, without the current one, at most [`HORIZON`].
    pub elapsed: u32,
    /// Age in intervals up to which `pmax` is paid; at most `hard`.
    pub soft: u32,
    /// Age in intervals by which the job must be done, at most [`HORIZON`].
    pub hard: u32,
    /// Price up to the soft deadline, micro-credits, at most [`PRICE`].
    pub pmax: u64,
    /// Price at the hard deadline, micro-credits, at most `pmax`.
    pub pmin: u64,
    /// How the price falls in between.
    pub shape: Shape,
}

/// The input of a clearing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input<K> {
    /// Units per interval (K of the paper), at most [`CAPACITY`]. Without any there is only the
    /// plan of no jobs.
    pub capacity: u64,
    /// The accepted jobs, in any order.
    pub jobs: Vec<Job<K>>,
    /// A job that asks to be accepted.
    pub new: Option<Job<K>>,
    /// Least gain of revenue for which a new job is accepted, in millionths of its `pmax`, 0 ..=
    /// [`WHOLE_PPM`]. At 0 any gain suffices, as in the paper.
    pub min_gain_ppm: u32,
}

/// One job's place in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stint<K> {
    /// The job.
    pub id: K,
    /// Work done before this job's, units times intervals.
    pub from: u64,
    /// The same with this job's.
    pub to: u64,
    /// Interval in which the job is done, from 1.
    pub completion: u64,
    /// Its price then, micro-credits.
    pub pay: u64,
}

impl<K> Stint<K> {
    /// The intervals in which the job runs, ascending, each with its units. `capacity` is the one
    /// planned with.
    pub fn allocation(&self, capacity: u64) -> impl Iterator<Item = (u64, u64)> + use<K> {
        let (from, to) = (self.from, self.to);
        let first = from.checked_div(capacity).map_or(1, |whole| whole + 1);
        // Eqs. 3 to 5: x_jt, whose sums are r'_j over t and at most K over j.
        (first..=self.completion).map(move |interval| {
            let end = (interval * capacity).min(to);
            (interval, end - ((interval - 1) * capacity).max(from))
        })
    }
}

/// All jobs in the order in which they run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan<K> {
    /// Sum of the pays, micro-credits.
    pub revenue: u128,
    /// The jobs; each begins where the one before it ends.
    pub stints: Vec<Stint<K>>,
}

/// The decision on the new job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission<K> {
    /// Whether it is accepted.
    pub accept: bool,
    /// The plan with it, if there is one; in force if it is accepted.
    pub plan: Option<Plan<K>>,
}

/// The result of a clearing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome<K> {
    /// The plan of the accepted jobs; `None` if they cannot all meet their hard deadlines.
    pub plan: Option<Plan<K>>,
    /// Their ids by hard deadline; `None` under the same condition.
    pub edf: Option<Vec<K>>,
    /// The answer to the new job, if there is one.
    pub admission: Option<Admission<K>>,
}

/// Why a clearing is refused, in the order of the checks; of several guilty jobs the smallest id is
/// named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error<K: Debug> {
    /// More jobs than [`JOBS`].
    #[error("{0} jobs are more than {JOBS}")]
    TooManyJobs(usize),
    /// More units than [`CAPACITY`].
    #[error("{0} units are more than {CAPACITY}")]
    TooMuchCapacity(u64),
    /// A least gain above the whole price.
    #[error("a gain of {0} ppm is more than {WHOLE_PPM}")]
    GainTooHigh(u32),
    /// Two jobs have one id.
    #[error("two jobs have the id {0:?}")]
    DuplicateId(K),
    /// A job has no work to do.
    #[error("job {0:?} has no work")]
    NoWork(K),
    /// More work than [`WORK`].
    #[error("the work of job {0:?} is more than {WORK}")]
    TooMuchWork(K),
    /// A soft deadline behind the hard one.
    #[error("the soft deadline of job {0:?} is later than the hard one")]
    InvertedWindow(K),
    /// A deadline or age beyond [`HORIZON`].
    #[error("the hard deadline or the age of job {0:?} is more than {HORIZON} intervals")]
    BeyondHorizon(K),
    /// A lowest price above the highest.
    #[error("the lowest price of job {0:?} is above its highest")]
    InvertedPrices(K),
    /// A price above [`PRICE`].
    #[error("the price of job {0:?} is more than {PRICE}")]
    PriceTooHigh(K),
}
