//! The value of one job by the time at which it ends (5.3.2 p. 93, Fig. 5.2; F.2).
//!
//! With t ticks from its arrival to its end:
//!
//! ```text
//! U(t)         = value                                                      if t <= hold
//!                max(-penalty, value - floor(value * (t - hold) / decay))   else
//! eff(t)       = U(t) + bias
//! timed_out(t) : t > hold and the value before the max is <= -penalty
//! ```
//!
//! The bias (see [`super::Aggregate::bias`]) counts in decisions; the client pays U. The timeout
//! ignores the bias: otherwise biased jobs would never leave, and the queue would grow without
//! bound.

use super::limits::{BIAS_MAX, Field, MONEY_MAX, OutOfRange, SPAN_MAX, TIME_MAX, within};

/// A job of one processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job<K> {
    /// Unique among the jobs of a schedule.
    pub id: K,
    /// When it arrived, ticks.
    pub arrival: u64,
    /// How long it runs, ticks, at least 1.
    pub len: u64,
    /// Its pay if it ends within `hold`, micro-credits.
    pub value: u64,
    /// Ticks after its arrival in which the value stays whole.
    pub hold: u64,
    /// Ticks in which the value then falls to 0; it goes on falling at that pace. At least 1.
    pub decay: u64,
    /// The most that the provider owes for it, micro-credits.
    pub penalty: u64,
    /// The addition of its contract to its utility in decisions, micro-credits.
    pub bias: i64,
}

impl<K> Job<K> {
    /// U(t): what the client pays for an end `t` ticks after the arrival, micro-credits.
    #[must_use]
    pub fn utility(&self, t: u64) -> i128 {
        let most = u128::from(self.value) + u128::from(self.penalty);
        i128::from(self.value) - self.lost(t).min(most) as i128
    }

    /// eff(t): the utility with the bias.
    #[must_use]
    pub fn effective(&self, t: u64) -> i128 {
        // Fig. 5.5 p. 100: U'(t) = U(t) + bias.
        self.utility(t) + i128::from(self.bias)
    }

    /// Whether an end so late costs the whole penalty: such a job is cancelled.
    #[must_use]
    pub fn timed_out(&self, t: u64) -> bool {
        t > self.hold && self.lost(t) >= u128::from(self.value) + u128::from(self.penalty)
    }

    /// Value that the delay has cost.
    fn lost(&self, t: u64) -> u128 {
        let late = u128::from(t.saturating_sub(self.hold));
        let lost = (u128::from(self.value) * late).checked_div(u128::from(self.decay));
        // `check` refuses a decay of 0; a job with one has lost all.
        lost.unwrap_or(u128::MAX)
    }

    /// Refuses a job whose numbers are out of their ranges, see [`super::limits`].
    ///
    /// # Errors
    /// The first number that is.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within(self.arrival <= TIME_MAX, Field::Time)?;
        within((1..=SPAN_MAX).contains(&self.len), Field::Length)?;
        within(self.value <= MONEY_MAX, Field::Value)?;
        within(self.hold <= SPAN_MAX, Field::Hold)?;
        within((1..=SPAN_MAX).contains(&self.decay), Field::Decay)?;
        within(self.penalty <= MONEY_MAX, Field::Penalty)?;
        within(self.bias.unsigned_abs() <= BIAS_MAX, Field::Bias)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Job<u8> = Job {
        id: 1,
        arrival: 0,
        len: 2,
        value: 10,
        hold: 3,
        decay: 4,
        penalty: 5,
        bias: 100,
    };

    #[test]
    fn whole_then_falling_then_the_penalty() {
        let values: Vec<i128> = (0..12).map(|t| JOB.utility(t)).collect();
        assert_eq!(values, [10, 10, 10, 10, 8, 5, 3, 0, -2, -5, -5, -5]);
        let dead: Vec<u64> = (0..12).filter(|t| JOB.timed_out(*t)).collect();
        assert_eq!(dead, [9, 10, 11]);
        assert_eq!(JOB.effective(4), 108);
    }

    #[test]
    fn worthless_jobs_time_out_after_the_hold() {
        let job = Job {
            value: 0,
            penalty: 0,
            ..JOB
        };
        assert!(!job.timed_out(3) && job.timed_out(4));
    }

    #[test]
    fn no_number_overflows() {
        let job = Job {
            value: u64::MAX,
            penalty: u64::MAX,
            decay: 0,
            bias: i64::MIN,
            ..JOB
        };
        let least = -i128::from(u64::MAX) + i128::from(i64::MIN);
        assert_eq!(job.effective(u64::MAX), least);
        assert!(job.timed_out(u64::MAX));
    }

    #[test]
    fn numbers_beyond_the_ranges_are_refused() {
        let refused = |job: Job<u8>| job.check().unwrap_err().0;
        assert_eq!(JOB.check(), Ok(()));
        let arrival = TIME_MAX + 1;
        assert_eq!(refused(Job { arrival, ..JOB }), Field::Time);
        assert_eq!(refused(Job { len: 0, ..JOB }), Field::Length);
        let len = SPAN_MAX + 1;
        assert_eq!(refused(Job { len, ..JOB }), Field::Length);
        let value = MONEY_MAX + 1;
        assert_eq!(refused(Job { value, ..JOB }), Field::Value);
        let hold = SPAN_MAX + 1;
        assert_eq!(refused(Job { hold, ..JOB }), Field::Hold);
        assert_eq!(refused(Job { decay: 0, ..JOB }), Field::Decay);
        let penalty = u64::MAX;
        assert_eq!(refused(Job { penalty, ..JOB }), Field::Penalty);
        let bias = i64::MIN;
        assert_eq!(refused(Job { bias, ..JOB }), Field::Bias);
    }
}
