//! Small books of a bank in memory: accounts, the bids they froze money for, and the treasury.
//!
//! 1. `open` mints the base of a new account. Nothing else mints.
//! 2. `bid` moves money from available to frozen, `cancel` moves it back.
//! 3. `clear` and `tax` are told in their own files.
//!
//! Available and frozen money of all accounts and the treasury together equal the money minted. An
//! operation that fails changes nothing.

use super::Holding;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// An account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Micro-credits it was opened with, and may save untaxed.
    pub base: u64,
    /// Weight in what is shared out.
    pub shares: u64,
    /// Micro-credits free to spend.
    pub available: u64,
    /// Micro-credits locked for its bids.
    pub frozen: u64,
}

/// Money locked for a bid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bid {
    /// Whose.
    pub account: u64,
    /// Micro-credits.
    pub amount: u64,
}

/// Why an operation was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BankError {
    /// The account exists.
    #[error("account {0} exists")]
    AccountExists(u64),
    /// The bid exists.
    #[error("bid {0} exists")]
    BidExists(u64),
    /// No such account.
    #[error("no account {0}")]
    NoAccount(u64),
    /// No such bid.
    #[error("no bid {0}")]
    NoBid(u64),
    /// Less is available than needed.
    #[error("account {account} has {available} micro-credits of {needed}")]
    Insufficient {
        /// The account.
        account: u64,
        /// Micro-credits needed.
        needed: u64,
        /// Micro-credits available.
        available: u64,
    },
    /// A winner repeats, is unknown, or pays more than it bid.
    #[error("bid {0} cannot win so")]
    BadWinner(u64),
    /// An owner of what a bid bought repeats or has no account.
    #[error("account {0} cannot be an owner so")]
    BadOwner(u64),
    /// A tax of more than everything.
    #[error("a tax of {0} millionths")]
    Rate(u32),
    /// More money than there can be.
    #[error("more money than there can be with account {0}")]
    Overflow(u64),
    /// [`Bank::ACCOUNTS`] or [`Bank::BIDS`] is reached.
    #[error("the books are full")]
    Full,
}

/// The books.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bank {
    pub(super) accounts: BTreeMap<u64, Account>,
    pub(super) bids: BTreeMap<u64, Bid>,
    pub(super) treasury: u64,
    minted: u64,
}

impl Bank {
    /// Most accounts: four times what 16 members open under the usual quota.
    pub const ACCOUNTS: usize = 65_536;
    /// Most bids at a time: one for each account.
    pub const BIDS: usize = 65_536;

    /// All accounts, ascending by id.
    pub fn accounts(&self) -> impl ExactSizeIterator<Item = (u64, &Account)> {
        self.accounts.iter().map(|(id, account)| (*id, account))
    }
    /// All bids, ascending by id.
    pub fn bids(&self) -> impl ExactSizeIterator<Item = (u64, &Bid)> {
        self.bids.iter().map(|(id, bid)| (*id, bid))
    }
    /// Micro-credits in the treasury.
    #[must_use]
    pub fn treasury(&self) -> u64 {
        self.treasury
    }
    /// Micro-credits minted so far.
    #[must_use]
    pub fn minted(&self) -> u64 {
        self.minted
    }

    /// Opens an account with `base` newly minted micro-credits.
    ///
    /// # Errors
    /// It exists; there would be more money than an amount may be; the books are full.
    pub fn open(&mut self, id: u64, base: u64, shares: u64) -> Result<(), BankError> {
        if self.accounts.contains_key(&id) {
            return Err(BankError::AccountExists(id));
        }
        if self.accounts.len() >= Self::ACCOUNTS {
            return Err(BankError::Full);
        }
        let minted = self.minted.checked_add(base);
        let minted = minted.filter(|sum| *sum <= Credits::MAX.micros());
        self.minted = minted.ok_or(BankError::Overflow(id))?;
        let account = Account {
            base,
            shares,
            available: base,
            frozen: 0,
        };
        self.accounts.insert(id, account);
        Ok(())
    }

    /// Freezes `amount` micro-credits of an account for a bid.
    ///
    /// # Errors
    /// In this order: no such account; the bid exists; the books are full; less is available.
    pub fn bid(&mut self, id: u64, account: u64, amount: u64) -> Result<(), BankError> {
        let known = self.accounts.get_mut(&account);
        let holder = known.ok_or(BankError::NoAccount(account))?;
        if self.bids.contains_key(&id) {
            return Err(BankError::BidExists(id));
        }
        if self.bids.len() >= Self::BIDS {
            return Err(BankError::Full);
        }
        let left = holder.available.checked_sub(amount);
        holder.available = left.ok_or(BankError::Insufficient {
            account,
            needed: amount,
            available: holder.available,
        })?;
        holder.frozen += amount;
        self.bids.insert(id, Bid { account, amount });
        Ok(())
    }

    /// Releases a bid.
    ///
    /// # Errors
    /// No such bid.
    pub fn cancel(&mut self, id: u64) -> Result<(), BankError> {
        let bid = self.bids.remove(&id).ok_or(BankError::NoBid(id))?;
        self.release(&bid, 0);
        Ok(())
    }

    /// The accounts as the rules see them, ascending by id.
    pub(super) fn holdings(&self) -> Vec<Holding> {
        let holding = |account: &Account| Holding {
            // No account has more than was minted, and that is an amount.
            available: account.available as i64,
            frozen: account.frozen,
            base: account.base,
            shares: account.shares,
            arrears: 0,
        };
        self.accounts.values().map(holding).collect()
    }

    /// Adds to every account, ascending by id.
    pub(super) fn credit(&mut self, amounts: &[u64]) {
        for (account, amount) in self.accounts.values_mut().zip(amounts) {
            account.available += amount;
        }
    }
}
