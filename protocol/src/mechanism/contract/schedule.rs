//! FirstProfit (5.4.3 p. 99; F.3): which job runs on which processor and when, by rate of profit.
//!
//! 1. Jobs go by `(eff(now + len - arrival) - cost * len) / len`, highest first, compared
//!    crosswise: the profit per tick of one that starts now. Ties go to the earlier arrival, then
//!    to the smaller id. The order is found once.
//! 2. In this order each job is tried on the processor that is free first, counted from now; ties
//!    go to the smaller index. Its gain is `eff(end - arrival) - cost * len`.
//! 3. A job that would be timed out at its end, or gain less than its penalty costs, is dropped: it
//!    takes no time and the total falls by its penalty. Any other one is placed and the total grows
//!    by its gain.
//! 4. The span is the time until a processor is free after all that.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fmt::Debug;

use super::error::{Error, check_all};
use super::job::Job;
use super::limits::{Field, MONEY_MAX, PENDING_MAX, PROCESSORS_MAX, TIME_MAX, within};

/// The processors of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The time of the schedule, ticks.
    pub now: u64,
    /// The cost of a processor per tick, micro-credits.
    pub cost: u64,
    /// When each processor is free, ticks; at least one processor.
    pub free: Vec<u64>,
}

/// Where and when a job runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<K> {
    /// The job.
    pub id: K,
    /// Index of its processor.
    pub processor: u32,
    /// When it starts, ticks; not before now.
    pub start: u64,
}

/// A schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule<K> {
    /// All jobs by rate of profit, dropped ones too.
    pub order: Vec<K>,
    /// Those that run, in this order.
    pub rows: Vec<Row<K>>,
    /// Those that do not, in this order.
    pub dropped: Vec<K>,
    /// Gains of those that run less the penalties of those that do not, micro-credits.
    pub total: i128,
    /// Ticks from now until a processor is free.
    pub span: u64,
}

/// Schedules the jobs.
///
/// # Errors
/// Two jobs with one id, one that has not arrived, no processor, too many of either, or a number
/// out of its range.
pub fn schedule<K: Ord + Clone + Debug>(
    machine: &Machine,
    jobs: &[Job<K>],
) -> Result<Schedule<K>, Error<K>> {
    check(machine, jobs.iter())?;
    let ranked = rank(machine, jobs.iter());
    let mut schedule = Schedule {
        order: ranked.iter().map(|ranked| ranked.job.id.clone()).collect(),
        rows: Vec::with_capacity(ranked.len()),
        dropped: Vec::new(),
        total: 0,
        span: 0,
    };
    let profit = walk(machine, ranked.iter(), |job, place| match place {
        Some((start, processor)) => schedule.rows.push(Row {
            id: job.id.clone(),
            processor,
            start,
        }),
        None => schedule.dropped.push(job.id.clone()),
    });
    schedule.total = profit.total;
    schedule.span = profit.span;
    Ok(schedule)
}

/// The totals of a schedule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Profit {
    pub(super) total: i128,
    pub(super) span: u64,
}

/// A job with its profit if it starts now.
#[derive(Debug)]
pub(super) struct Ranked<'a, K> {
    pub(super) job: &'a Job<K>,
    profit: i128,
}

impl<K: Ord> Ranked<'_, K> {
    fn before(&self, other: &Self) -> Ordering {
        // 5.4.3 p. 99: by profit rate, not by value.
        let own = self.profit * i128::from(other.job.len);
        let theirs = other.profit * i128::from(self.job.len);
        theirs
            .cmp(&own)
            .then_with(|| self.job.arrival.cmp(&other.job.arrival))
            .then_with(|| self.job.id.cmp(&other.job.id))
    }
}

pub(super) fn check<'a, K: Ord + Clone + Debug + 'a>(
    machine: &Machine,
    jobs: impl Iterator<Item = &'a Job<K>> + Clone,
) -> Result<(), Error<K>> {
    within(jobs.clone().count() <= PENDING_MAX, Field::Jobs)?;
    let processors = 1..=PROCESSORS_MAX;
    within(processors.contains(&machine.free.len()), Field::Processors)?;
    let timely = |time: &u64| *time <= TIME_MAX;
    within(timely(&machine.now), Field::Time)?;
    within(machine.free.iter().all(timely), Field::Time)?;
    within(machine.cost <= MONEY_MAX, Field::Cost)?;
    let check = |job: &Job<K>| {
        job.check().map_err(Error::of(job.id.clone()))?;
        if job.arrival > machine.now {
            return Err(Error::NotArrived(job.id.clone()));
        }
        Ok(())
    };
    check_all(jobs, |job| &job.id, check)
}

/// Step 1.
pub(super) fn rank<'a, K: Ord>(
    machine: &Machine,
    jobs: impl Iterator<Item = &'a Job<K>>,
) -> Vec<Ranked<'a, K>> {
    let at_once = |job: &'a Job<K>| Ranked {
        job,
        profit: gain(machine, job, machine.now + job.len),
    };
    let mut ranked: Vec<Ranked<'a, K>> = jobs.map(at_once).collect();
    ranked.sort_unstable_by(|a, b| a.before(b));
    ranked
}

/// Effective utility less the cost of a job that ends at `end`.
fn gain<K>(machine: &Machine, job: &Job<K>, end: u64) -> i128 {
    job.effective(end - job.arrival) - i128::from(machine.cost) * i128::from(job.len)
}

/// Steps 2 to 4. Tells each job's start and processor, or that it is dropped.
pub(super) fn walk<'a, K: 'a>(
    machine: &Machine,
    ranked: impl Iterator<Item = &'a Ranked<'a, K>>,
    mut tell: impl FnMut(&'a Job<K>, Option<(u64, u32)>),
) -> Profit {
    let free = machine.free.iter().map(|free| *free.max(&machine.now));
    let mut next: BinaryHeap<Reverse<(u64, u32)>> = free.zip(0..).map(Reverse).collect();
    let mut total = 0;
    for Ranked { job, .. } in ranked {
        let mut first = next.peek_mut().expect("a machine has a processor");
        let Reverse((start, processor)) = *first;
        let end = start + job.len;
        let gain = gain(machine, job, end);
        // 5.3.2 p. 93 and 5.4.3 p. 101: it is cancelled; F.3.
        if job.timed_out(end - job.arrival) || gain < -i128::from(job.penalty) {
            total -= i128::from(job.penalty);
            tell(job, None);
        } else {
            total += gain;
            first.0.0 = end;
            tell(job, Some((start, processor)));
        }
    }
    let Reverse((free, _)) = next.peek().expect("a machine has a processor");
    Profit {
        total,
        span: free - machine.now,
    }
}
