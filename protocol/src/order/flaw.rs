//! Flaws of an order that show without the ledger.

use crate::limits;
use crate::mechanism::{reservation, share};

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
}
