//! Jobs by deadlines: a bag of tasks on a number of units that the seller's plan changes from slot
//! to slot. The agent cancels the order when all tasks ended, which tells the ledger that it is
//! done.

use super::way::{Asked, Attempt, Buys, Desk};
use crate::reply::Refused;
use gridbay_ledger::Refusal;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::order::Deadline;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// Work and deadlines of a job; class and tasks are the order's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadlineWish {
    /// The seller's offer.
    pub offer: OfferId,
    /// Work to do, units times slots.
    pub unit_slots: u64,
    /// Slots after acceptance through which `pmax` is paid.
    pub soft: u32,
    /// Slots after acceptance by which it must be done.
    pub hard: u32,
    /// Price until the soft deadline.
    pub pmax: Credits,
    /// Price at the hard deadline.
    pub pmin: Credits,
    /// How the price falls in between.
    pub shape: Shape,
}

impl DeadlineWish {
    fn job(&self, at: &Attempt) -> Deadline {
        Deadline {
            class: at.class,
            offer: self.offer,
            tasks: at.tasks,
            unit_slots: self.unit_slots,
            soft: self.soft,
            hard: self.hard,
            pmax: self.pmax,
            pmin: self.pmin,
            shape: self.shape,
            work: at.work,
        }
    }
}

impl Buys for DeadlineWish {
    fn asked(&self, at: &Attempt) -> Asked {
        Asked::Open(EntryBody::Deadline(self.job(at)))
    }
    /// Its highest price.
    fn check(&self, at: &Attempt, desk: &Desk<'_>) -> Result<Credits, Refused> {
        let job = self.job(at);
        job.check().map_err(Refused::flawed)?;
        match desk.state.check_deadline(&desk.signer.account, &job) {
            // The wallet says that in the words for all orders.
            Ok(()) | Err(Refusal::Funds { .. }) => Ok(job.pmax),
            Err(refusal) => Err(Refused::by_ledger(&refusal)),
        }
    }
}
