//! Claims on a pool: a budget per slot for a share of its resources.

use super::flaw::Flaw;
use crate::ids::{Hash32, OfferId};
use crate::limits;
use crate::mechanism::share::{BUDGET_END, Utility};
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// A claim on a pool: open, and answered at every slot boundary anew. One of an account at each
/// pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The pool.
    pub offer: OfferId,
    /// Most to pay for each slot: what is split over the resources; below [`BUDGET_END`]
    /// micro-credits.
    pub rate: Credits,
    /// How the job's utility depends on its shares.
    pub utility: Utility,
    /// Worth of each of the [`crate::class::ClassKey::resources`]; only proportions matter. That of
    /// processors is at least 1: nothing runs without one.
    pub weights: Vec<u32>,
    /// Tasks of the job, 1 to [`limits::ORDER_UNITS`]: no more processors are of use.
    pub tasks: u32,
    /// Slots to run at the most, 1 to [`limits::ORDER_SLOTS`].
    pub slots: u32,
    /// Most to pay over the whole order.
    pub budget: Credits,
    /// Last height at which the order may stand without running.
    pub stands_until: u64,
    /// Salted hash of the job; its text stays off the ledger.
    pub work: Hash32,
}

impl Claim {
    /// Checks that all values are in range. How many weights there must be is the class's affair.
    ///
    /// # Errors
    /// The first flaw.
    pub fn check(&self) -> Result<(), Flaw> {
        let processors = self.weights.first().is_some_and(|w| *w >= 1);
        Flaw::first(&[
            (Flaw::Rate, (1..BUDGET_END).contains(&self.rate.micros())),
            (
                Flaw::Weights,
                processors && self.weights.len() <= limits::RESOURCES,
            ),
            (Flaw::Tasks, (1..=limits::ORDER_UNITS).contains(&self.tasks)),
            (Flaw::Slots, (1..=limits::ORDER_SLOTS).contains(&self.slots)),
        ])
    }
}
