//! The plan in force: what the taken jobs of an offer get in the running slot and later, if all of
//! it is served and nobody else is taken.

use super::hopeless::hopeless;
use super::{compute, firm_elsewhere, job_of, of_offer, record};
use crate::record::Taken;
use crate::state::State;
use crate::work::Work;
use gridbay_protocol::ids::{OfferId, OrderId};
use gridbay_protocol::offer::Primary;
use gridbay_protocol::record::deadline::PlannedJob;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// The plan of an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// Its first slot: the running one.
    pub slot: u64,
    /// Units per slot.
    pub capacity: u32,
    /// Its jobs, in the order in which they run.
    pub jobs: Vec<JobInForce>,
}

/// A taken job in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInForce {
    /// Its order.
    pub order: OrderId,
    /// Work still to do when the slot began, units times slots.
    pub left: u64,
    /// Units in the running slot.
    pub units: u32,
    /// The first slot in which it has units.
    pub first: u64,
    /// The slot in which it is done.
    pub done: u64,
    /// Its price then.
    pub pay: Credits,
    /// The last slot in which it is paid in full.
    pub soft: u64,
    /// The last slot in which it is paid at all.
    pub hard: u64,
    /// The seller's stake on it.
    pub bond: Credits,
}

impl State {
    /// The plan in force of an offer; `None` if the offer takes no jobs by deadlines, or is
    /// suspended, so that nothing is planned.
    pub fn plan_in_force(&self, id: &OfferId) -> Option<InForce> {
        let work = Work::begin(self, self.time_ms().saturating_add(1), &[0; 32]);
        let offer = work.tables.offers.get(id).filter(|offer| offer.active)?;
        let Primary::Deadline(_) = offer.terms.mechanism else {
            return None;
        };
        let slot = work.calendar().slot(work.height());
        let elsewhere = firm_elsewhere(&work).get(id).copied().unwrap_or(0);
        let capacity = offer.terms.units.saturating_sub(elsewhere);
        let mut taken: BTreeMap<OrderId, Taken> = BTreeMap::new();
        let mut jobs: Vec<PlannedJob> = Vec::new();
        for order in of_offer(&work, id) {
            let found = work.tables.orders.get(&order).filter(|o| !o.exiting);
            if let Some((job, own)) = job_of(found).and_then(|job| Some((job, job.taken?))) {
                // As it was at the boundary before the running slot, at which the plan was made.
                let now = record(&order, job, &own, slot.saturating_sub(1));
                if now.left > 0 && now.elapsed < now.hard {
                    jobs.push(now);
                    taken.insert(order, own);
                }
            }
        }
        for missed in hopeless(&jobs, capacity.into()) {
            jobs.retain(|job| job.order != missed);
        }
        let places = compute(capacity.into(), &jobs).stints;
        let job = |stint: gridbay_protocol::mechanism::deadline::Stint<OrderId>| {
            let own = taken.get(&stint.id)?;
            let planned = jobs.iter().find(|job| job.order == stint.id)?;
            let units = u64::from(capacity);
            let in_slot = stint.to.min(units).saturating_sub(stint.from.min(units));
            Some(JobInForce {
                order: stint.id,
                left: planned.left,
                units: u32::try_from(in_slot).unwrap_or(u32::MAX),
                first: slot.saturating_add(stint.from.checked_div(units).unwrap_or(0)),
                done: slot.saturating_add(stint.completion).saturating_sub(1),
                pay: Credits::from_micros(stint.pay).unwrap_or(planned.pmax),
                soft: own.since.saturating_add(planned.soft.into()),
                hard: own.since.saturating_add(planned.hard.into()),
                bond: own.bond,
            })
        };
        Some(InForce {
            slot,
            capacity,
            jobs: places.into_iter().filter_map(job).collect(),
        })
    }
}
