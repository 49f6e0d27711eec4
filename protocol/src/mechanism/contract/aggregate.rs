//! The value of finishing a part of a contract's jobs, and of one job more to the whole contract.
//!
//! 1. The client states `f(x) = alpha * x^beta` (5.3.3 p. 94; F.1) for the fraction x of the jobs
//!    that are done. With `beta = 0` the number of jobs does not matter; with 1 pay is in
//!    proportion; above 1 the last jobs matter most. An `alpha` above 1 is a bonus.
//! 2. In Q32: `f = mul((alpha_ppm << 32) / 10^6, pow16((done << 32) / total, beta16))`, every
//!    division rounded down.
//! 3. The bias of a contract is the fall of its pay if one job less is done, beyond that job's own
//!    pay. With `p = total - dropped` jobs that can still be done, the bias is `floor(mean_value *
//!    x)`, where `x = p * f(p) - (p - 1) * f(p - 1) - 1`. It is added to a job's utility in
//!    decisions, never in payments.

use super::limits::{
    ALPHA_PPM_MAX, BATCH_JOBS_MAX, BETA16_MAX, Field, MONEY_MAX, OutOfRange, within,
};
use crate::fixed;

/// The function `alpha * x^beta` of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aggregate {
    alpha_ppm: u32,
    beta16: u32,
}

impl Aggregate {
    /// Pay in proportion to the jobs' own payments, whatever part is done: alpha 1, beta 0.
    pub const PLAIN: Aggregate = Aggregate {
        alpha_ppm: 1_000_000,
        beta16: 0,
    };

    /// Alpha in parts per million, at most [`ALPHA_PPM_MAX`]; beta in sixteenths, at most
    /// [`BETA16_MAX`].
    ///
    /// # Errors
    /// One of them is larger.
    pub fn new(alpha_ppm: u32, beta16: u32) -> Result<Self, OutOfRange> {
        within(alpha_ppm <= ALPHA_PPM_MAX, Field::Alpha)?;
        within(beta16 <= BETA16_MAX, Field::Beta)?;
        Ok(Aggregate { alpha_ppm, beta16 })
    }

    /// The factor in Q32 when `done` jobs of `total` are finished; 0 for a contract without jobs. A
    /// `done` above `total` counts as `total`.
    #[must_use]
    pub fn at(self, done: u32, total: u32) -> u128 {
        if total == 0 {
            return 0;
        }
        let alpha = (u128::from(self.alpha_ppm) << 32) / 1_000_000;
        let fraction = (u128::from(done.min(total)) << 32) / u128::from(total);
        fixed::mul(alpha, fixed::pow16(fraction, self.beta16))
    }

    /// The addition to the utility of each job, micro-credits; 0 if no job is left. Below
    /// [`super::limits::BIAS_MAX`] in either direction. `mean_value` is the average pay of a job.
    ///
    /// # Errors
    /// More than [`BATCH_JOBS_MAX`] jobs, or a mean above [`MONEY_MAX`].
    pub fn bias(self, total: u32, dropped: u32, mean_value: u64) -> Result<i64, OutOfRange> {
        within(total <= BATCH_JOBS_MAX, Field::Jobs)?;
        within(mean_value <= MONEY_MAX, Field::Value)?;
        let Some(left) = total.checked_sub(dropped).filter(|left| *left > 0) else {
            return Ok(0);
        };
        let weight = |jobs: u32| i128::from(jobs) * self.at(jobs, total) as i128;
        // Fig. 5.5 p. 100: potential * f(old) - (potential - 1) * f(new) - 1; F.1.
        let lost = weight(left) - weight(left - 1) - fixed::ONE as i128;
        let bias = (i128::from(mean_value) * lost) >> 32;
        Ok(i64::try_from(bias).expect("the ranges of alpha, beta and the mean bound the bias"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::BIAS_MAX;
    use super::*;

    #[test]
    fn the_worked_examples_of_the_text() {
        let bias = |alpha, beta16, dropped| {
            let f = Aggregate::new(alpha, beta16).unwrap();
            f.bias(20, dropped, 15_000_000).unwrap()
        };
        assert_eq!(bias(2_000_000, 16, 2), 37_500_000);
        assert_eq!(bias(1_000_000, 48, 2), 25_228_124);
        // The text says 41.25, its own pseudo-code 40.648.
        assert_eq!(bias(1_000_000, 48, 0), 40_648_125);
        assert_eq!(bias(1_000_000, 48, 20), 0);
        assert_eq!(bias(1_000_000, 48, u32::MAX), 0);
    }

    #[test]
    fn the_largest_bias_stays_in_its_range() {
        for beta16 in 0..=BETA16_MAX {
            let f = Aggregate::new(ALPHA_PPM_MAX, beta16).unwrap();
            for total in [1, 2, 3, 1_000, BATCH_JOBS_MAX - 1, BATCH_JOBS_MAX] {
                for dropped in [0, total / 2, total - 1] {
                    let bias = f.bias(total, dropped, MONEY_MAX).unwrap();
                    assert!(
                        bias.unsigned_abs() < BIAS_MAX,
                        "{beta16} {total} {dropped} {bias}"
                    );
                }
            }
        }
    }

    #[test]
    fn numbers_beyond_the_ranges_are_refused() {
        let refused = |alpha_ppm, beta16| Aggregate::new(alpha_ppm, beta16).unwrap_err().0;
        assert_eq!(refused(ALPHA_PPM_MAX + 1, 0), Field::Alpha);
        assert_eq!(refused(0, BETA16_MAX + 1), Field::Beta);
        let f = Aggregate::PLAIN;
        assert_eq!(
            f.bias(BATCH_JOBS_MAX + 1, 0, 0),
            Err(OutOfRange(Field::Jobs))
        );
        assert_eq!(f.bias(1, 0, MONEY_MAX + 1), Err(OutOfRange(Field::Value)));
        assert_eq!(f.at(3, 0), 0);
    }
}
