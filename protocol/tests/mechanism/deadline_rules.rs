//! Deadline planning: what every plan keeps, how good the local search is, where the ranges end.

use crate::deadline_support::{ids, jobs, plan, price};
use crate::support::Dice;
use gridbay_protocol::mechanism::deadline::{
    CAPACITY, EXACT_JOBS, Error, HORIZON, Input, JOBS, Job, PRICE, Plan, Shape, WHOLE_PPM, WORK,
    approximate, clear,
};

/// The rules that hold for every plan, whoever found it.
fn keeps_the_rules(capacity: u64, jobs: &[Job<u64>], plan: &Plan<u64>) {
    let mut sorted: Vec<u64> = ids(plan);
    sorted.sort_unstable();
    let mut all: Vec<u64> = jobs.iter().map(|job| job.id).collect();
    all.sort_unstable();
    assert_eq!(sorted, all, "every job once");
    let mut used = std::collections::BTreeMap::new();
    let mut revenue = 0;
    for stint in &plan.stints {
        let job = jobs.iter().find(|job| job.id == stint.id).unwrap();
        let runs: Vec<(u64, u64)> = stint.allocation(capacity).collect();
        assert_eq!(
            runs.iter().map(|run| run.1).sum::<u64>(),
            job.work,
            "all its work"
        );
        assert_eq!(runs.last().unwrap().0, stint.completion);
        assert!(
            u64::from(job.elapsed) + stint.completion <= u64::from(job.hard),
            "late"
        );
        assert!(
            (job.pmin..=job.pmax).contains(&stint.pay),
            "a price outside its range"
        );
        assert_eq!(Some(i128::from(stint.pay)), price(job, stint.completion));
        revenue += u128::from(stint.pay);
        for (interval, units) in runs {
            assert!(units > 0);
            *used.entry(interval).or_insert(0) += units;
        }
    }
    assert_eq!(plan.revenue, revenue);
    let last = used.keys().copied().max().unwrap_or(0);
    let full = |(&interval, &units): (&u64, &u64)| {
        units == capacity || (interval == last && units <= capacity)
    };
    assert!(
        used.iter().all(full),
        "idle units before the end, or more than there are"
    );
    assert_eq!(used.len() as u64, last);
}

fn revenue_by_deadline(capacity: u64, jobs: &[Job<u64>]) -> i128 {
    let mut order: Vec<&Job<u64>> = jobs.iter().collect();
    order.sort_by_key(|job| (i64::from(job.hard) - i64::from(job.elapsed), job.id));
    let mut end = 0;
    let pay = |job: &&Job<u64>| {
        end += job.work;
        price(job, end.div_ceil(capacity)).unwrap()
    };
    order.iter().map(pay).sum()
}

#[test]
fn every_plan_keeps_the_rules_whatever_the_order_of_the_jobs() {
    let mut dice = Dice(61);
    let mut planned = [0u32; 2];
    for _ in 0..300 {
        let capacity = dice.within(1, 40);
        let count = [dice.below(12), dice.within(19, 40)][dice.below(2) as usize];
        let mut jobs = jobs(&mut dice, count, capacity);
        let (first, rough) = (plan(capacity, &jobs), approximate(capacity, &jobs).unwrap());
        dice.shuffle(&mut jobs);
        assert_eq!(plan(capacity, &jobs), first);
        assert_eq!(approximate(capacity, &jobs).unwrap(), rough);
        let (Some(first), Some(rough)) = (&first, &rough) else {
            assert_eq!(first, rough);
            continue;
        };
        keeps_the_rules(capacity, &jobs, first);
        keeps_the_rules(capacity, &jobs, rough);
        assert!(rough.revenue as i128 >= revenue_by_deadline(capacity, &jobs));
        let many = jobs.len() > EXACT_JOBS;
        assert!(if many {
            first == rough
        } else {
            first.revenue >= rough.revenue
        });
        planned[usize::from(many)] += 1;
    }
    assert!(planned.iter().all(|&n| n > 50), "{planned:?}");
}

#[test]
fn the_local_search_is_nearly_exact() {
    let mut dice = Dice(62);
    let (mut planned, mut exact, mut worst) = (0u32, 0u32, 0.0f64);
    while planned < 500 {
        let capacity = dice.within(1, 1_000);
        let count = dice.within(2, 11);
        let jobs = jobs(&mut dice, count, capacity);
        let Some(best) = plan(capacity, &jobs) else {
            continue;
        };
        let near = approximate(capacity, &jobs).unwrap().unwrap();
        assert!(near.revenue <= best.revenue);
        planned += 1;
        exact += u32::from(near.revenue == best.revenue);
        let gap = (best.revenue - near.revenue) as f64 / (best.revenue as f64).max(1.0);
        worst = worst.max(gap);
    }
    assert!(
        exact * 100 >= planned * 95 && worst < 0.05,
        "{exact} of {planned}, gap {worst}"
    );
}

