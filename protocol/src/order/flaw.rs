//! What can be wrong with an order whatever the ledger holds.

use crate::limits;

/// Why an order makes no sense. The wallet, admission and the checks of a block all give the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Flaw {
    /// No price, or more steps than a bid may have.
    #[error("want 1 to {most} price steps", most = limits::BID_STEPS)]
    Steps,
    /// A marginal price that is not below the one before it.
    #[error("prices of further units must fall")]
    NotFalling,
    /// A price beyond the range of prices.
    #[error("a price beyond the range of prices")]
    Price,
    /// No unit, in a step or in all, or more than an order may ask for.
    #[error("want 1 to {most} units", most = limits::ORDER_UNITS)]
    Units,
    /// Fewer units than one, or more than all, as the least that are of use.
    #[error("the fewest units of use are one at least and all at most")]
    Minimum,
    /// No slot, or more than an order may run.
    #[error("want 1 to {most} slots", most = limits::ORDER_SLOTS)]
    Slots,
    /// An offer named twice or out of order, or too many of them.
    #[error("want each offer once, ascending by id, {most} at most", most = limits::OFFERS_PER_ACCOUNT)]
    Offers,
    /// No work, no task, or more of either than an order may have; or less work than one unit-slot for each task.
    #[error("the work is out of range: each task takes one unit for a slot at least")]
    Work,
    /// A soft deadline behind the hard one, or one that is out of range.
    #[error("the soft deadline is a slot away at least, and the hard one not before it")]
    Deadlines,
    /// A price of nothing, or one that is higher for being late.
    #[error("the price is above zero, and never more for being late")]
    Rising,
}

impl Flaw {
    /// All of them.
    pub const ALL: [Flaw; 10] = [
        Flaw::Steps,
        Flaw::NotFalling,
        Flaw::Price,
        Flaw::Units,
        Flaw::Minimum,
        Flaw::Slots,
        Flaw::Offers,
        Flaw::Work,
        Flaw::Deadlines,
        Flaw::Rising,
    ];
    /// The first flaw whose condition does not hold.
    pub(super) fn first(conditions: &[(Flaw, bool)]) -> Result<(), Flaw> {
        let broken = conditions.iter().find(|(_, holds)| !holds);
        broken.map_or(Ok(()), |(flaw, _)| Err(*flaw))
    }
    /// The reason in a word, as users and programs see it everywhere.
    pub fn word(self) -> &'static str {
        match self {
            Flaw::Steps => "steps",
            Flaw::NotFalling => "not_falling",
            Flaw::Price => "price",
            Flaw::Units => "units",
            Flaw::Minimum => "minimum",
            Flaw::Slots => "slots",
            Flaw::Offers => "offers",
            Flaw::Work => "work",
            Flaw::Deadlines => "deadlines",
            Flaw::Rising => "rising",
        }
    }
}
