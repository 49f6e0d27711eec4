//! The bank: who gets the revenue, and what happens to money that lies idle.
//!
//! Rules of Bellagio's and Mirage's bank (AuYoung, 3.2.2, 3.3.2 and 3.4.2) as functions of what accounts hold. They know
//! neither ids nor purses: a caller lists [`Holding`]s, ascending by account id, and gets back amounts in the same
//! order, which it posts between the accounts and the pool. [`Bank`] keeps small books of its own in memory and
//! obeys the same functions; cases told in JSON run on it.
//!
//! What always holds, in every rule:
//!
//! 1. Money is conserved: what leaves accounts and pool is what reaches accounts and pool.
//! 2. Nothing is taken but from an account's available money, and never more than it has above its base.
//! 3. What cannot be shared out for want of shares stays in the pool.
//! 4. Integers only; the last micro-credits go by largest remainders, ties to the smaller account id.
//!
//! What the bank publishes is in [`supply`] (how much money there is, how fast it turns over) and in [`index`] (what a
//! class costs compared with its first period).
//!
//! The ledger calls the rules in `turn`, keeps what they need to know of accounts in `savings`, and what is published in
//! `figures`.

mod books;
mod clear;
mod earn;
pub(crate) mod figures;
pub mod index;
pub(crate) mod savings;
pub mod supply;
mod tax;
pub(crate) mod turn;

pub use crate::record::{Epoch, Prices, Savings, Sweep, Way};
pub use books::{Account, Bank, BankError, Bid};
pub use clear::{Revenue, Winner, by_owners, profits};
pub(crate) use earn::earn;
pub use tax::{Levy, Tax, even_out, levy, tax};

/// What the rules need to know of an account. All money of a ledger together is below 2^63 micro-credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// Micro-credits free to spend; negative on credit.
    pub available: i64,
    /// Micro-credits locked for bids, below 2^63. They count as savings, but nothing is taken of them.
    pub frozen: u64,
    /// Micro-credits that the account may save untaxed, and that it is helped back to.
    pub base: u64,
    /// Weight in what is shared out.
    pub shares: u64,
    /// Micro-credits of tax that an earlier levy found frozen, see [`levy`].
    pub arrears: u64,
}

impl Holding {
    /// All that it has, frozen or not.
    fn total(&self) -> i128 {
        i128::from(self.available) + i128::from(self.frozen)
    }

    /// What it has above its base.
    #[must_use]
    pub fn excess(&self) -> u64 {
        clamp(self.total() - i128::from(self.base))
    }

    /// What it lacks of its base.
    #[must_use]
    pub fn gap(&self) -> u64 {
        clamp(i128::from(self.base) - self.total())
    }
}

/// Nothing below zero. No sum of balances and bases in range exceeds 64 bits.
fn clamp(amount: i128) -> u64 {
    u64::try_from(amount.max(0)).unwrap_or(u64::MAX)
}

/// What goes from the pool to the accounts, and what is left of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gifts {
    /// Micro-credits for each account, in the order of the holdings.
    pub given: Vec<u64>,
    /// Micro-credits that stay.
    pub pool: u64,
}

impl Gifts {
    /// `given` out of a pool that covers it.
    fn of(pool: u64, given: Vec<u64>) -> Gifts {
        let pool = pool - given.iter().sum::<u64>();
        Gifts { given, pool }
    }
}
