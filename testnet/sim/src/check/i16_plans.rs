//! I16 for jobs by deadlines: a taken job is planned, a done job pays its own price, and none pays
//! more.
//!
//! 1. Every posting to a seller out of an escrow is on record as the pay of a job that ended, or of
//!    a contract, and every record is posted; so are stakes and damages.
//! 2. A job that was served or cancelled pays between nothing and its highest price, a missed one
//!    nothing.
//! 3. A plan gives no more units than there are, has its jobs one after the other, ends each by its
//!    hard deadline and prices it by its own curve.
//! 4. Where there are few jobs no other order of them pays more.

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::contract::ContractEvent;
use gridbay_protocol::record::deadline::{PlannedJob, Planning};
use std::collections::{BTreeMap, BTreeSet};

/// Jobs up to which every order is tried.
const FEW: usize = 5;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    /// The highest price of every job that was taken.
    taken: BTreeMap<OrderId, u64>,
}

/// The price of a job that is done at an age, computed in another way than the mechanism's.
fn price(job: &PlannedJob, age: u64) -> Option<u64> {
    let (soft, hard) = (u128::from(job.soft), u128::from(job.hard));
    let age = u128::from(age);
    if age > hard {
        return None;
    }
    let (pmax, pmin) = (u128::from(job.pmax.micros()), u128::from(job.pmin.micros()));
    if age <= soft {
        return u64::try_from(pmax).ok();
    }
    let (x, w, fall) = (age - soft, hard - soft, pmax - pmin);
    let price = match job.shape {
        Shape::Linear => pmax - fall * x / w,
        Shape::Convex => pmin + fall * ((w - x) * (w - x)) / (w * w),
        Shape::Concave => pmax - fall * (x * x) / (w * w),
    };
    u64::try_from(price).ok()
}

/// The most that jobs pay one after the other in some order; `None` if each makes somebody late.
fn best(jobs: &[PlannedJob], capacity: u64, done: u64) -> Option<u128> {
    if jobs.is_empty() {
        return Some(0);
    }
    let first = |next: usize| {
        let mut rest = jobs.to_vec();
        let job = rest.remove(next);
        let end = done + job.left;
        let pay = price(&job, end.div_ceil(capacity) + u64::from(job.elapsed))?;
        Some(u128::from(pay) + best(&rest, capacity, end)?)
    };
    (0..jobs.len()).filter_map(first).max()
}

/// The jobs that a planning plans.
fn jobs(planning: &Planning) -> Vec<PlannedJob> {
    let ended: BTreeSet<OrderId> = planning.finished.iter().map(|f| f.order).collect();
    let go_on = planning.jobs.iter().filter(|j| !ended.contains(&j.order));
    let new = planning.requests.iter().filter(|r| r.refused.is_none());
    go_on.copied().chain(new.map(|r| r.job)).collect()
}

/// Steps 3 and 4.
fn plan(planning: &Planning) -> Result<(), String> {
    let jobs = jobs(planning);
    if planning.suspended {
        let idle = planning.plan.is_empty();
        return idle
            .then_some(())
            .ok_or("a suspended offer has a plan".to_owned());
    }
    let by_id: BTreeMap<OrderId, PlannedJob> = jobs.iter().map(|j| (j.order, *j)).collect();
    let capacity = u64::from(planning.capacity);
    let (mut end, mut revenue, mut given) = (0u64, 0u128, 0u64);
    for place in &planning.plan {
        let job = by_id.get(&place.order);
        let job = job.ok_or(format!("{} is planned and was not taken", place.order))?;
        let before = end.min(capacity);
        end += job.left;
        let slots = end.div_ceil(capacity);
        let pay = price(job, slots + u64::from(job.elapsed));
        let right = u64::from(place.units) == end.min(capacity) - before
            && place.done + 1 == planning.slot + slots
            && pay == Some(place.pay.micros());
        if !right {
            return Err(format!(
                "{place:?} is not the place of {job:?}: {planning:?}"
            ));
        }
        given += u64::from(place.units);
        revenue += u128::from(place.pay.micros());
    }
    if given > capacity || planning.plan.len() != by_id.len() {
        return Err(format!(
            "{given} units are given, or a job is left out: {planning:?}"
        ));
    }
    if jobs.len() <= FEW && best(&jobs, capacity.max(1), 0) != Some(revenue) {
        return Err(format!(
            "another order pays more than {revenue}: {planning:?}"
        ));
    }
    Ok(())
}

