//! The jobs in canonical form: checked, by id, with the data of the searches at hand.

use std::fmt::Debug;

use super::lot::Lot;
use super::{CAPACITY, EXACT_JOBS, Error, HORIZON, JOBS, Job, PRICE, Plan, Stint, WORK};
use super::{edf, exact, local};

/// The jobs of one seller.
#[derive(Debug)]
pub(super) struct Market<'a, K> {
    /// Units per interval.
    pub(super) capacity: u64,
    /// By id.
    jobs: Vec<&'a Job<K>>,
    /// Parallel to the jobs.
    pub(super) lots: Vec<Lot>,
}

impl<'a, K: Ord + Clone + Debug> Market<'a, K> {
    /// Checks the jobs and sorts them by id.
    pub(super) fn new(
        capacity: u64,
        jobs: impl IntoIterator<Item = &'a Job<K>>,
    ) -> Result<Self, Error<K>> {
        let mut jobs: Vec<&Job<K>> = jobs.into_iter().collect();
        if jobs.len() > JOBS {
            return Err(Error::TooManyJobs(jobs.len()));
        }
        if capacity > CAPACITY {
            return Err(Error::TooMuchCapacity(capacity));
        }
        jobs.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        if let Some(pair) = jobs.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(Error::DuplicateId(pair[0].id.clone()));
        }
        jobs.iter().try_for_each(|job| check(job))?;
        let lots = jobs.iter().map(|job| Lot::new(job, capacity)).collect();
        Ok(Market {
            capacity,
            jobs,
            lots,
        })
    }

    /// The order by hard deadline, if every job meets its own in it.
    pub(super) fn edf(&self) -> Option<Vec<usize>> {
        edf::feasible(&self.lots)
    }

    /// The plan, if `edf` says that there is one.
    pub(super) fn plan(&self, edf: Option<&[usize]>) -> Option<Plan<K>> {
        let edf = edf?;
        let order = if self.lots.len() <= EXACT_JOBS {
            exact::search(&self.lots, self.capacity)
        } else {
            local::search(&self.lots, self.capacity, edf)
        };
        Some(self.spell(&order))
    }

    /// The plan of an order in which every job meets its hard deadline.
    pub(super) fn spell(&self, order: &[usize]) -> Plan<K> {
        let mut to = 0;
        let stint = |&place: &usize| {
            let lot = &self.lots[place];
            let from = to;
            to += lot.work();
            Stint {
                id: self.jobs[place].id.clone(),
                from,
                to,
                // E.3: ceil(cumulative r / K).
                completion: to.div_ceil(self.capacity),
                // Eq. 6, as an equation.
                pay: lot.pay(to, self.capacity),
            }
        };
        let stints: Vec<Stint<K>> = order.iter().map(stint).collect();
        // Eq. 1.
        let revenue = stints.iter().map(|stint| u128::from(stint.pay)).sum();
        Plan { revenue, stints }
    }

    /// The ids of an order.
    pub(super) fn ids(&self, order: &[usize]) -> Vec<K> {
        order
            .iter()
            .map(|&place| self.jobs[place].id.clone())
            .collect()
    }
}

/// The ranges of a single job.
fn check<K: Clone + Debug>(job: &Job<K>) -> Result<(), Error<K>> {
    let id = || job.id.clone();
    if job.work == 0 {
        Err(Error::NoWork(id()))
    } else if job.work > WORK {
        Err(Error::TooMuchWork(id()))
    } else if job.soft > job.hard {
        Err(Error::InvertedWindow(id()))
    } else if job.hard > HORIZON || job.elapsed > HORIZON {
        Err(Error::BeyondHorizon(id()))
    } else if job.pmin > job.pmax {
        Err(Error::InvertedPrices(id()))
    } else if job.pmax > PRICE {
        Err(Error::PriceTooHigh(id()))
    } else {
        Ok(())
    }
}
