//! Plannings: the public record of how the seller of an offer took, planned and finished jobs at a
//! slot boundary.
//!
//! A record holds the whole input of the mechanism (see `mechanism::deadline`), so anybody can
//! recompute it.

use crate::effect::OrderEnd;
use crate::ids::{ClassId, OfferId, OrderId};
use crate::mechanism::deadline::{Job, Shape};
use crate::units::Credits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A job as it entered a planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedJob {
    /// Its order.
    pub order: OrderId,
    /// Work still to do, units times slots.
    pub left: u64,
    /// Slots since its acceptance.
    pub elapsed: u32,
    /// Slots after its acceptance through which `pmax` is paid.
    pub soft: u32,
    /// Slots after its acceptance by which it must be done.
    pub hard: u32,
    /// Price until the soft deadline.
    pub pmax: Credits,
    /// Price at the hard deadline.
    pub pmin: Credits,
    /// How the price falls in between.
    pub shape: Shape,
}

impl PlannedJob {
    /// As the mechanism takes it.
    pub fn job(&self) -> Job<OrderId> {
        Job {
            id: self.order,
            work: self.left,
            elapsed: self.elapsed,
            soft: self.soft,
            hard: self.hard,
            pmax: self.pmax.micros(),
            pmin: self.pmin.micros(),
            shape: self.shape,
        }
    }
}

/// A job that asked to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The job.
    pub job: PlannedJob,
    /// The seller's stake on it.
    pub bond: Credits,
    /// Why it was not taken; `None` if it was.
    pub refused: Option<OrderEnd>,
}

/// A job that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    /// Its order.
    pub order: OrderId,
    /// Served, cancelled or missed.
    pub end: OrderEnd,
    /// Slots since its acceptance.
    pub age: u32,
    /// Its payment to the seller.
    pub pay: Credits,
    /// The seller's stake; returned to the seller, or the buyer's if the seller missed the
    /// deadline.
    pub bond: Credits,
}

/// A taken job's place in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Its order.
    pub order: OrderId,
    /// Units in the next slot.
    pub units: u32,
    /// Slot in which it is done if all goes by the plan.
    pub done: u64,
    /// Its price then.
    pub pay: Credits,
}

/// The planning of one offer at a slot boundary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planning {
    /// The offer.
    pub offer: OfferId,
    /// Its class.
    pub class: ClassId,
    /// Height of the block that holds the record.
    pub height: u64,
    /// First slot of the plan.
    pub slot: u64,
    /// Units per slot.
    pub capacity: u32,
    /// Whether the seller missed a delivery and has not set the offer again: nothing is planned.
    pub suspended: bool,
    /// Least gain for a new job, millionths of its highest price.
    pub min_gain_ppm: u32,
    /// Jobs that ended, by order.
    pub finished: Vec<Finished>,
    /// Jobs taken before and not done, by order; those that are missed now are also among the
    /// finished.
    pub jobs: Vec<PlannedJob>,
    /// Jobs that asked to be taken, in the order in which they were decided.
    pub requests: Vec<Request>,
    /// The plan, in its own order.
    pub plan: Vec<Place>,
}

impl Planning {
    /// Every order that the record names, once.
    pub fn orders(&self) -> BTreeSet<OrderId> {
        let finished = self.finished.iter().map(|f| f.order);
        let jobs = self.jobs.iter().map(|j| j.order);
        let requests = self.requests.iter().map(|r| r.job.order);
        finished.chain(jobs).chain(requests).collect()
    }
}
