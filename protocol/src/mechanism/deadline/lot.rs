//! One job as the searches see it.

use super::Job;

/// A job in numbers; its id is its place in the list.
#[derive(Debug, Clone)]
pub(super) struct Lot {
    /// The job, without its own id.
    job: Job<()>,
    /// Units of the seller until the hard deadline.
    pub(super) due: u64,
    /// Units of the seller while `pmax` is paid.
    pub(super) full: u64,
}

impl Lot {
    pub(super) fn new<K>(job: &Job<K>, capacity: u64) -> Self {
        let units = |age: u32| capacity * u64::from(age.saturating_sub(job.elapsed));
        let (due, full) = (units(job.hard), units(job.full_until()));
        let &Job {
            work,
            elapsed,
            soft,
            hard,
            pmax,
            pmin,
            shape,
            ..
        } = job;
        let job = Job {
            id: (),
            work,
            elapsed,
            soft,
            hard,
            pmax,
            pmin,
            shape,
        };
        Lot { job, due, full }
    }

    /// Units times intervals to do.
    pub(super) fn work(&self) -> u64 {
        self.job.work
    }

    /// The highest price.
    pub(super) fn pmax(&self) -> u64 {
        self.job.pmax
    }

    /// The price if the job is done when the seller has done `end` in all; `end` is at most `due`.
    pub(super) fn pay(&self, end: u64, capacity: u64) -> u64 {
        self.pay_in(end.div_ceil(capacity))
    }

    /// The price if the job is done in an interval that is not behind its hard deadline.
    pub(super) fn pay_in(&self, completion: u64) -> u64 {
        let price = self.price(completion);
        price.expect("a job that is done when due is not late")
    }

    /// The price if the job is done in that interval; `None` behind its hard deadline.
    pub(super) fn price(&self, completion: u64) -> Option<u64> {
        self.job.price(completion)
    }

    /// Intervals left until the hard deadline.
    pub(super) fn hard_left(&self) -> i64 {
        i64::from(self.job.hard) - i64::from(self.job.elapsed)
    }

    /// Intervals left until the soft deadline; negative behind it.
    pub(super) fn soft_left(&self) -> i64 {
        i64::from(self.job.soft) - i64::from(self.job.elapsed)
    }

    /// Work per price lost in an interval of delay, as a fraction. The denominator is 0 if delay
    /// costs nothing.
    pub(super) fn work_per_slope(&self) -> (u128, u64) {
        let window = u128::from(self.job.hard - self.job.soft);
        (
            u128::from(self.job.work) * window,
            self.job.pmax - self.job.pmin,
        )
    }
}
