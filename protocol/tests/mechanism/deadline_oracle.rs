//! Deadline planning against oracles: every order played through, and a full table over sets.

use crate::deadline_support::{brute_force, full_table, ids, jobs, plan, play};
use crate::support::Dice;
use gridbay_protocol::mechanism::deadline::{Input, Job, clear};

#[test]
fn up_to_six_jobs_equal_every_order_played() {
    let mut dice = Dice(51);
    let (mut planned, mut tied) = (0, 0);
    for round in 0..3_000 {
        let capacity = dice.within(1, 9);
        let count = dice.below(7);
        let jobs = jobs(&mut dice, count, capacity);
        let oracle = brute_force(capacity, &jobs);
        let Some(plan) = plan(capacity, &jobs) else {
            assert!(oracle.is_none(), "{round}: {capacity} {jobs:?}");
            continue;
        };
        let (order, played) = oracle.unwrap_or_else(|| panic!("{round}: nobody can plan this"));
        assert_eq!(ids(&plan), order, "{round}: {capacity} {jobs:?}");
        assert_eq!(plan.revenue as i128, played.revenue, "{round}");
        for (stint, runs) in plan.stints.iter().zip(played.allocation) {
            assert_eq!(stint.completion, runs.last().unwrap().0, "{round}");
            let allocation: Vec<_> = stint.allocation(capacity).collect();
            assert_eq!(allocation, runs, "{round}");
        }
        planned += 1;
        tied += u32::from(jobs.len() > 1 && order.is_sorted());
    }
    assert!(
        planned > 1_500 && planned < 2_900 && tied > 300,
        "{planned} {tied}"
    );
}

#[test]
fn more_jobs_equal_the_full_table() {
    let mut dice = Dice(52);
    let mut planned = 0;
    for round in 0..150 {
        let capacity = dice.within(1, 50);
        let count = dice.within(7, 11);
        let jobs = jobs(&mut dice, count, capacity);
        let plan = plan(capacity, &jobs);
        let mine = plan.map(|plan| (plan.revenue as i128, ids(&plan)));
        planned += u32::from(mine.is_some());
        assert_eq!(
            mine,
            full_table(capacity, &jobs),
            "{round}: {capacity} {jobs:?}"
        );
    }
    assert!(planned > 50 && planned < 150, "{planned}");
}

#[test]
fn new_jobs_are_accepted_for_their_gain_alone() {
    let mut dice = Dice(53);
    let mut accepted = [0u32; 2];
    for round in 0..1_500 {
        let capacity = dice.within(1, 9);
        let count = dice.within(1, 5);
        let all = jobs(&mut dice, count, capacity);
        let (new, jobs) = all.split_last().unwrap();
        let min_gain_ppm = [0, 1, 500_000, 800_000, 1_000_000][dice.below(5) as usize];
        let input = Input {
            capacity,
            jobs: jobs.to_vec(),
            new: Some(new.clone()),
            min_gain_ppm,
        };
        let outcome = clear(&input).unwrap();
        let revenue = |jobs: &[Job<u64>]| brute_force(capacity, jobs).map(|best| best.1.revenue);
        let worth = |old: i128, new_revenue: i128| {
            let gain = new_revenue - old;
            gain >= 1 && gain * 1_000_000 >= i128::from(min_gain_ppm) * i128::from(new.pmax)
        };
        let (old, with) = (revenue(jobs), revenue(&all));
        let accept = with.is_some_and(|with| old.is_none_or(|old| worth(old, with)));
        let admission = outcome.admission.unwrap();
        assert_eq!(
            outcome.plan.map(|plan| plan.revenue as i128),
            old,
            "{round}"
        );
        assert_eq!(
            admission.plan.map(|plan| plan.revenue as i128),
            with,
            "{round}"
        );
        assert_eq!(admission.accept, accept, "{round}: {input:?}");
        accepted[usize::from(accept)] += 1;
    }
    assert!(accepted.iter().all(|&n| n > 300), "{accepted:?}");
}

#[test]
fn the_order_by_deadline_is_null_exactly_when_no_order_is_on_time() {
    let mut dice = Dice(54);
    for round in 0..1_500 {
        let capacity = dice.within(1, 9);
        let count = dice.below(6);
        let jobs = jobs(&mut dice, count, capacity);
        let input = Input {
            capacity,
            jobs: jobs.clone(),
            new: None,
            min_gain_ppm: 0,
        };
        let Some(edf) = clear(&input).unwrap().edf else {
            assert!(brute_force(capacity, &jobs).is_none(), "{round}");
            continue;
        };
        let job = |id: &u64| jobs.iter().find(|job| job.id == *id).unwrap();
        let order: Vec<_> = edf.iter().map(job).collect();
        assert_eq!(order.len(), jobs.len());
        assert!(play(capacity, &order).is_some(), "{round}");
        let left = |job: &Job<u64>| i64::from(job.hard) - i64::from(job.elapsed);
        assert!(order.is_sorted_by_key(|job| (left(job), job.id)), "{round}");
    }
}
