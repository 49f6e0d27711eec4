//! The payment of a contract at its end (5.3.3 p. 94; F.1).
//!
//! 1. Each job has paid its utility at its end, or cost its penalty.
//! 2. The client pays `floor(sum of the positive payments * f)`, where f is the aggregate function
//!    of the jobs done, less the penalties in full. For a contract without jobs it pays nothing.
//!
//! Read literally, the text multiplies the penalties too. Then a provider shrinks them by dropping
//! most of a contract, and accepting everything stays profitable, against the text's own figure;
//! penalties in full reproduce it.

use super::Aggregate;
use super::limits::{BATCH_JOBS_MAX, Field, MONEY_MAX, OutOfRange, within};
use crate::fixed;

/// The client's payment in all, micro-credits; below 0 if the provider pays the client. Never above
/// alpha times the positive payments.
///
/// # Errors
/// More than [`BATCH_JOBS_MAX`] jobs or payments, more jobs done than there are, or a payment above
/// [`MONEY_MAX`].
pub fn payout(
    payments: &[i64],
    aggregate: Aggregate,
    completed: u32,
    total: u32,
) -> Result<i128, OutOfRange> {
    within(total <= BATCH_JOBS_MAX, Field::Jobs)?;
    within(payments.len() <= BATCH_JOBS_MAX as usize, Field::Jobs)?;
    within(completed <= total, Field::Completed)?;
    let small = |payment: &i64| payment.unsigned_abs() <= MONEY_MAX;
    within(payments.iter().all(small), Field::Payment)?;
    if total == 0 {
        return Ok(0);
    }
    let (mut earned, mut owed) = (0u128, 0u128);
    for payment in payments {
        let sum = if *payment > 0 { &mut earned } else { &mut owed };
        *sum += u128::from(payment.unsigned_abs());
    }
    Ok(settle(earned, owed, aggregate, completed, total))
}

/// Step 2, from the two sums, each at most [`super::limits::SUM_MAX`].
#[must_use]
pub fn settle(earned: u128, owed: u128, aggregate: Aggregate, completed: u32, total: u32) -> i128 {
    fixed::mul(earned, aggregate.at(completed, total)) as i128 - owed as i128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn penalties_are_not_scaled() {
        let square = Aggregate::new(1_000_000, 32).unwrap();
        assert_eq!(payout(&[40, 60, -7, -3], square, 2, 4), Ok(15));
        assert_eq!(payout(&[], square, 0, 0), Ok(0));
        assert_eq!(payout(&[5], square, 0, 0), Ok(0));
    }

    #[test]
    fn numbers_beyond_the_ranges_are_refused() {
        let refused = |payments: &[i64], completed, total| {
            payout(payments, Aggregate::PLAIN, completed, total)
                .unwrap_err()
                .0
        };
        assert_eq!(refused(&[], 2, 1), Field::Completed);
        assert_eq!(refused(&[], 0, BATCH_JOBS_MAX + 1), Field::Jobs);
        assert_eq!(
            refused(&vec![0; BATCH_JOBS_MAX as usize + 1], 0, 1),
            Field::Jobs
        );
        for payment in [i64::MIN, i64::MAX, MONEY_MAX as i64 + 1] {
            assert_eq!(refused(&[payment], 0, 1), Field::Payment);
        }
    }

    #[test]
    fn the_largest_contract_fits() {
        let most = vec![MONEY_MAX as i64; BATCH_JOBS_MAX as usize];
        let tenfold = Aggregate::new(10_000_000, 256).unwrap();
        let paid = payout(&most, tenfold, BATCH_JOBS_MAX, BATCH_JOBS_MAX);
        assert_eq!(paid, Ok(10 << 70));
    }
}
