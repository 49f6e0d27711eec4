//! The price of a job, by the interval in which it is done.

use super::{Job, Shape};
use crate::mechanism::meter;

impl<K> Job<K> {
    /// The price if the job is done in interval `completion`, counted from 1 for the current one;
    /// `None` behind the hard deadline. The job lies within the stated ranges.
    #[must_use]
    pub fn price(&self, completion: u64) -> Option<u64> {
        let age = completion.checked_add(u64::from(self.elapsed))?;
        // Eqs. 2 and 6: P_j(t_j + i), i up to d_j.
        (age <= u64::from(self.hard)).then(|| self.price_at(age))
    }

    /// The price at an age up to the hard deadline.
    fn price_at(&self, age: u64) -> u64 {
        let late = age.saturating_sub(u64::from(self.soft));
        // P_j(t), section 2: p_max for t < s_j; by E.2 at s_j as well.
        if late == 0 {
            return self.pmax;
        }
        let window = u64::from(self.hard - self.soft);
        let spread = self.pmax - self.pmin;
        // P_j(t), section 2: p_j from s_j on; E.2.
        match self.shape {
            Shape::Linear => self.pmax - part(spread, late, window),
            Shape::Convex => self.pmin + part(spread, (window - late).pow(2), window.pow(2)),
            Shape::Concave => self.pmax - part(spread, late.pow(2), window.pow(2)),
        }
    }

    /// The last age at which `pmax` is paid: behind the soft deadline where a fall is less than a
    /// micro-credit.
    pub(super) fn full_until(&self) -> u32 {
        let full = |age: u32| self.price_at(age.into()) == self.pmax;
        let (mut paid, mut behind) = (self.soft, self.hard + 1);
        // Nearly always the first interval is not paid in full.
        let mut age = paid + 1;
        while age < behind {
            meter::steps(1);
            if full(age) {
                paid = age;
            } else {
                behind = age;
            }
            age = paid.midpoint(behind).max(paid + 1);
        }
        paid
    }
}

/// `floor(amount * share / whole)`, where `share <= whole`. Most products fit the machine's own
/// words, in which division is several times as fast.
fn part(amount: u64, share: u64, whole: u64) -> u64 {
    match amount.checked_mul(share) {
        Some(product) => product / whole,
        None => (u128::from(amount) * u128::from(share) / u128::from(whole)) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HORIZON, PRICE};
    use super::*;

    fn job(shape: Shape, elapsed: u32, soft: u32, hard: u32, (pmax, pmin): (u64, u64)) -> Job<u8> {
        Job {
            id: 0,
            work: 1,
            elapsed,
            soft,
            hard,
            pmax,
            pmin,
            shape,
        }
    }

    #[test]
    fn prices_fall_from_the_soft_to_the_hard_deadline() {
        let by = |shape| {
            let job = job(shape, 1, 3, 7, (101, 50));
            (1..=7).map(|c| job.price(c)).collect::<Vec<_>>()
        };
        let (full, least, late) = (Some(101), Some(50), None);
        assert_eq!(
            by(Shape::Linear),
            [full, full, Some(89), Some(76), Some(63), least, late]
        );
        assert_eq!(
            by(Shape::Convex),
            [full, full, Some(78), Some(62), Some(53), least, late]
        );
        assert_eq!(
            by(Shape::Concave),
            [full, full, Some(98), Some(89), Some(73), least, late]
        );
    }

    #[test]
    fn a_window_may_be_empty_and_a_job_too_old() {
        let rigid = job(Shape::Convex, 0, 3, 3, (9, 1));
        assert_eq!(
            [rigid.price(3), rigid.price(4), rigid.price(u64::MAX)],
            [Some(9), None, None]
        );
        assert_eq!(job(Shape::Linear, 5, 3, 4, (9, 1)).price(1), None);
    }

    #[test]
    fn small_falls_are_paid_in_full_for_a_while() {
        let shapes = [Shape::Linear, Shape::Convex, Shape::Concave];
        for (soft, hard, pmax, pmin) in [(0, 0, 5, 1), (2, 40, 9, 9), (3, 40, 9, 7), (3, 90, 90, 1)]
        {
            for shape in shapes {
                let job = job(shape, 0, soft, hard, (pmax, pmin));
                let last = (0..=hard).rfind(|&age| job.price(age.into()) == Some(pmax));
                assert_eq!(Some(job.full_until()), last, "{job:?}");
            }
        }
    }

    #[test]
    fn the_largest_prices_and_windows_do_not_overflow() {
        for shape in [Shape::Linear, Shape::Convex, Shape::Concave] {
            let job = job(shape, 0, 0, HORIZON, (PRICE, 0));
            assert_eq!(job.price(0), Some(PRICE));
            assert_eq!(job.price(HORIZON.into()), Some(0));
            let middle = job.price(u64::from(HORIZON) / 2).unwrap();
            let quarters = match shape {
                Shape::Linear => 2,
                Shape::Convex => 1,
                Shape::Concave => 3,
            };
            assert_eq!(middle.div_ceil(PRICE / 4 + 1), quarters);
        }
    }
}
