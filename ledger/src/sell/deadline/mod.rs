//! Jobs with deadlines at a slot boundary, offer by offer (see `protocol::mechanism::deadline`). An
//! interval of the mechanism is a slot of the ledger; the age of a job counts slots since the
//! boundary at which it was taken.
//!
//! 1. Work is done by units that were leased for the whole slot and acknowledged by its end
//!    (`count`). The work declared is a cap.
//! 2. A job without work left, or cancelled, is finished: it pays its price for the slot that ends
//!    (see `finish`).
//! 3. Jobs that cannot all be done in time any more, though all units worked from now on, are
//!    missed: their sellers failed to deliver, for no job is taken that would make others late. As
//!    few end as possible (see `hopeless`).
//! 4. Jobs that ask are answered in the order that the beacon gives them (see `request`).
//! 5. All taken jobs are planned anew. They get the units of the plan's first slot as firm leases
//!    of that slot, for nothing: they pay when they are done. A job that gets no unit loses its
//!    lease and keeps its place.
//! 6. Units left idle are sold in the auction of the slot like any other.
//!
//! While an offer is suspended, none of its jobs is planned, and time goes on.

pub(crate) mod entry;
mod finish;
mod hopeless;
mod in_force;
mod quote;
mod request;

pub use in_force::{InForce, JobInForce};
pub use quote::Quote;
pub(crate) use request::least_price;

use crate::firm;
use crate::record::{DeadlineOrder, Offer, Order, Sale, Taken};
use crate::sell::hooks::Sells;
use crate::tenancy::{self, Grant};
use crate::view::Floor;
use crate::work::Work;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{Hash32, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, Share, lease_id};
use gridbay_protocol::mechanism::deadline::{self, Input, Plan};
use gridbay_protocol::offer::{DeadlineTerms, Primary};
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::record::deadline::{Place, PlannedJob, Planning};
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;

/// Jobs by deadlines.
pub(crate) struct Deadlines;

impl Sells for Deadlines {
    fn at_slot(work: &mut Work<'_>) {
        turn(&mut work.floor());
    }
}

/// Plans every offer that has jobs, taken or asking.
fn turn(at: &mut Floor<'_, '_>) {
    let mut jobs: BTreeMap<OfferId, Vec<OrderId>> = BTreeMap::new();
    for ((offer, order), ()) in at.tables.jobs.iter() {
        jobs.entry(*offer).or_default().push(*order);
    }
    let elsewhere = firm_elsewhere(at);
    for (offer, orders) in jobs {
        let taken = elsewhere.get(&offer).copied().unwrap_or(0);
        plan(at, &offer, &orders, taken);
    }
}

/// Jobs, taken or asking, of an offer, ascending.
pub(crate) fn of_offer(work: &Work<'_>, offer: &OfferId) -> impl Iterator<Item = OrderId> {
    let (first, last) = (OrderId([0; 32]), OrderId([255; 32]));
    let range = work.tables.jobs.range((*offer, first)..=(*offer, last));
    range.map(|((_, order), ())| *order)
}

/// Whether an offer has taken jobs, for which its units are bound.
pub(crate) fn binds(work: &Work<'_>, offer: &OfferId) -> bool {
    let mut orders = of_offer(work, offer).map(|id| work.tables.orders.get(&id));
    orders.any(|order| order.is_some_and(|o| o.is_taken()))
}

/// Whether a change that waits would break what taken jobs were promised.
pub(crate) fn is_leaving(offer: &Offer) -> bool {
    match &offer.pending {
        Some(crate::record::Pending::Set(terms)) => {
            terms.units < offer.terms.units || !matches!(terms.mechanism, Primary::Deadline(_))
        }
        Some(crate::record::Pending::Withdraw) => true,
        None => false,
    }
}

/// The terms under which an offer takes jobs now; `None` if it takes none.
pub(crate) fn open_terms(offer: &Offer) -> Option<DeadlineTerms> {
    match offer.terms.mechanism {
        Primary::Deadline(terms) if offer.active && !is_leaving(offer) => Some(terms),
        _ => None,
    }
}

/// Units in firm leases that the plans do not give: bought before the offer was planned.
fn firm_elsewhere(work: &Work<'_>) -> BTreeMap<OfferId, u32> {
    let mut units: BTreeMap<OfferId, u32> = BTreeMap::new();
    for (_, lease) in work.tables.leases.iter().filter(|(_, l)| l.is_firm()) {
        let order = work.tables.orders.get(&lease.order);
        if order.is_some_and(|o| o.deadline().is_none()) {
            for share in &lease.shares {
                *units.entry(share.offer).or_default() += share.units;
            }
        }
    }
    units
}

/// A taken job as the plan's record shows it: its terms and its progress.
fn record(order: &OrderId, job: &DeadlineOrder, taken: &Taken, slot: u64) -> PlannedJob {
    let elapsed = u32::try_from(slot.saturating_sub(taken.since)).unwrap_or(u32::MAX);
    let left = job.deadline.unit_slots.saturating_sub(taken.done);
    fresh(order, job, left, elapsed)
}

