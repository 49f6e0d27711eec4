//! Answers to jobs that ask to be taken, in the order that the beacon gives them.
//!
//! A job is refused if
//!
//! 1. the offer is no longer planned, suspended, or about to be reduced or withdrawn: no room;
//! 2. it would pay less than the reserve for its work at its hard deadline: no gain;
//! 3. no plan has all jobs done in time: no room;
//! 4. the best plan with it gains less than the seller asks for: no gain;
//! 5. the seller cannot stake its bond: unstaked.

use super::{fresh, job_of, open_terms};
use crate::book;
use crate::money::funds;
use crate::record::{Offer, Taken};
use crate::view::{Book, Money};
use crate::work::Work;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::mechanism::deadline::{self, Input, Plan, WHOLE_PPM};
use gridbay_protocol::offer::OfferTerms;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::deadline::{PlannedJob, Planning, Request};
use gridbay_protocol::units::Credits;

/// Answers all that wait; those that are taken join `jobs`.
pub(super) fn answer(
    at: &mut Book<'_, '_>,
    offer: Option<&Offer>,
    orders: &[OrderId],
    planning: &mut Planning,
    jobs: &mut Vec<PlannedJob>,
) {
    let asks = |id: &&OrderId| {
        let order = at.tables.orders.get(id);
        order.is_some_and(|o| o.deadline().is_some() && !o.is_taken())
    };
    let mut waiting: Vec<OrderId> = orders.iter().filter(asks).copied().collect();
    waiting.sort_by_cached_key(|id| at.rank(id.as_bytes()));
    for id in waiting {
        let Some(job) = job_of(at.tables.orders.get(&id)) else {
            continue;
        };
        let job = fresh(&id, job, job.deadline.unit_slots, 0);
        let (bond, answer) = match offer.and_then(|o| Some((o, open_terms(o)?))) {
            None => (Credits::ZERO, Err(OrderEnd::NoRoom)),
            Some((offer, terms)) => {
                let bond = bond(&job, terms.bond_ppm);
                let capacity = planning.capacity.into();
                let plan = judge(&offer.terms, capacity, planning.min_gain_ppm, jobs, &job);
                (
                    bond,
                    plan.and_then(|_| stake(&mut at.money(), offer, &id, bond)),
                )
            }
        };
        planning.requests.push(Request {
            job,
            bond,
            refused: answer.err(),
        });
        match answer {
            Err(end) => book::end(at, &id, end),
            Ok(()) => {
                take(at, &id, planning.slot - 1, bond);
                jobs.push(job);
            }
        }
    }
}

/// The seller's stake on a job.
pub(super) fn bond(job: &PlannedJob, bond_ppm: u32) -> Credits {
    let bond = job.pmax.share_ceil(bond_ppm.into(), WHOLE_PPM.into());
    bond.expect("at most the whole of an amount")
}

/// Rules 2 to 4: the plan with the job, or why it is not taken.
pub(super) fn judge(
    terms: &OfferTerms,
    capacity: u64,
    min_gain_ppm: u32,
    jobs: &[PlannedJob],
    new: &PlannedJob,
) -> Result<Plan<OrderId>, OrderEnd> {
    if new.pmin < least_price(terms, new.left) {
        return Err(OrderEnd::NoGain);
    }
    let outcome = deadline::clear(&Input {
        capacity,
        jobs: jobs.iter().map(PlannedJob::job).collect(),
        new: Some(new.job()),
        min_gain_ppm,
    });
    let outcome = outcome.expect("the ledger's limits are within the mechanism's");
    match outcome.admission {
        Some(admission) if admission.accept => admission.plan.ok_or(OrderEnd::NoRoom),
        Some(admission) if admission.plan.is_some() => Err(OrderEnd::NoGain),
        _ => Err(OrderEnd::NoRoom),
    }
}

/// The reserve for so much work.
pub(crate) fn least_price(terms: &OfferTerms, unit_slots: u64) -> Credits {
    terms.reserve.times(unit_slots).unwrap_or(Credits::MAX)
}

fn stake(
    at: &mut Money<'_, '_>,
    offer: &Offer,
    order: &OrderId,
    bond: Credits,
) -> Result<(), OrderEnd> {
    let from = Purse::Account(offer.seller);
    at.post(from, Purse::Bond(*order), bond, Reason::Bond, Some(*order))
        .map_err(|_| OrderEnd::Unstaked)
}

/// Whether the seller could stake it.
pub(super) fn can_stake(work: &Work<'_>, offer: &Offer, bond: Credits) -> Result<(), OrderEnd> {
    funds::require(work, Purse::Account(offer.seller), bond).map_err(|_| OrderEnd::Unstaked)
}

fn take(at: &mut Book<'_, '_>, id: &OrderId, since: u64, bond: Credits) {
    let order = at.orders().get_mut(id);
    if let Some(job) = order.and_then(|o| o.deadline_mut()) {
        job.taken = Some(Taken {
            since,
            done: 0,
            failed: false,
            bond,
        });
    }
}
