//! Contracts for batches of jobs (AuYoung, 5.3 and 5.4; reference F): a provider promises to run
//! all jobs that a client sends under a contract, rents the processors, and keeps or loses the
//! difference.
//!
//! The parts are pure functions, in the order in which a contract meets them:
//!
//! 1. A client offers a [`Contract`]: its expected load for a time, and its pay. [`admit_contract`]
//!    decides whether the provider signs, under one of the policies of `admission`; [`clear`] does
//!    so for a whole book.
//! 2. A [`Job`] arrives under a signed contract. Its bias ([`Aggregate::bias`]) adds to its utility
//!    the cost of one job less to the whole contract. [`admit_job`] decides whether it is taken.
//! 3. [`schedule`] says which job runs when: FirstProfit. ([`first_price`] is the older order, by
//!    value alone.)
//! 4. At the end the client pays [`payout`]: the jobs' payments times the aggregate function of the
//!    part that was done, less the penalties.
//!
//! The [`Mechanism`] is step 1 alone. Its input is a provider's supply, its signed contracts and
//! those offered to it; its outcome lists the contracts that are signed and those abandoned. Steps
//! 2 to 4 happen later, job by job.
//!
//! `work` bounds the steps that clearing a book takes.
//!
//! Every number has a range, see [`limits`]; an input beyond it is refused, so no sum overflows.
//! Ids are unique.

mod admission;
mod aggregate;
mod book;
mod error;
mod first_price;
mod job;
mod job_admission;
pub mod limits;
mod load;
mod payout;
mod schedule;
mod specimen;
mod stake;
mod supply;
mod terms;
mod work;

use std::fmt::Debug;
use std::marker::PhantomData;

use super::Mechanism;
use super::dice::shuffle;

pub use admission::{Answer, CostPolicy, Policy, Provider, Reason, admit_contract};
pub use aggregate::Aggregate;
pub use book::{Abandoned, Input, Outcome, clear};
pub use error::Error;
pub use first_price::{Request, first_price};
pub use job::Job;
pub use job_admission::admit_job;
pub use limits::{Field, OutOfRange};
pub use payout::{payout, settle};
pub use schedule::{Machine, Row, Schedule, schedule};
pub use supply::Period;
pub use terms::{Batch, Contract};

/// Admission to a provider's book as a [`Mechanism`], for contracts with ids of type `K`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Contracts<K>(PhantomData<fn() -> K>);

impl<K> Contracts<K> {
    /// The marker, usable in statics.
    pub const NEW: Self = Contracts(PhantomData);
}

impl<K: Ord + Clone + Debug + From<u8> + From<u16>> Mechanism for Contracts<K> {
    type Input = Input<K>;
    type Outcome = Outcome<K>;
    type Error = Error<K>;

    const NAME: &'static str = "contract";
    const SUMMARY: &'static str =
        "a thousand jobs, worth it only if most finish: batches under contract";

    fn clear(input: &Input<K>) -> Result<Outcome<K>, Error<K>> {
        clear(input)
    }

    fn bound(input: &Input<K>) -> u64 {
        work::bound(input)
    }

    fn audit(input: &Input<K>, outcome: &Outcome<K>) -> Result<(), &'static str> {
        book::audit(input, outcome)
    }

    fn specimen(seed: u64) -> Input<K> {
        specimen::draw(seed)
    }

    fn extreme(seed: u64) -> Input<K> {
        specimen::extreme(seed)
    }

    fn shuffle(input: &mut Input<K>, draw: &mut dyn FnMut(u64) -> u64) {
        shuffle(&mut input.signed, draw);
        shuffle(&mut input.offered, draw);
    }
}
