//! The terms of a contract (5.3.1 p. 92), and the progress of its jobs.

use std::fmt::Debug;

use super::aggregate::Aggregate;
use super::error::Error;
use super::limits::{
    BATCH_JOBS_MAX, Field, MEAN_MAX, MONEY_MAX, OutOfRange, SPAN_MAX, SUM_MAX, TIME_MAX, within,
};

/// A contract, offered or signed: a load for a time, and its pay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract<K> {
    /// Unique among the contracts of a provider.
    pub id: K,
    /// First tick.
    pub start: u64,
    /// Tick after the last; later than the start.
    pub end: u64,
    /// Mean load, thousandths of a CPU.
    pub mean: u64,
    /// Variance of the load, squares of thousandths of a CPU.
    pub var: u64,
    /// Expected pay per tick, micro-credits.
    pub value: u64,
    /// Its jobs; only [`super::Policy::PreemptLeastLoss`] looks at them.
    pub batch: Batch,
}

/// The jobs of a contract so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// How many it has in all, at least 1.
    pub jobs: u32,
    /// The value of finishing a part of them.
    pub aggregate: Aggregate,
    /// Average penalty that the provider owes for each unfinished job, micro-credits.
    pub penalty: u64,
    /// Jobs done.
    pub completed: u32,
    /// Jobs rejected or cancelled.
    pub dropped: u32,
    /// Sum of the jobs' positive payments so far, micro-credits.
    pub earned: u64,
    /// Sum of the penalties so far, micro-credits.
    pub owed: u64,
}

impl Batch {
    /// One job that has not begun, pays the whole value and costs nothing if it is not done.
    pub const WHOLE: Batch = Batch {
        jobs: 1,
        aggregate: Aggregate::PLAIN,
        penalty: 0,
        completed: 0,
        dropped: 0,
        earned: 0,
        owed: 0,
    };

    /// Jobs neither done nor dropped.
    pub(super) fn open(&self) -> u32 {
        self.jobs - self.completed - self.dropped
    }

    fn check(&self) -> Result<(), OutOfRange> {
        within((1..=BATCH_JOBS_MAX).contains(&self.jobs), Field::Jobs)?;
        let over = self.completed.checked_add(self.dropped);
        within(over.is_some_and(|over| over <= self.jobs), Field::Completed)?;
        within(self.penalty <= MONEY_MAX, Field::Penalty)?;
        within(self.earned.max(self.owed) <= SUM_MAX, Field::Paid)
    }
}

impl<K> Contract<K> {
    /// Its expected pay over all its ticks, micro-credits.
    #[must_use]
    pub fn revenue(&self) -> u128 {
        u128::from(self.value) * u128::from(self.end.saturating_sub(self.start))
    }

    /// Whether the two share a tick.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

impl<K: Clone + Debug> Contract<K> {
    pub(super) fn check(&self) -> Result<(), Error<K>> {
        if self.start >= self.end {
            return Err(Error::Inverted(self.id.clone()));
        }
        self.ranges().map_err(Error::of(self.id.clone()))
    }

    fn ranges(&self) -> Result<(), OutOfRange> {
        within(self.end <= TIME_MAX, Field::Time)?;
        within(self.end - self.start <= SPAN_MAX, Field::Length)?;
        within(self.mean <= MEAN_MAX, Field::Mean)?;
        within(self.value <= MONEY_MAX, Field::Value)?;
        self.batch.check()
    }
}
