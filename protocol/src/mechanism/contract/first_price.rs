//! FirstPrice (4.3.1 p. 60; F.3), the order of jobs by value alone. It is older than FirstProfit,
//! which is measured by it.
//!
//! 1. Jobs are sorted by `value / (size * len)`, highest first, compared by cross-multiplication.
//! 2. Ties go to the earlier arrival, then to the smaller id.

use std::cmp::Ordering;
use std::fmt::Debug;

use super::error::{Error, check_all};
use super::limits::{
    Field, MONEY_MAX, OutOfRange, PENDING_MAX, SIZE_MAX, SPAN_MAX, TIME_MAX, within,
};

/// A job as FirstPrice sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<K> {
    /// Unique among the requests.
    pub id: K,
    /// When it arrived, ticks.
    pub arrival: u64,
    /// Its pay, micro-credits.
    pub value: u64,
    /// Processors it needs at once, at least 1.
    pub size: u32,
    /// How long it runs, ticks, at least 1.
    pub len: u64,
}

impl<K: Ord> Request<K> {
    fn work(&self) -> u128 {
        u128::from(self.size) * u128::from(self.len)
    }

    fn before(&self, other: &Self) -> Ordering {
        let own = u128::from(self.value) * other.work();
        let theirs = u128::from(other.value) * self.work();
        theirs
            .cmp(&own)
            .then_with(|| self.arrival.cmp(&other.arrival))
            .then_with(|| self.id.cmp(&other.id))
    }

    fn check(&self) -> Result<(), OutOfRange> {
        within(self.arrival <= TIME_MAX, Field::Time)?;
        within(self.value <= MONEY_MAX, Field::Value)?;
        within((1..=SIZE_MAX).contains(&self.size), Field::Size)?;
        within((1..=SPAN_MAX).contains(&self.len), Field::Length)
    }
}

/// The ids in the order in which the jobs are to run.
///
/// # Errors
/// Two requests with one id, more than [`PENDING_MAX`], or a number out of its range.
pub fn first_price<K: Ord + Clone + Debug>(requests: &[Request<K>]) -> Result<Vec<K>, Error<K>> {
    within(requests.len() <= PENDING_MAX, Field::Jobs)?;
    check_all(
        requests.iter(),
        |request| &request.id,
        |request| request.check().map_err(Error::of(request.id.clone())),
    )?;
    let mut order: Vec<&Request<K>> = requests.iter().collect();
    order.sort_unstable_by(|a, b| a.before(b));
    Ok(order
        .into_iter()
        .map(|request| request.id.clone())
        .collect())
}
