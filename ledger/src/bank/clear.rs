//! Clearing: winners pay, losers get their money back, and the revenue finds its owners.
//!
//! 1. Each winner's bid is unfrozen; the price goes, and the rest of the bid returns to the bidder.
//! 2. Revenue goes one of two ways. [`Revenue::Owners`] (revised Bellagio): each price to the
//!    owners of the units it bought, by their weights; into the treasury if these are zero.
//!    [`Revenue::Shares`] (Mirage, whose nodes belong to nobody in particular): every price into
//!    the treasury.
//! 3. All other bids are released, unless the losers' bids are to stay.
//! 4. With `Revenue::Shares` only, the *whole* treasury is shared out by the shares of all
//!    accounts.
//!
//! Prices, refunds and releases are sums, so the order in which winners are listed is of no effect.
//! A part of a winner's payment comes back to it by step 4, in proportion to its shares: where few
//! accounts hold most shares, prices weigh less on them than they seem to.

use super::books::{Bank, BankError, Bid};
use super::{Gifts, Holding};
use gridbay_protocol::apportion::by_largest_remainder;
use std::collections::{BTreeMap, BTreeSet};

/// A bid that wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Winner {
    /// Id of the bid.
    pub bid: u64,
    /// Micro-credits that it pays, at most what it bid.
    pub price: u64,
}

/// The recipients of the winners' payments.
#[derive(Clone, Copy, Debug)]
pub enum Revenue<'a> {
    /// All accounts, by their shares.
    Shares,
    /// The owners of what each bid bought, as (account, weight): for each bid at most one list, of
    /// different accounts. A bid without a list pays into the treasury.
    Owners(&'a BTreeMap<u64, Vec<(u64, u64)>>),
}

/// Profit sharing: the whole treasury by shares. It stays where it is if nobody has any.
#[must_use]
pub fn profits(treasury: u64, holdings: &[Holding]) -> Gifts {
    let shares: Vec<u64> = holdings.iter().map(|holding| holding.shares).collect();
    Gifts::of(treasury, by_largest_remainder(treasury, &shares))
}

/// A price among the owners of what it bought, by their weights. It is for the treasury if these
/// are all zero.
#[must_use]
pub fn by_owners(price: u64, weights: &[u64]) -> Gifts {
    Gifts::of(price, by_largest_remainder(price, weights))
}

impl Bank {
    /// Clears the bids, see the rules above.
    ///
    /// # Errors
    /// [`BankError::BadWinner`] if a winner repeats, is unknown, or pays more than it bid;
    /// [`BankError::BadOwner`] if an owner of what a winner bought repeats or has no account.
    /// Nothing happens then.
    pub fn clear(
        &mut self,
        winners: &[Winner],
        revenue: Revenue<'_>,
        keep_losers: bool,
    ) -> Result<(), BankError> {
        self.check_winners(winners)?;
        let owners = match revenue {
            Revenue::Owners(owners) => self.check_owners(winners, owners)?,
            Revenue::Shares => BTreeMap::new(),
        };
        for winner in winners {
            self.settle(winner, owners.get(&winner.bid));
        }
        if !keep_losers {
            let losers = std::mem::take(&mut self.bids);
            losers.values().for_each(|bid| self.release(bid, 0));
        }
        if matches!(revenue, Revenue::Shares) {
            let gifts = profits(self.treasury, &self.holdings());
            self.credit(&gifts.given);
            self.treasury = gifts.treasury;
        }
        Ok(())
    }

    fn check_winners(&self, winners: &[Winner]) -> Result<(), BankError> {
        let mut seen = BTreeSet::new();
        let bad = winners.iter().find(|winner| {
            let bid = self.bids.get(&winner.bid);
            !seen.insert(winner.bid) || bid.is_none_or(|bid| winner.price > bid.amount)
        });
        bad.map_or(Ok(()), |winner| Err(BankError::BadWinner(winner.bid)))
    }

    /// The winners' owners with their weights, ascending.
    fn check_owners(
        &self,
        winners: &[Winner],
        owners: &BTreeMap<u64, Vec<(u64, u64)>>,
    ) -> Result<BTreeMap<u64, BTreeMap<u64, u64>>, BankError> {
        let mut checked = BTreeMap::new();
        for winner in winners {
            let mut weights = BTreeMap::new();
            for (account, weight) in owners.get(&winner.bid).into_iter().flatten() {
                let twice = weights.insert(*account, *weight).is_some();
                if twice || !self.accounts.contains_key(account) {
                    return Err(BankError::BadOwner(*account));
                }
            }
            checked.insert(winner.bid, weights);
        }
        Ok(checked)
    }

    /// Takes the price of a checked winner.
    fn settle(&mut self, winner: &Winner, owners: Option<&BTreeMap<u64, u64>>) {
        if let Some(bid) = self.bids.remove(&winner.bid) {
            self.release(&bid, winner.price);
        }
        let Some(owners) = owners else {
            self.treasury += winner.price;
            return;
        };
        let weights: Vec<u64> = owners.values().copied().collect();
        let gifts = by_owners(winner.price, &weights);
        for (account, amount) in owners.keys().zip(gifts.given) {
            if let Some(account) = self.accounts.get_mut(account) {
                account.available += amount;
            }
        }
        self.treasury += gifts.treasury;
    }

    /// Unfreezes a bid; all but `price` returns.
    pub(super) fn release(&mut self, bid: &Bid, price: u64) {
        if let Some(account) = self.accounts.get_mut(&bid.account) {
            account.frozen -= bid.amount;
            account.available += bid.amount - price;
        }
    }
}
