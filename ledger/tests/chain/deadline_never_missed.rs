//! An honest seller never misses the deadline of a job that it took, whatever other jobs come or
//! finish early, and whatever others bid for the units left; and its plan is the best that brute
//! force finds.

use crate::deadline::{job, planned, plannings};
use crate::model::Dice;
use crate::trade::bid;
use crate::world::World;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{Hash32, LeaseId, OrderId};
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::record::deadline::{PlannedJob, Planning};
use std::collections::BTreeMap;

/// The most that jobs can pay one after the other, by trying every order; `None` if each makes
/// somebody late.
fn best(jobs: &[PlannedJob], capacity: u64, done: u64) -> Option<u128> {
    if jobs.is_empty() {
        return Some(0);
    }
    let first = |next: usize| {
        let mut rest = jobs.to_vec();
        let job = rest.remove(next);
        let done = done + job.left;
        let pay = job.job().price(done.div_ceil(capacity))?;
        Some(u128::from(pay) + best(&rest, capacity, done)?)
    };
    (0..jobs.len()).filter_map(first).max()
}

fn plan_is_the_best(planning: &Planning) {
    let taken = planning.requests.iter().filter(|r| r.refused.is_none());
    let jobs = planning.jobs.iter().copied().chain(taken.map(|r| r.job));
    let jobs: Vec<PlannedJob> = jobs.collect();
    if jobs.len() > 6 {
        return;
    }
    let revenue: u128 = planning
        .plan
        .iter()
        .map(|p| u128::from(p.pay.micros()))
        .sum();
    assert_eq!(Some(revenue), best(&jobs, planning.capacity.into(), 0));
}

/// Counts jobs served, cancelled and refused; none may be missed.
fn count(effects: &[Effect], seen: &mut [u32; 3]) {
    for effect in effects {
        let Effect::Order { end, .. } = effect else {
            continue;
        };
        match end {
            OrderEnd::Missed => panic!("a job was missed"),
            OrderEnd::Served => seen[0] += 1,
            OrderEnd::Cancelled => seen[1] += 1,
            OrderEnd::NoGain | OrderEnd::NoRoom => seen[2] += 1,
            _ => {}
        }
    }
}

/// The tally of a run: jobs served, cancelled and refused.
fn run(seed: u64) -> [u32; 3] {
    let mut dice = Dice(seed);
    let mut world = World::new();
    let gain = [0, 300_000, 800_000][seed as usize % 3];
    let units = 3 + dice.below(3) as u32;
    let offer = world.by(1, EntryBody::SetOffer(planned(&world, 1, units, gain)));
    world.all(vec![offer]);
    world.until(8);
    let bidder = bid(&world, &[(2, 40)], 500);
    world.bids(&[(4, bidder)]);
    let mut seen = [0; 3];
    let mut promised: BTreeMap<OrderId, u64> = BTreeMap::new();
    for _ in 0..500 {
        let mut entries = vec![];
        if dice.below(3) == 0 {
            let soft = 1 + dice.below(5) as u32;
            let hard = soft + dice.below(8) as u32;
            let work = 1 + dice.below(14);
            let pmax = work * 10 + dice.below(900);
            let pmin = work * 10 + dice.below(pmax - work * 10 + 1);
            let mut job = job(&world, work, (soft, hard), (pmax, pmin));
            job.shape = [Shape::Linear, Shape::Convex, Shape::Concave][dice.below(3) as usize];
            job.work = Hash32([world.fresh() as u8; 32]);
            entries.push(world.by(2 + dice.below(2) as u8, EntryBody::Deadline(job)));
        }
        let undelivered = world.state.leases().filter(|(_, l)| !l.is_delivered());
        let undelivered: Vec<LeaseId> = undelivered.map(|(id, _)| *id).collect();
        for lease in undelivered {
            entries.push(world.by(1, EntryBody::Deliver { lease }));
        }
        if dice.below(40) == 0
            && let Some(order) = promised.keys().next()
        {
            let owner = world.state.order(order).map(|o| o.account);
            let n = if owner == Some(world.member(2)) { 2 } else { 3 };
            entries.push(world.by(n, EntryBody::Cancel { order: *order }));
        }
        let effects = world.block(entries);
        for planning in plannings(&effects) {
            plan_is_the_best(&planning);
            assert!(!planning.suspended);
            for finished in &planning.finished {
                let due = promised.remove(&finished.order);
                assert!(due.is_some_and(|due| planning.slot - 1 <= due), "on time");
            }
            for request in &planning.requests {
                if request.refused.is_none() {
                    let due = planning.slot - 1 + u64::from(request.job.hard);
                    promised.insert(request.job.order, due);
                }
            }
        }
        count(&effects, &mut seen);
    }
    seen
}

#[test]
fn a_taken_job_is_done_in_time_if_its_seller_delivers() {
    let runs: Vec<_> = (0..6)
        .map(|seed| std::thread::spawn(move || run(seed)))
        .collect();
    let mut total = [0; 3];
    for run in runs {
        for (sum, count) in total.iter_mut().zip(run.join().expect("nobody is late")) {
            *sum += count;
        }
    }
    assert!(total.iter().all(|count| *count >= 20), "{total:?}");
}
