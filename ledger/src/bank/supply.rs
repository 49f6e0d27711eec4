//! How much money there is, and how fast it turns over.
//!
//! **Supply.** Every purse but the treasury holds a balance, negative where an account draws on its
//! credit line. With mutual credit, money comes into being when somebody pays on credit, so
//!
//! 1. `circulating` is the sum of the positive balances, frozen money and money under way included;
//! 2. `drawn` is the sum of the negative ones, without the sign;
//! 3. `minted = circulating - drawn + treasury`, which never changes but by a vote.
//!
//! **Velocity** over a window of equal periods (slots, or epochs) is the volume of payments in the
//! window over the mean circulation: `sum(volume) * periods * 10^6 / sum(circulating)`, rounded
//! down, in millionths. A million means that every credit was spent once in the window.
//! [`is_payment`] says what counts: the earnings of sold units. Deposits, locks and their return
//! move nothing to anybody; transfers and endowments may go between two pockets of one owner.

use gridbay_protocol::payment::Reason;
use serde::{Deserialize, Serialize};

/// How much money there is, in micro-credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Supply {
    /// The sum of all purses, less the credit drawn.
    pub minted: u64,
    /// Money that can change hands: all but the treasury and the debts.
    pub circulating: u64,
    /// Credit drawn.
    pub drawn: u64,
    /// The treasury.
    pub treasury: u64,
}

/// The supply by the balances of all purses but the treasury, and the treasury. `None` if these are
/// no books: more debt than money, or sums beyond 64 bits.
#[must_use]
pub fn supply(balances: impl IntoIterator<Item = i64>, treasury: u64) -> Option<Supply> {
    let (mut circulating, mut drawn) = (0u64, 0u64);
    for balance in balances {
        let side = if balance < 0 {
            &mut drawn
        } else {
            &mut circulating
        };
        *side = side.checked_add(balance.unsigned_abs())?;
    }
    Some(Supply {
        minted: circulating.checked_add(treasury)?.checked_sub(drawn)?,
        circulating,
        drawn,
        treasury,
    })
}

/// One period of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turnover {
    /// Micro-credits of payments in it, see [`is_payment`].
    pub volume: u64,
    /// Circulation at its end, micro-credits.
    pub circulating: u64,
}

/// Whether a posting counts as a payment.
#[must_use]
pub fn is_payment(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Earning | Reason::Revenue | Reason::Compensation | Reason::Cancellation
    )
}

/// Payments over mean supply in millionths. `None` if nothing circulated, or if the figure is
/// beyond 64 bits.
#[must_use]
pub fn velocity(window: &[Turnover]) -> Option<u64> {
    let sum = |of: fn(&Turnover) -> u64| -> u128 { window.iter().map(|t| u128::from(of(t))).sum() };
    let scaled = sum(|t| t.volume).checked_mul(window.len() as u128 * 1_000_000)?;
    u64::try_from(scaled.checked_div(sum(|t| t.circulating))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_made_by_credit_circulates() {
        let books = supply([700, -300, 0, 100], 40).unwrap();
        let expect = Supply {
            minted: 540,
            circulating: 800,
            drawn: 300,
            treasury: 40,
        };
        assert_eq!(books, expect);
        // A payment on credit: 250 more circulate and are drawn, and nothing is minted.
        let later = supply([950, -550, 0, 100], 40).unwrap();
        assert_eq!(
            (later.minted, later.circulating, later.drawn),
            (540, 1_050, 550)
        );
        assert_eq!(supply([], 0), Some(Supply::default()));
        assert_eq!(supply([-1], 0), None);
        assert_eq!(supply([i64::MAX, i64::MAX, 2], 0), None);
        assert_eq!(supply([i64::MIN, i64::MAX], 1).unwrap().minted, 0);
    }

    #[test]
    fn velocity_is_payments_over_the_mean_supply() {
        let turnover = |volume, circulating| Turnover {
            volume,
            circulating,
        };
        // 30 + 0 + 60 over a mean of 200.
        let window = [turnover(30, 100), turnover(0, 200), turnover(60, 300)];
        assert_eq!(velocity(&window), Some(450_000));
        assert_eq!(velocity(&[turnover(1, 3)]), Some(333_333));
        assert_eq!(velocity(&[turnover(5, 0)]), None);
        assert_eq!(velocity(&[]), None);
        assert_eq!(
            velocity(&[turnover(u64::MAX, u64::MAX); 1_000]),
            Some(1_000_000_000)
        );
        assert_eq!(velocity(&[turnover(u64::MAX, 1)]), None);
        assert!(is_payment(Reason::Earning) && is_payment(Reason::Revenue));
        let others = [Reason::Refund, Reason::Tax, Reason::Profit, Reason::Relief];
        assert!(!others.into_iter().any(is_payment));
    }
}