fn fresh(order: &OrderId, job: &DeadlineOrder, left: u64, elapsed: u32) -> PlannedJob {
    let deadline = &job.deadline;
    PlannedJob {
        order: *order,
        left,
        elapsed,
        soft: deadline.soft,
        hard: deadline.hard,
        pmax: deadline.pmax,
        pmin: deadline.pmin,
        shape: deadline.shape,
    }
}

/// Steps 2 to 5 for one offer; `taken` units of it are not the plan's.
fn plan(at: &mut Floor<'_, '_>, id: &OfferId, orders: &[OrderId], taken: u32) {
    let offer = at.tables.offers.get(id).cloned();
    let class = orders.first().and_then(|o| at.tables.orders.get(o));
    let Some(class) = class.map(|order| order.class) else {
        return;
    };
    let terms = offer.as_ref().and_then(|o| match o.terms.mechanism {
        Primary::Deadline(terms) => Some(terms),
        _ => None,
    });
    let units = offer.as_ref().map_or(0, |o| o.terms.units);
    let slot = at.calendar().slot(at.height());
    let mut planning = Planning {
        offer: *id,
        class,
        height: at.height(),
        slot: slot + 1,
        capacity: units.saturating_sub(taken),
        suspended: !offer.as_ref().is_some_and(|o| o.active),
        min_gain_ppm: terms.map_or(0, |t| t.min_gain_ppm),
        finished: Vec::new(),
        jobs: Vec::new(),
        requests: Vec::new(),
        plan: Vec::new(),
    };
    for order in orders {
        finish::finish(at, order, slot, &mut planning);
    }
    let mut jobs = planning.jobs.clone();
    for missed in hopeless::hopeless(&jobs, planning.capacity.into()) {
        finish::miss(at, &missed, slot, &mut planning);
        jobs.retain(|job| job.order != missed);
    }
    planning.finished.sort_unstable_by_key(|f| f.order);
    request::answer(
        &mut at.book(),
        offer.as_ref(),
        orders,
        &mut planning,
        &mut jobs,
    );
    if !planning.suspended {
        let plan = compute(planning.capacity.into(), &jobs);
        planning.plan = places(&plan, &planning);
    }
    at.emit(Effect::Planning(planning.clone()));
    lease(at, &planning, &jobs);
}

/// The plan of the taken jobs.
fn compute(capacity: u64, jobs: &[PlannedJob]) -> Plan<OrderId> {
    let outcome = deadline::clear(&Input {
        capacity,
        jobs: jobs.iter().map(PlannedJob::job).collect(),
        new: None,
        min_gain_ppm: 0,
    });
    let plan = outcome
        .expect("the ledger's limits are within the mechanism's")
        .plan;
    plan.expect("hopeless jobs have ended, and nobody is taken who makes others late")
}

/// A plan as slots of the ledger.
fn places(plan: &Plan<OrderId>, planning: &Planning) -> Vec<Place> {
    let capacity = u64::from(planning.capacity);
    let place = |stint: &deadline::Stint<OrderId>| Place {
        order: stint.id,
        units: (stint.to.min(capacity) - stint.from.min(capacity)) as u32,
        done: planning.slot + stint.completion - 1,
        pay: Credits::from_micros(stint.pay).expect("a price is an amount"),
    };
    plan.stints.iter().map(place).collect()
}

/// Step 5: leases end that get nothing, then the others go on or begin.
fn lease(at: &mut Floor<'_, '_>, planning: &Planning, jobs: &[PlannedJob]) {
    let running = |work: &Work<'_>, order: &OrderId| {
        let order = work.tables.orders.get(order);
        order.and_then(|o| o.lease)
    };
    let given: BTreeMap<OrderId, u32> = planning.plan.iter().map(|p| (p.order, p.units)).collect();
    let units = |order: &OrderId| given.get(order).copied().unwrap_or(0);
    for job in jobs.iter().filter(|job| units(&job.order) == 0) {
        if let Some(lease) = running(at, &job.order) {
            tenancy::end(at, &lease, LeaseEnd::Paused);
        }
    }
    for place in planning.plan.iter().filter(|place| place.units > 0) {
        let id = running(at, &place.order);
        let id = id.unwrap_or_else(|| lease_id(&place.order, at.height()));
        let share = Share {
            offer: planning.offer,
            units: place.units,
        };
        let free = ClearingOffer {
            offer: planning.offer,
            units: place.units,
            reserve: Price(0),
        };
        let grant = Grant {
            order: place.order,
            slot: planning.slot,
            shares: vec![share],
            paid: Credits::ZERO,
            pot: Hash32(id.0),
            whole_slot: true,
            firm_through: Some(planning.slot),
        };
        let heights = at.calendar().slot_heights();
        let sale = Sale {
            price: Credits::ZERO,
            taken: vec![free],
        };
        firm::hold(at, grant, heights, &[sale]);
    }
}

/// The job of an order by deadline.
fn job_of(order: Option<&Order>) -> Option<&DeadlineOrder> {
    order.and_then(Order::deadline)
}
