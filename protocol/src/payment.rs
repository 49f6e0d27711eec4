//! Payments: double-entry postings between purses.
//!
//! Money is pending while it lies in an escrow or in a class's clearing purse; it is posted when
//! it reaches a seller ([`Reason::Earning`]) and voided when it goes back ([`Reason::Refund`]).

use crate::ids::{AccountId, ClassId, OrderId};
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// Where money can lie. The sum over all purses changes only by a mint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purse {
    /// An account's free balance; may be negative down to its credit line.
    Account(AccountId),
    /// Locked for an order: a commitment's deposit, then the next slot at the bid.
    Escrow(OrderId),
    /// Paid for the running slot of a class, not yet earned.
    Class(ClassId),
    /// A seller's stake on an order.
    Bond(OrderId),
    /// The treasury.
    Bank,
    /// A seller's earnings that buyers may still dispute.
    Retained(AccountId),
}

/// Why money moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// From an account's owner to another account.
    Transfer,
    /// From the inviter to a new account.
    Endowment,
    /// Deposit of a sealed bid.
    Deposit,
    /// A deposit or lock that was not needed.
    Release,
    /// Deposit of a bid that was never opened.
    Forfeit,
    /// Lock for the next slot.
    Lock,
    /// The price of a lease for a slot, or for the rest of one.
    Charge,
    /// The seller's earnings of a slot.
    Earning,
    /// Paid for, but not delivered or not used.
    Refund,
    /// From a buy to an order it preempted.
    Compensation,
    /// A seller's stake on an order.
    Bond,
    /// From a seller's stake to the buyer it failed.
    Damages,
    /// From a booking that was given up to the sellers of its units, or to the bank.
    Cancellation,
    /// The earnings of a slot that go to the bank: all of them under revenue by shares, else those
    /// that no seller has earned.
    Revenue,
    /// A member's part of the treasury.
    Profit,
    /// The tax on savings.
    Tax,
    /// Tax that was due on frozen money and is taken as money reaches the account.
    Arrears,
    /// From the treasury to a member below its baseline.
    Relief,
    /// The earnings of a slot, held while its buyer may complain.
    Retained,
}

/// One movement of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Posting {
    /// Purse debited.
    pub from: Purse,
    /// Purse credited.
    pub to: Purse,
    /// Amount, never zero.
    pub amount: Credits,
    /// Why.
    pub reason: Reason,
    /// The order it belongs to, if any.
    pub order: Option<OrderId>,
}

impl Posting {
    /// The orders that it is about: its own, and those whose escrows it moves. One may come twice.
    pub fn orders(&self) -> impl Iterator<Item = OrderId> {
        let escrows = [self.from, self.to].into_iter();
        let escrows = escrows.filter_map(|purse| match purse {
            Purse::Escrow(order) => Some(order),
            _ => None,
        });
        escrows.chain(self.order)
    }
}