impl Plans {
    /// Step 2, and the jobs taken.
    fn note(&mut self, planning: &Planning) -> Result<(), String> {
        for finished in &planning.finished {
            let most = self.taken.remove(&finished.order);
            let most = most.ok_or(format!("{} ends and was not taken", finished.order))?;
            let pay = finished.pay.micros();
            let right = match finished.end {
                OrderEnd::Served | OrderEnd::Cancelled => pay <= most,
                OrderEnd::Missed => pay == 0,
                _ => false,
            };
            if !right {
                return Err(format!("{finished:?} of a job that pays {most} at most"));
            }
        }
        let new = planning.requests.iter().filter(|r| r.refused.is_none());
        let new = new.map(|r| (r.job.order, r.job.pmax.micros()));
        self.taken.extend(new);
        Ok(())
    }
    fn block(&mut self, effects: &[Effect]) -> Result<(), String> {
        let mut booked: BTreeMap<(OrderId, &str), u64> = BTreeMap::new();
        let mut recorded = booked.clone();
        for effect in effects {
            match effect {
                Effect::Posting(p) => {
                    let Some(order) = p.order else { continue };
                    let what = match (p.reason, p.from) {
                        (Reason::Earning | Reason::Revenue, Purse::Escrow(_)) => "pay",
                        (Reason::Bond, _) => "stake",
                        (Reason::Damages, _) => "damages",
                        _ => continue,
                    };
                    *booked.entry((order, what)).or_default() += p.amount.micros();
                }
                Effect::Planning(planning) => {
                    plan(planning)?;
                    self.note(planning)?;
                    let mut note = |order, what, amount: u64| {
                        recorded.insert((order, what), amount);
                    };
                    for finished in &planning.finished {
                        note(finished.order, "pay", finished.pay.micros());
                        if finished.end == OrderEnd::Missed {
                            note(finished.order, "damages", finished.bond.micros());
                        }
                    }
                    let new = planning.requests.iter().filter(|r| r.refused.is_none());
                    new.for_each(|r| note(r.job.order, "stake", r.bond.micros()));
                }
                // The figures themselves are `i16_contracts`' business.
                Effect::Contract(ContractEvent::Signed { contract, bond, .. }) => {
                    recorded.insert((*contract, "stake"), bond.micros());
                }
                Effect::Contract(ContractEvent::Settled(end)) => {
                    recorded.insert((end.contract, "pay"), end.pays.micros());
                    recorded.insert((end.contract, "damages"), end.owed.micros());
                }
                _ => {}
            }
        }
        recorded.retain(|_, amount| *amount > 0);
        if booked != recorded {
            return Err(format!(
                "{booked:?} was booked for jobs, {recorded:?} is on record"
            ));
        }
        Ok(())
    }
}

impl Check for Plans {
    fn id(&self) -> &'static str {
        "I16"
    }
    fn see(&mut self, _: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Block(Fact { effects, .. }) => self.block(effects),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{ClassId, OfferId};
    use gridbay_protocol::payment::Posting;
    use gridbay_protocol::record::deadline::{Finished, Place, Request};
    use gridbay_protocol::units::Credits;

    fn micros(n: u64) -> Credits {
        Credits::from_micros(n).unwrap()
    }
    fn job(n: u8, left: u64) -> PlannedJob {
        PlannedJob {
            order: OrderId([n; 32]),
            left,
            elapsed: 0,
            soft: 1,
            hard: 5,
            pmax: micros(100),
            pmin: micros(60),
            shape: Shape::Linear,
        }
    }
    /// Two jobs on four units: the short one first.
    fn planning() -> Planning {
        let place = |n, units, done, pay| Place {
            order: OrderId([n; 32]),
            units,
            done,
            pay: micros(pay),
        };
        let request = |job| Request {
            job,
            bond: micros(25),
            refused: None,
        };
        Planning {
            offer: OfferId([1; 32]),
            class: ClassId([7; 32]),
            height: 8,
            slot: 2,
            capacity: 4,
            suspended: false,
            min_gain_ppm: 0,
            finished: vec![],
            jobs: vec![],
            requests: vec![request(job(1, 8)), request(job(2, 3))],
            plan: vec![place(2, 3, 2, 100), place(1, 1, 4, 80)],
        }
    }

    #[test]
    fn a_plan_that_is_not_the_best_or_not_its_own_is_reported() {
        assert_eq!(plan(&planning()), Ok(()));
        let mut late = planning();
        late.plan.swap(0, 1);
        let mut dear = planning();
        dear.plan[1].pay = micros(81);
        let mut wide = planning();
        wide.plan[0].units = 4;
        let mut left_out = planning();
        left_out.plan.pop();
        let mut worse = planning();
        let place = |n, units, done, pay| Place {
            order: OrderId([n; 32]),
            units,
            done,
            pay: micros(pay),
        };
        worse.plan = vec![place(1, 4, 3, 90), place(2, 0, 4, 80)];
        for bad in [late, dear, wide, left_out, worse] {
            assert!(plan(&bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn money_that_is_not_on_record_is_reported() {
        let stake = |n: u8, amount| {
            Effect::Posting(Posting {
                from: Purse::Bank,
                to: Purse::Bond(OrderId([n; 32])),
                amount: micros(amount),
                reason: Reason::Bond,
                order: Some(OrderId([n; 32])),
            })
        };
        let taken = [stake(1, 25), stake(2, 25), Effect::Planning(planning())];
        assert_eq!(Plans::default().block(&taken), Ok(()));
        assert!(Plans::default().block(&taken[1..]).is_err());
        let mut done = planning();
        done.finished = vec![Finished {
            order: OrderId([1; 32]),
            end: OrderEnd::Served,
            age: 1,
            pay: micros(101),
            bond: micros(25),
        }];
        (done.requests, done.plan) = (vec![], vec![]);
        let mut plans = Plans::default();
        plans.block(&taken).unwrap();
        assert!(plans.note(&done).is_err(), "above its highest price");
        (done.finished[0].order, done.finished[0].pay) = (OrderId([2; 32]), micros(99));
        assert_eq!(plans.note(&done), Ok(()));
        assert!(plans.note(&done).is_err(), "it ends twice");
    }
}
