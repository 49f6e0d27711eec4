//! The answers of an open order about itself, in every way of sale. Nothing here looks beyond the
//! record.

use super::{Sale, Way};
use gridbay_protocol::ids::{ClassId, Hash32, OfferId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::units::Credits;

/// An open order, as its way of sale sees it.
pub(crate) trait Live {
    /// How its units are sold.
    fn way(&self) -> Way;
    /// The work hash that it names.
    fn work(&self) -> Hash32;
    /// The most tasks that its job may have.
    fn tasks(&self) -> u32;
    /// Its classes, ascending, if they may be several.
    fn classes(&self) -> Option<Vec<ClassId>> {
        None
    }
    /// Its use of scarce room in each of its classes, beside its place among the orders.
    fn crowd(&self) -> Crowd {
        Crowd::default()
    }
    /// The offer at which it is listed.
    fn listed_at(&self) -> Option<List> {
        None
    }
    /// The money that its escrow must hold before it competes for a slot, and the rest of its
    /// budget.
    fn next_slot(&self) -> Option<(Credits, Credits)> {
        None
    }
    /// Its payments so far, if they count for a budget.
    fn paid_mut(&mut self) -> Option<&mut Credits> {
        None
    }
    /// Its price for the next slot, class by class; `None` if none was agreed beforehand.
    fn agreed(&self) -> Option<Vec<Sale>> {
        None
    }
    /// Whether it was opened, or amended, and has not been decided on since.
    fn is_undecided(&self, _: &Opening) -> bool {
        false
    }
    /// Whether it stood too long at the close of a round without a lease.
    fn timed_out(&self, _height: u64, _slot: u64) -> bool {
        false
    }
    /// Counts a slot of its lease, and says whether the lease ends with it; `None` if that is for
    /// a plan to say.
    fn count(&mut self, slot: &Ran) -> Option<bool> {
        Some(slot.firm_over)
    }
    /// Its lease ended.
    fn lease_ended(&mut self, _: LeaseEnd) {}
    /// Whether it waits for another lease after one that ended for that reason.
    fn stands_again(&self, _after: LeaseEnd, _exiting: bool) -> bool {
        false
    }
}

/// The scarce room that an order takes in each of its classes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crowd {
    /// The lumpiness of a bid.
    pub(crate) all_or_none: u64,
    /// A job by a deadline.
    pub(crate) jobs: u64,
    /// A claim on a pool.
    pub(crate) claims: u64,
}

/// The list at an offer that an order is on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum List {
    /// Jobs by deadlines.
    Jobs(OfferId),
    /// Claims on the pool.
    Pool(OfferId),
}

/// When an order was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// It has a lease.
    pub(crate) runs: bool,
    /// In this round.
    pub(crate) this_round: bool,
    /// In this slot.
    pub(crate) this_slot: bool,
}

/// A slot of a lease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran {
    /// Units of the lease.
    pub(crate) units: u32,
    /// It ran the whole slot, with all its units acknowledged.
    pub(crate) counts: bool,
    /// It was firm through this slot and no longer.
    pub(crate) firm_over: bool,
}
