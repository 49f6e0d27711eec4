//! Whether a seller would take a job now: the same questions, asked of the state at the next
//! boundary, if the running slot is served as planned and no other job asks.

use super::entry;
use super::request::{bond, can_stake, judge};
use super::{firm_elsewhere, job_of, of_offer, open_terms, record};
use crate::refusal::Refusal;
use crate::state::State;
use crate::work::Work;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::order::Deadline;
use gridbay_protocol::record::deadline::PlannedJob;
use gridbay_protocol::units::Credits;

/// A job's place in a seller's plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Slots after its acceptance in which it would be done.
    pub age: u64,
    /// Its price then.
    pub pay: Credits,
    /// The stake of the seller.
    pub bond: Credits,
}

impl State {
    /// Whether an account could send the order in the next block.
    ///
    /// # Errors
    /// The refusal of the entry's check.
    pub fn check_deadline(&self, account: &AccountId, deadline: &Deadline) -> Result<(), Refusal> {
        let work = Work::begin(self, self.time_ms().saturating_add(1), &[0; 32]);
        entry::check(&work, account, deadline)
    }
    /// Asks the seller's plan.
    ///
    /// # Errors
    /// Why the job would not be taken.
    pub fn quote_deadline(&self, deadline: &Deadline) -> Result<Quote, OrderEnd> {
        let work = Work::begin(self, self.time_ms().saturating_add(1), &[0; 32]);
        let offer = work.tables.offers.get(&deadline.offer);
        let offer = offer.ok_or(OrderEnd::NoRoom)?;
        let terms = open_terms(offer).ok_or(OrderEnd::NoRoom)?;
        let elsewhere = firm_elsewhere(&work);
        let elsewhere = elsewhere.get(&deadline.offer).copied().unwrap_or(0);
        let capacity = u64::from(offer.terms.units.saturating_sub(elsewhere));
        let jobs = jobs(&work, deadline);
        // No order has this id: it is a hash that nobody has found a preimage of.
        let new = PlannedJob {
            order: OrderId([255; 32]),
            left: deadline.unit_slots,
            elapsed: 0,
            soft: deadline.soft,
            hard: deadline.hard,
            pmax: deadline.pmax,
            pmin: deadline.pmin,
            shape: deadline.shape,
        };
        let plan = judge(&offer.terms, capacity, terms.min_gain_ppm, &jobs, &new)?;
        let bond = bond(&new, terms.bond_ppm);
        can_stake(&work, offer, bond)?;
        let stint = plan.stints.iter().find(|stint| stint.id == new.order);
        let stint = stint.ok_or(OrderEnd::NoRoom)?;
        Ok(Quote {
            age: stint.completion,
            pay: Credits::from_micros(stint.pay).unwrap_or(deadline.pmax),
            bond,
        })
    }
}

/// The taken jobs as they will be at the next boundary.
fn jobs(work: &Work<'_>, deadline: &Deadline) -> Vec<PlannedJob> {
    let slot = work.calendar().slot(work.height());
    let orders = of_offer(work, &deadline.offer);
    let jobs = orders.filter_map(|id| {
        let order = work.tables.orders.get(&id).filter(|o| !o.exiting)?;
        let job = job_of(Some(order))?;
        let mut now = record(&id, job, job.taken.as_ref()?, slot);
        let lease = order.lease.and_then(|lease| work.tables.leases.get(&lease));
        now.left = now
            .left
            .saturating_sub(lease.map_or(0, |l| l.units().into()));
        (now.left > 0 && now.elapsed < now.hard).then_some(now)
    });
    jobs.collect()
}
