//! What the bank's rules know of an account, and what they give to it.

/// An account as the rules see it. All money of a ledger together is below 2^63 micro-credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// Micro-credits free to spend; negative on credit.
    pub available: i64,
    /// Micro-credits locked for bids, below 2^63. They count as savings, but nothing is taken of
    /// them.
    pub frozen: u64,
    /// Micro-credits that the account may save untaxed, and that it is helped back to.
    pub base: u64,
    /// Weight in what is shared out.
    pub shares: u64,
    /// Micro-credits of tax that an earlier levy found frozen, see [`super::levy`].
    pub arrears: u64,
}

impl Holding {
    /// All that it has, frozen or not.
    fn total(&self) -> i128 {
        i128::from(self.available) + i128::from(self.frozen)
    }

    /// Its excess above its base.
    #[must_use]
    pub fn excess(&self) -> u64 {
        clamp(self.total() - i128::from(self.base))
    }

    /// Its shortfall below its base.
    #[must_use]
    pub fn gap(&self) -> u64 {
        clamp(i128::from(self.base) - self.total())
    }
}

/// Nothing below zero. No sum of balances and bases in range exceeds 64 bits.
fn clamp(amount: i128) -> u64 {
    u64::try_from(amount.max(0)).unwrap_or(u64::MAX)
}

/// The gifts of the treasury to the accounts, and the rest of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gifts {
    /// Micro-credits for each account, in the order of the holdings.
    pub given: Vec<u64>,
    /// Micro-credits that stay.
    pub treasury: u64,
}

impl Gifts {
    /// `given` out of a treasury that covers it.
    pub(super) fn of(treasury: u64, given: Vec<u64>) -> Gifts {
        let treasury = treasury - given.iter().sum::<u64>();
        Gifts { given, treasury }
    }
}
