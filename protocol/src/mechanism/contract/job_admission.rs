//! The decision whether a job that arrives under a signed contract is taken (5.4.2 p. 98; F.3).
//!
//! 1. The schedule of the jobs waiting is compared with that of these and the new one.
//! 2. It is taken if the new schedule earns more per tick of its span: `new total * old span > old
//!    total * new span`.
//! 3. If a processor is idle before (old span 0) totals are compared: the new one must be larger.
//!    The text's measure, profit per time until a processor is free (footnote 3 p. 98), has no
//!    meaning there.

use std::fmt::Debug;

use super::error::Error;
use super::job::Job;
use super::schedule::{self, Machine};

/// Whether `job` is taken beside the `pending` ones.
///
/// # Errors
/// As [`schedule::schedule`] for all these jobs together.
pub fn admit_job<K: Ord + Clone + Debug>(
    machine: &Machine,
    pending: &[Job<K>],
    job: &Job<K>,
) -> Result<bool, Error<K>> {
    let both = pending.iter().chain(std::iter::once(job));
    schedule::check(machine, both.clone())?;
    // Taking one job out changes no order, so one ranking serves both schedules.
    let ranked = schedule::rank(machine, both);
    let waiting = ranked.iter().filter(|ranked| ranked.job.id != job.id);
    let old = schedule::walk(machine, waiting, |_, _| {});
    let new = schedule::walk(machine, ranked.iter(), |_, _| {});
    if old.span == 0 {
        return Ok(new.total > old.total);
    }
    // 5.4.2 p. 98: the profit rate with it is higher.
    Ok(new.total * i128::from(old.span) > old.total * i128::from(new.span))
}
