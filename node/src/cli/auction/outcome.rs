//! Faults of an auction's outcome, and how each mechanism's room finds the common ones.

use gridbay_protocol::ids::{LeaseId, OfferId, OrderId};
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::units::Credits;

/// The fault of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutcomeError {
    /// The id is not that of class and height.
    #[error("the clearing's id does not belong to its class and height")]
    Id,
    /// A list is not in ascending order.
    #[error("the {0} are out of order")]
    Order(&'static str),
    /// An award that the bid does not allow.
    #[error("order {0} won what it did not bid for")]
    Award(OrderId),
    /// A payment above the bid.
    #[error("order {0} pays above its bid")]
    AboveBid(OrderId),
    /// A sale that the offer does not allow.
    #[error("offer {0} sold what it did not offer, or below its reserve")]
    Sale(OfferId),
    /// Units do not add up.
    #[error("{awarded} units were awarded, {sold} sold")]
    Units {
        /// Units awarded.
        awarded: u64,
        /// Units sold.
        sold: u64,
    },
    /// Money does not add up.
    #[error("{paid} credits are paid, {earned} earned")]
    Money {
        /// Paid by the winners.
        paid: Credits,
        /// Earned by the sellers.
        earned: Credits,
    },
    /// Cleared under other terms than the genesis says.
    #[error(
        "it was cleared under rule {}, switch cost {}; the genesis says otherwise",
        .0.rule.name(),
        .0.switch_cost.0
    )]
    Policy(AuctionPolicy),
    /// The mechanism refuses the input.
    #[error("the bids or offers are not what the mechanism takes")]
    Input,
    /// The mechanism gives something else.
    #[error("the mechanism gives other {0}")]
    Recomputed(&'static str),
    /// A sum out of range.
    #[error("the sums are out of range")]
    Range,
    /// An eviction that the policy does not know, or another surcharge than its part.
    #[error("lease {0} was not evicted as the genesis says")]
    Surcharge(LeaseId),
    /// The price of a buy.
    #[error("the buy's price is {found}, its rule gives {expected}")]
    BuyPrice {
        /// In the record.
        found: Credits,
        /// By the rule.
        expected: Credits,
    },
}

/// Finds a list in strictly ascending order, by its name.
pub(super) fn ascending<T, K: Ord>(
    name: &'static str,
    list: &[T],
    key: impl Fn(&T) -> K,
) -> Result<(), OutcomeError> {
    match list.is_sorted_by(|a, b| key(a) < key(b)) {
        true => Ok(()),
        false => Err(OutcomeError::Order(name)),
    }
}

/// Finds what is named to be as the mechanism gives it.
pub(super) fn recomputed(name: &'static str, same: bool) -> Result<(), OutcomeError> {
    match same {
        true => Ok(()),
        false => Err(OutcomeError::Recomputed(name)),
    }
}
