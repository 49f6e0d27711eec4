//! Time-malleable jobs of one seller, planned for the most revenue (Mai et al., 2 and 3.1, eqs. 1
//! to 8; reference E).
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
mod lot;
mod market;
mod price;
mod specimen;
mod types;
mod work;

use std::fmt::Debug;
use std::marker::PhantomData;

use super::Mechanism;
use super::dice::shuffle;
use market::Market;
pub use types::*;

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
