//! Time-malleable jobs of one seller, planned for the most revenue (Mai et al., sections 2 and 3).
//!
//! A job states its work and two deadlines: done by the soft one it pays `pmax`, later less and
//! less, at the hard one `pmin`. It may use all of the seller's units in an interval or none, so a
//! plan is no more than an order of the jobs: each runs on all units until its work is done, and
//! the rest of its last interval goes to the next one. Time counts intervals: 1 is the current one,
//! and a job that has waited and run for `elapsed` of them and completes in interval c is
//! `elapsed + c` old.
//!
//! 1. `market` refuses numbers beyond the stated ranges and sorts the jobs by id.
//! 2. All jobs can meet their hard deadlines if and only if they do in the order of these deadlines
//!    (`edf`, ties to the smaller id). Otherwise there is no plan.
//! 3. Up to [`EXACT_JOBS`] jobs `exact` finds the orders of greatest revenue, and among them the
//!    one whose sequence of ids is smallest. For more jobs `local` improves three orders step by
//!    step; it never ends below the revenue of `edf`, but an optimum is not promised.
//! 4. A new job is planned together with the others and accepted if there is a plan for all and its
//!    revenue exceeds that of the plan without it by [`Input::min_gain_ppm`] of the job's `pmax`,
//!    and by one micro-credit at least.
//!
//! `work` bounds the steps of a planning: jobs times their sets, or the moves of the local search.
//!
//! Nothing is charged beyond the price that a job states for the interval in which it completes.

mod admit;
mod audit;
mod edf;
mod exact;
mod local;
mod market;
mod price;
mod specimen;
mod work;

use std::fmt::Debug;
use std::marker::PhantomData;

use super::Mechanism;
use super::dice::shuffle;
use market::Market;
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
    /// Units times intervals still to do, 1 ..= [`WORK`].
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
    /// Units per interval, at most [`CAPACITY`]. Without any there is only the plan of no jobs.
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

/// Plans the jobs and answers the new one.
///
/// # Errors
/// The first check that the input fails, see [`Error`].
pub fn clear<K: Ord + Clone + Debug>(input: &Input<K>) -> Result<Outcome<K>, Error<K>> {
    if input.min_gain_ppm > WHOLE_PPM {
        return Err(Error::GainTooHigh(input.min_gain_ppm));
    }
    // With the new job first: it is to be refused for what it is, whatever becomes of the others.
    let extended = Market::new(input.capacity, input.jobs.iter().chain(&input.new))?;
    let market = Market::new(input.capacity, &input.jobs)?;
    let edf = market.edf();
    let plan = market.plan(edf.as_deref());
    let admission = input.new.as_ref().map(|new| {
        let with = extended.plan(extended.edf().as_deref());
        let revenues = (plan.as_ref().map(|p| p.revenue), with.as_ref());
        Admission {
            accept: admit::accepts(
                revenues.0,
                revenues.1.map(|p| p.revenue),
                new.pmax,
                input.min_gain_ppm,
            ),
            plan: with,
        }
    });
    let edf = edf.map(|order| market.ids(&order));
    Ok(Outcome {
        plan,
        edf,
        admission,
    })
}

/// The plan that the local search finds, whatever the number of jobs, so that it can be measured
/// beside [`clear`].
///
/// # Errors
/// As [`clear`].
pub fn approximate<K: Ord + Clone + Debug>(
    capacity: u64,
    jobs: &[Job<K>],
) -> Result<Option<Plan<K>>, Error<K>> {
    let market = Market::new(capacity, jobs)?;
    let order = market
        .edf()
        .map(|edf| local::search(&market.lots, capacity, &edf));
    Ok(order.map(|order| market.spell(&order)))
}

/// The planning as a [`Mechanism`], for jobs with ids of type `K`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deadline<K>(PhantomData<fn() -> K>);

impl<K> Deadline<K> {
    /// The marker, usable in statics.
    pub const NEW: Self = Deadline(PhantomData);
}

impl<K: Ord + Clone + Debug + From<u8> + From<u16>> Mechanism for Deadline<K> {
    type Input = Input<K>;
    type Outcome = Outcome<K>;
    type Error = Error<K>;

    const NAME: &'static str = "deadline";
    const SUMMARY: &'static str = "done by noon if you can, by six at the latest, cheaper if later";

    fn clear(input: &Input<K>) -> Result<Outcome<K>, Error<K>> {
        clear(input)
    }

    fn bound(input: &Input<K>) -> u64 {
        work::bound(input)
    }

    fn audit(input: &Input<K>, outcome: &Outcome<K>) -> Result<(), &'static str> {
        audit::audit(input, outcome)
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
