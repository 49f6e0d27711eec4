//! Jobs by deadlines, worked out by hand: 8 heights a slot, member 1 sells, slots end at heights
//! that 8 divides.

use crate::model::Dice;
use crate::trade::{START, bid, lease_ends, money, order, order_ends, terms};
use crate::world::{World, credits};
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{ClassId, Hash32, OrderId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::deadline::{self, Input, Shape};
use gridbay_protocol::offer::{DeadlineTerms, OfferTerms, Primary, Reclaim};
use gridbay_protocol::order::Deadline;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::record::deadline::{PlannedJob, Planning};

/// Terms of member 1's planned offer of that many units, with a stake of a quarter.
pub(crate) fn planned(world: &World, label: u32, units: u32, min_gain_ppm: u32) -> OfferTerms {
    OfferTerms {
        mechanism: Primary::Deadline(DeadlineTerms {
            min_gain_ppm,
            bond_ppm: 250_000,
        }),
        ..terms(world, label, units, 10, None)
    }
}

/// A job for label 1 of member 1: work, deadlines, prices.
pub(crate) fn job(world: &World, unit_slots: u64, window: (u32, u32), pay: (u64, u64)) -> Deadline {
    Deadline {
        class: world.class,
        offer: world.offer_of(1, 1),
        tasks: 1,
        unit_slots,
        soft: window.0,
        hard: window.1,
        pmax: credits(pay.0),
        pmin: credits(pay.1),
        shape: Shape::Linear,
        work: Hash32([6; 32]),
    }
}

pub(crate) fn plannings(effects: &[Effect]) -> Vec<Planning> {
    let planning = |effect: &Effect| match effect {
        Effect::Planning(planning) => Some(planning.clone()),
        _ => None,
    };
    effects.iter().filter_map(planning).collect()
}

/// Member 1 sells four units by deadlines; the next height is 9.
pub(crate) fn seller(min_gain_ppm: u32) -> World {
    let mut world = World::new();
    let offer = planned(&world, 1, 4, min_gain_ppm);
    let offer = world.by(1, EntryBody::SetOffer(offer));
    world.all(vec![offer]);
    world.until(8);
    world
}

pub(crate) fn send(world: &mut World, n: u8, job: Deadline) -> OrderId {
    let entry = world.by(n, EntryBody::Deadline(job));
    let id = order(&entry.id());
    world.all(vec![entry]);
    id
}

/// Units of an order's lease now.
pub(crate) fn units(world: &World, order: &OrderId) -> u32 {
    let lease = world.state.order(order).and_then(|o| o.lease);
    lease.map_or(0, |lease| world.state.lease(&lease).unwrap().units())
}

/// Checks the record of a plan against itself.
pub(crate) fn check_planning(planning: &Planning) {
    let goes_on = |job: &&PlannedJob| {
        let mut ends = planning.finished.iter();
        !ends.any(|f| f.order == job.order)
    };
    let mut jobs: Vec<_> = planning
        .jobs
        .iter()
        .filter(goes_on)
        .map(PlannedJob::job)
        .collect();
    for request in &planning.requests {
        let outcome = deadline::clear(&Input {
            capacity: planning.capacity.into(),
            jobs: jobs.clone(),
            new: Some(request.job.job()),
            min_gain_ppm: planning.min_gain_ppm,
        });
        let accept = outcome.unwrap().admission.unwrap().accept;
        match request.refused {
            None => {
                assert!(accept);
                jobs.push(request.job.job());
            }
            Some(OrderEnd::NoGain | OrderEnd::NoRoom | OrderEnd::Unstaked) => {}
            Some(end) => panic!("{end:?} is no answer"),
        }
    }
    let given: u32 = planning.plan.iter().map(|p| p.units).sum();
    assert!(given <= planning.capacity);
    if !planning.suspended {
        let work: u64 = jobs.iter().map(|j| j.work).sum();
        assert_eq!(
            u64::from(given),
            work.min(planning.capacity.into()),
            "no unit idles"
        );
        assert_eq!(planning.plan.len(), jobs.len());
    }
}

#[test]
fn a_job_from_order_to_payment() {
    let mut world = seller(0);
    let ten = job(&world, 10, (2, 5), (1_000, 200));
    let id = send(&mut world, 2, ten);
    assert_eq!(world.account(2), START - 1_000);
    // Taken at 16: 4 + 4 + 2 units in three slots, done at age 3, for 1,000 - floor(800 / 3).
    let effects = world.until(16);
    assert_eq!(money(&effects), [(Reason::Bond, 250)]);
    let [planning] = &plannings(&effects)[..] else {
        panic!("one offer, one planning");
    };
    check_planning(planning);
    let place = planning.plan[0];
    assert_eq!((place.units, place.done, place.pay.micros()), (4, 4, 734));
    let told = world.state.plan_in_force(&planning.offer).unwrap();
    assert_eq!(
        (told.slot, told.capacity),
        (planning.slot, planning.capacity)
    );
    let own = &told.jobs[0];
    assert_eq!(
        (own.order, own.units, own.done, own.pay),
        (id, 4, 4, place.pay)
    );
    assert_eq!((own.first, own.soft, own.hard, own.left), (2, 3, 6, 10));
    assert_eq!(own.bond, credits(250));
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    world.until(24);
    assert_eq!((units(&world, &id), world.lease_of(&id)), (4, lease));
    world.until(32);
    assert_eq!((units(&world, &id), world.lease_of(&id)), (2, lease));
    let effects = world.until(40);
    assert_eq!(
        money(&effects),
        [
            (Reason::Earning, 734),
            (Reason::Release, 250),
            (Reason::Release, 266)
        ]
    );
    assert_eq!(order_ends(&effects), [(id, OrderEnd::Served)]);
    assert_eq!(lease_ends(&effects), [(id, LeaseEnd::Expired)]);
    assert_eq!(
        (world.account(1), world.account(2)),
        (START + 734, START - 734)
    );
}

#[test]
fn idle_units_are_auctioned_until_the_plan_needs_them() {
    let mut world = seller(0);
    let four = bid(&world, &[(4, 50)], 50);
    let bidder = world.bids(&[(3, four)])[0];
    world.until(16);
    assert_eq!(units(&world, &bidder), 4);
    let lease = world.lease_of(&bidder);
    world.deliver(1, lease);
    // Six units of work: four at once, then two.
    let six = job(&world, 6, (2, 5), (1_000, 200));
    let id = send(&mut world, 2, six);
    let effects = world.until(24);
    assert_eq!((units(&world, &id), units(&world, &bidder)), (4, 0));
    assert!(lease_ends(&effects).contains(&(bidder, LeaseEnd::Outbid)));
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    world.until(32);
    assert_eq!((units(&world, &id), units(&world, &bidder)), (2, 2));
    let lease = world.lease_of(&bidder);
    world.deliver(1, lease);
    let effects = world.until(40);
    assert!(order_ends(&effects).contains(&(id, OrderEnd::Served)));
    assert_eq!(units(&world, &bidder), 4);
}

#[test]
fn a_job_waits_for_a_better_one_and_goes_on() {
    let mut world = seller(0);
    let patient = job(&world, 8, (5, 9), (900, 800));
    let patient = send(&mut world, 2, patient);
    world.until(16);
    let lease = world.lease_of(&patient);
    world.deliver(1, lease);
    let urgent = job(&world, 4, (1, 3), (900, 100));
    let urgent = send(&mut world, 3, urgent);
    let effects = world.until(24);
    assert_eq!(lease_ends(&effects), [(patient, LeaseEnd::Paused)]);
    assert_eq!((units(&world, &patient), units(&world, &urgent)), (0, 4));
    let lease = world.lease_of(&urgent);
    world.deliver(1, lease);
    let effects = world.until(32);
    assert_eq!(order_ends(&effects), [(urgent, OrderEnd::Served)]);
    let lease = world.lease_of(&patient);
    world.deliver(1, lease);
    let effects = world.until(40);
    assert_eq!(order_ends(&effects), [(patient, OrderEnd::Served)]);
    assert_eq!(world.account(1), START + 1_800);
}

#[test]
fn who_earns_too_little_or_comes_too_late_is_not_taken() {
    let mut world = seller(800_000);
    let full = job(&world, 16, (4, 4), (2_000, 2_000));
    let first = send(&mut world, 2, full);
    world.until(16);
    assert!(world.state.order(&first).unwrap().is_taken());
    // Three slots of work are left at the next boundary: after them it is worth 650 of 1,000.
    let poor = job(&world, 4, (1, 9), (1_000, 40));
    let poor = send(&mut world, 3, poor);
    let late = job(&world, 16, (1, 4), (1_000_000, 1_000_000));
    let late = send(&mut world, 4, late);
    let lease = world.lease_of(&first);
    world.deliver(1, lease);
    let effects = world.until(24);
    let mut ends = order_ends(&effects);
    ends.sort_by_key(|(_, end)| *end);
    assert_eq!(ends, [(poor, OrderEnd::NoGain), (late, OrderEnd::NoRoom)]);
    assert_eq!((world.account(3), world.account(4)), (START, START));
}

#[test]
fn a_cancelled_job_is_done_with_the_slot() {
    let mut world = seller(0);
    let long = job(&world, 12, (1, 5), (1_000, 200));
    let asks = send(&mut world, 3, long.clone());
    let cancel = world.by(3, EntryBody::Cancel { order: asks });
    let effects = world.all(vec![cancel]);
    assert_eq!(money(&effects), [(Reason::Release, 1_000)]);
    let id = send(&mut world, 2, long);
    world.until(16);
    let lease = world.lease_of(&id);
    world.deliver(1, lease);
    world.until(24);
    // In its second slot: 1,000 - 200, though it would have cost 600 when done.
    let cancel = world.by(2, EntryBody::Cancel { order: id });
    world.all(vec![cancel]);
    let effects = world.until(32);
    assert_eq!(lease_ends(&effects), [(id, LeaseEnd::Exit)]);
    assert_eq!(order_ends(&effects), [(id, OrderEnd::Cancelled)]);
    assert_eq!(
        (world.account(1), world.account(2)),
        (START + 800, START - 800)
    );
}

#[test]
fn orders_that_make_no_sense_are_refused() {
    let mut world = seller(0);
    let auctioned = world.by(1, EntryBody::SetOffer(terms(&world, 2, 4, 10, None)));
    world.all(vec![auctioned]);
    world.until(12);
    let good = job(&world, 8, (4, 9), (1_000, 200));
    let offer = good.offer;
    let refused = |world: &mut World, change: fn(&World, &mut Deadline)| {
        let mut bad = good.clone();
        change(world, &mut bad);
        let entry = world.by(2, EntryBody::Deadline(bad));
        world.refused(entry)
    };
    let other = world.offer_of(1, 2);
    assert_eq!(
        refused(&mut world, |w, d| d.offer = w.offer_of(1, 2)),
        Refusal::NotPlanned(other)
    );
    let none = world.offer_of(1, 3);
    assert_eq!(
        refused(&mut world, |w, d| d.offer = w.offer_of(1, 3)),
        Refusal::NotPlanned(none)
    );
    assert_eq!(
        refused(&mut world, |_, d| d.class = ClassId([9; 32])),
        Refusal::NoClass(ClassId([9; 32]))
    );
    assert_eq!(
        refused(&mut world, |_, d| d.unit_slots = 37),
        Refusal::TooMuchWork {
            offer,
            unit_slots: 37,
            room: 36
        }
    );
    assert_eq!(
        refused(&mut world, |_, d| d.pmin = credits(79)),
        Refusal::BelowReserve {
            offer,
            least: credits(80)
        }
    );
    let funds = refused(&mut world, |_, d| d.pmax = credits(1_000_001));
    assert!(matches!(funds, Refusal::Funds { .. }));
    for _ in 0..limits::JOBS_PER_OFFER_ACCOUNT {
        let mut job = good.clone();
        job.work = Hash32([world.fresh() as u8; 32]);
        send(&mut world, 2, job);
        if world.state.height().is_multiple_of(8) {
            break;
        }
    }
    let one_more = world.by(2, EntryBody::Deadline(good));
    let account = world.member(2);
    assert_eq!(
        world.refused(one_more),
        Refusal::JobQuota { account, offer }
    );
}

/// An offer that takes jobs, mostly; or a change of one.
pub(crate) fn random_offer(world: &World, dice: &mut Dice) -> OfferTerms {
    let gain = [0, 500_000, 1_000_000][dice.below(3) as usize];
    let mut terms = planned(
        world,
        2 + dice.below(2) as u32,
        1 + dice.below(3) as u32,
        gain,
    );
    terms.reserve.0 = dice.below(12);
    if dice.below(5) == 0 {
        terms.mechanism = Primary::Ausubel;
        terms.reclaim = Reclaim::None;
    }
    terms
}

/// A job for one of the offers that take any, or for none.
pub(crate) fn random_job(world: &mut World, dice: &mut Dice) -> Deadline {
    let takes = |terms: &OfferTerms| matches!(terms.mechanism, Primary::Deadline(_));
    let offers = world.state.offers().filter(|(_, o)| takes(&o.terms));
    let offers: Vec<_> = offers.map(|(id, _)| *id).collect();
    let some = dice.below(offers.len().max(1) as u64) as usize;
    let soft = 1 + dice.below(4) as u32;
    let pmax = 1 + dice.below(400);
    let pmin = pmax.min(dice.below(300));
    let mut job = job(
        world,
        1 + dice.below(9),
        (soft, soft + dice.below(5) as u32),
        (pmax, pmin),
    );
    if let Some(offer) = offers.get(some) {
        job.offer = *offer;
    }
    job.shape = [Shape::Linear, Shape::Convex, Shape::Concave][dice.below(3) as usize];
    job.work = Hash32([world.fresh() as u8; 32]);
    job
}
