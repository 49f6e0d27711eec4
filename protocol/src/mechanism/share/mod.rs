//! Proportional shares of a pool for a budget: the auction of Abacus (Zhang et al., IV.B, eq. 1,
//! Algs. 1 and 2; reference D).
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
mod types;
pub mod units;
mod work;

use std::fmt::Debug;
use std::marker::PhantomData;

use super::Mechanism;
use super::dice::shuffle;
use crate::fixed::{self, ONE};
pub use types::*;

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
