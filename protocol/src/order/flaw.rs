//! Flaws of an order that show without the ledger.

use crate::limits;
use crate::mechanism::{reservation, share};
use crate::told::Told;

named! {
    /// Why an order makes no sense. The wallet, admission and the checks of a block all give the
    /// same answer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
    pub enum Flaw as word {
        /// No price, or more steps than a bid may have.
        #[error("want 1 to {most} price steps", most = limits::BID_STEPS)]
        Steps = "steps",
        /// A marginal price that is not below the one before it.
        #[error("prices of further units must fall")]
        NotFalling = "not_falling",
        /// A price beyond the range of prices.
        #[error("a price beyond the range of prices")]
        Price = "price",
        /// No unit, in a step or in all, or more than an order may ask for.
        #[error("want 1 to {most} units", most = limits::ORDER_UNITS)]
        Units = "units",
        /// Fewer units than one, or more than all, as the least that are of use.
        #[error("the fewest units of use are one at least and all at most")]
        Minimum = "minimum",
        /// No part of a buy, more than it may have, or parts that do not ascend by class.
        #[error(
            "want 1 to {most} parts of a buy, each of another class, ascending",
            most = limits::BUY_PARTS
        )]
        Parts = "parts",
        /// No slot, or more than an order may run.
        #[error("want 1 to {most} slots", most = limits::ORDER_SLOTS)]
        Slots = "slots",
        /// An offer named twice or out of order, or too many of them.
        #[error(
            "want each offer once, ascending by id, {most} at most",
            most = limits::OFFERS_PER_ACCOUNT
        )]
        Offers = "offers",
        /// No work, no task, or more of either than an order may have; or less work than one
        /// unit-slot for each task.
        #[error("the work is out of range: each task takes one unit for a slot at least")]
        Work = "work",
        /// A soft deadline behind the hard one, or one that is out of range.
        #[error("the soft deadline is a slot away at least, and the hard one not before it")]
        Deadlines = "deadlines",
        /// A price of nothing, or one that is higher for being late.
        #[error("the price is above zero, and never more for being late")]
        Rising = "rising",
        /// No group of units, an empty one, or more groups or units than a reservation may have.
        #[error(
            "want 1 to {groups} groups of units, {units} units in all at most",
            groups = limits::RESERVATION_GROUPS,
            units = limits::RESERVATION_UNITS
        )]
        Groups = "groups",
        /// An offer named twice in a group or out of order, or too many of them in all groups.
        #[error(
            "want each offer of a group once, ascending by id, {most} in all groups at most",
            most = limits::RESERVATION_OFFERS
        )]
        GroupOffers = "group_offers",
        /// No slot, or more than a reservation may have.
        #[error("want 1 to {most} slots ahead", most = limits::RESERVATION_SLOTS)]
        Run = "run",
        /// A last start before the first one.
        #[error("the last start is not before the first")]
        Starts = "starts",
        /// A range of channels that ends before it begins, or too many of them.
        #[error("want a range of 1 to {most} channels", most = reservation::CHANNELS)]
        Channels = "channels",
        /// No budget for a slot, or one beyond what a pool can divide.
        #[error(
            "want a rate above zero and below {end} micro-credits a slot",
            end = share::BUDGET_END
        )]
        Rate = "rate",
        /// No weight of processors, or more weights than there can be resources.
        #[error(
            "want 1 to {most} weights, that of processors above zero",
            most = limits::RESOURCES
        )]
        Weights = "weights",
        /// No task, or more than an order may have.
        #[error("want 1 to {most} tasks", most = limits::ORDER_UNITS)]
        Tasks = "tasks",
    }
}

impl Flaw {
    /// The first flaw whose condition does not hold.
    pub(super) fn first(conditions: &[(Flaw, bool)]) -> Result<(), Flaw> {
        let broken = conditions.iter().find(|(_, holds)| !holds);
        broken.map_or(Ok(()), |(flaw, _)| Err(*flaw))
    }

    /// Its words for people.
    pub fn told(self) -> Told {
        let (_, wrong, hint) = WORDS[self as usize];
        Told::new(self.word(), wrong, hint)
    }
}

/// What each of them tells people: the fault, and the way out.
const WORDS: [(Flaw, &str, &str); Flaw::ALL.len()] = [
    (
        Flaw::Steps,
        "No price step, or more than 64",
        "name 1 to 64 prices",
    ),
    (
        Flaw::NotFalling,
        "A marginal price that is not below the one before it",
        "let prices of further units fall, and name equal ones once",
    ),
    (
        Flaw::Price,
        "A price beyond the range of prices",
        "lower it",
    ),
    (
        Flaw::Units,
        "No unit, or more than an order may ask for; tasks and units that differ",
        "ask for 1 to 4,096 units",
    ),
    (
        Flaw::Minimum,
        "The fewest units of use are none, or more than all",
        "name one at least and all at most",
    ),
    (
        Flaw::Parts,
        "No part of a buy, more than 8, or two of one class",
        "name 1 to 8 classes, each once",
    ),
    (
        Flaw::Slots,
        "No slot, or more than an order may run",
        "ask for less time",
    ),
    (
        Flaw::Offers,
        "An offer named twice, out of order, or too many of them in all parts",
        "name each offer once, 64 at most",
    ),
    (
        Flaw::Work,
        "No work or no task, too much of it, or less than one node for a slot for each task",
        "give each task a slot at least",
    ),
    (
        Flaw::Deadlines,
        "A soft deadline behind the hard one, or out of range",
        "let the soft deadline be a slot away at least, and the hard one not before it",
    ),
    (
        Flaw::Rising,
        "A price of nothing, or one that is higher for being late",
        "pay something, and never more for late",
    ),
    (
        Flaw::Groups,
        "No group of a reservation, an empty one, or more groups or units than it may have",
        "ask for 1 to 6 groups, 256 units in all",
    ),
    (
        Flaw::GroupOffers,
        "An offer named twice in a group, out of order, or too many in all groups",
        "name each offer of a group once, 64 in all at most",
    ),
    (
        Flaw::Run,
        "No slot, or more than a reservation may have",
        "reserve 1 to 168 slots",
    ),
    (
        Flaw::Starts,
        "A last start before the first",
        "choose a last start that is not before the first",
    ),
    (
        Flaw::Channels,
        "A range of channels that ends before it begins, or more than 64 of them",
        "name 1 to 64 channels",
    ),
    (
        Flaw::Rate,
        "No budget for a slot, or one beyond what a pool can divide",
        "name a rate above zero",
    ),
    (
        Flaw::Weights,
        "No weight of processors, or more weights than a class can have resources",
        "weigh processors above zero, and each resource once",
    ),
    (
        Flaw::Tasks,
        "No task, or more than an order may have",
        "ask for 1 to 4,096 tasks",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_in_the_order_of_the_flaws() {
        assert_eq!(WORDS.map(|(flaw, ..)| flaw), Flaw::ALL);
    }
}