fn job(id: u64) -> Job<u64> {
    Job {
        id,
        work: 1,
        elapsed: 0,
        soft: 1,
        hard: 2,
        pmax: 2,
        pmin: 1,
        shape: Shape::Linear,
    }
}

fn with(jobs: Vec<Job<u64>>, new: Option<Job<u64>>) -> Input<u64> {
    Input {
        capacity: 1,
        jobs,
        new,
        min_gain_ppm: 0,
    }
}

#[test]
fn the_largest_numbers_are_planned_and_do_not_overflow() {
    let mut dice = Dice(63);
    for (count, shape) in [
        (18, Shape::Convex),
        (JOBS as u64, Shape::Linear),
        (JOBS as u64, Shape::Concave),
    ] {
        let jobs: Vec<Job<u64>> = (0..count)
            .map(|id| Job {
                id,
                work: WORK / count - dice.below(1 << 20),
                elapsed: 0,
                soft: dice.below(u64::from(HORIZON)) as u32,
                hard: HORIZON,
                pmax: PRICE,
                pmin: dice.below(1 << 20),
                shape,
            })
            .collect();
        let plan = plan(CAPACITY, &jobs).unwrap();
        assert_eq!(plan.stints.len() as u64, count);
        assert!(plan.revenue > u128::from(PRICE), "{}", plan.revenue);
    }
    // All of the work there can be, as old as can be: refused by arithmetic that does not overflow.
    let giant = |id| Job {
        work: WORK,
        elapsed: HORIZON,
        soft: 0,
        hard: HORIZON,
        pmax: PRICE,
        pmin: 0,
        ..job(id)
    };
    let giants = with((0..JOBS as u64).map(giant).collect(), None);
    assert_eq!(clear(&giants).unwrap().plan, None);
}

#[test]
fn inputs_beyond_the_ranges_are_refused_by_name() {
    type Spoil = fn(&mut Job<u64>);
    let cases: [(Spoil, Error<u64>); 8] = [
        (|j| j.id = 1, Error::DuplicateId(1)),
        (|j| j.work = 0, Error::NoWork(2)),
        (|j| j.work = WORK + 1, Error::TooMuchWork(2)),
        (|j| j.soft = 3, Error::InvertedWindow(2)),
        (|j| j.hard = HORIZON + 1, Error::BeyondHorizon(2)),
        (|j| j.elapsed = HORIZON + 1, Error::BeyondHorizon(2)),
        (|j| j.pmin = 3, Error::InvertedPrices(2)),
        (|j| j.pmax = PRICE + 1, Error::PriceTooHigh(2)),
    ];
    for (spoil, error) in cases {
        let mut bad = job(2);
        spoil(&mut bad);
        assert_eq!(
            clear(&with(vec![job(1), bad.clone()], None)),
            Err(error.clone())
        );
        assert_eq!(
            clear(&with(vec![job(1)], Some(bad.clone()))),
            Err(error.clone())
        );
        assert_eq!(approximate(1, &[bad, job(1)]), Err(error));
    }
    let many: Vec<Job<u64>> = (0..JOBS as u64).map(job).collect();
    assert_eq!(clear(&with(many.clone(), None)).map(|o| o.plan), Ok(None));
    assert_eq!(
        clear(&with(many, Some(job(999)))),
        Err(Error::TooManyJobs(JOBS + 1))
    );
    let mut input = with(vec![job(1)], None);
    input.capacity = CAPACITY + 1;
    assert_eq!(clear(&input), Err(Error::TooMuchCapacity(CAPACITY + 1)));
    input.capacity = CAPACITY;
    input.min_gain_ppm = WHOLE_PPM + 1;
    assert_eq!(clear(&input), Err(Error::GainTooHigh(WHOLE_PPM + 1)));
}

#[test]
fn without_capacity_only_no_jobs_can_be_planned() {
    let mut input = with(vec![], Some(job(1)));
    input.capacity = 0;
    let outcome = clear(&input).unwrap();
    assert_eq!(outcome.plan.map(|plan| plan.stints.len()), Some(0));
    assert!(
        outcome
            .admission
            .is_some_and(|a| !a.accept && a.plan.is_none())
    );
    assert_eq!(plan(0, &[job(1)]), None);
}
