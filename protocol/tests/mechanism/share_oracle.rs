//! Proportional shares against a restatement of their rule, and as best responses found by trying
//! others.

use crate::support::Dice;
use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::share::{
    BUDGET_END, Error, INNER_MAX, Input, JOBS_MAX, Job, ROUNDS_MAX, STEPS_MAX, Share, TYPES_MAX,
    Terms, Utility, clear,
};
use proptest::prelude::*;

const ONE: u128 = 1 << 32;

fn auction(dice: &mut Dice, jobs: u64) -> Input<u64> {
    let terms = Terms {
        types: dice.within(1, TYPES_MAX as u64) as usize,
        sixteenths: dice.below(17) as u32,
        eps: dice.within(1, 100_000),
        max_rounds: dice.within(1, 25) as u32,
        inner: dice.within(1, 6) as u32,
    };
    // From micro-credits to the limit, so that some budgets are nothing beside others.
    let bits = dice.within(1, 50);
    let job = |id: u64| Job {
        id: id * 3 % 16 + 16 * id,
        budget: dice.below(1 << bits),
        utility: [Utility::Linear, Utility::Log][dice.below(2) as usize],
        weights: (0..terms.types)
            .map(|_| [dice.below(3), dice.below(1 << 32)][dice.below(2) as usize] as u32)
            .collect(),
    };
    let jobs = (0..jobs).map(job).collect();
    Input { terms, jobs }
}

/// The largest number whose square is at most `n`, bit by bit.
fn root(n: u128) -> u128 {
    let mut root = 0u128;
    for bit in (0..64).rev() {
        let next = root | 1 << bit;
        if next.checked_mul(next).is_some_and(|square| square <= n) {
            root = next;
        }
    }
    root
}

/// Roots of roots from the sixteenth upwards.
fn power(part: u64, sixteenths: u32) -> u128 {
    let x = u128::from(part) << 32;
    let mut power = if sixteenths == 16 { x } else { ONE };
    let mut base = x;
    for level in 1..=4 {
        base = root(base << 32);
        if (sixteenths % 16) & (16 >> level) != 0 {
            power = (power * base) >> 32;
        }
    }
    power
}

fn by_remainders(total: u64, weights: &[u128]) -> Vec<u64> {
    let sum: u128 = weights.iter().sum();
    let wide = u128::from(total);
    let mut parts: Vec<(u128, usize, u64)> = weights
        .iter()
        .enumerate()
        .map(|(i, w)| (wide * w % sum, i, (wide * w / sum) as u64))
        .collect();
    let missing = total - parts.iter().map(|p| p.2).sum::<u64>();
    parts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    for part in &mut parts[..missing as usize] {
        part.2 += 1;
    }
    parts.sort_by_key(|part| part.1);
    parts.into_iter().map(|part| part.2).collect()
}

/// Shares of one type under these parts of all budgets.
fn shares(parts: &[Vec<u64>], kind: usize, sixteenths: u32) -> Vec<u64> {
    let powers: Vec<u128> = parts.iter().map(|b| power(b[kind], sixteenths)).collect();
    let sum: u128 = powers.iter().sum();
    let share = |p: &u128| (p << 32).checked_div(sum).unwrap_or(0) as u64;
    powers.iter().map(share).collect()
}

/// Parts, rounds and whether they converged; every power of every job anew for every pass.
fn oracle(terms: &Terms, jobs: &[Job<u64>]) -> (Vec<Vec<u64>>, u32, bool) {
    if jobs.is_empty() {
        return (vec![], 0, true);
    }
    let even = vec![1; terms.types];
    let mut parts: Vec<Vec<u64>> = jobs
        .iter()
        .map(|j| by_remainders(j.budget, &even))
        .collect();
    for round in 1..=terms.max_rounds {
        let before = parts.clone();
        for (index, job) in jobs.iter().enumerate() {
            for _ in 0..terms.inner {
                let pull = |kind| {
                    let share = u128::from(shares(&parts, kind, terms.sixteenths)[index]);
                    let weight = u128::from(job.weights[kind]);
                    match job.utility {
                        Utility::Linear => (weight * share * (ONE - share)) >> 32,
                        Utility::Log => weight * (ONE - share),
                    }
                };
                let pulls: Vec<u128> = (0..terms.types).map(pull).collect();
                if pulls.iter().any(|pull| *pull > 0) {
                    parts[index] = by_remainders(job.budget, &pulls);
                }
            }
        }
        let mut changes = parts.iter().flatten().zip(before.iter().flatten());
        if changes.all(|(a, b)| a.abs_diff(*b) < terms.eps) {
            return (parts, round, true);
        }
    }
    (parts, terms.max_rounds, false)
}

#[test]
fn auctions_are_those_of_the_oracle() {
    let mut dice = Dice(11);
    for _ in 0..150 {
        let jobs = dice.below(7);
        let mut input = auction(&mut dice, jobs);
        let (parts, rounds, converged) = oracle(&input.terms, &input.jobs);
        dice.shuffle(&mut input.jobs);
        let outcome = clear(&input).unwrap();
        assert_eq!((outcome.rounds, outcome.converged), (rounds, converged));
        for kind in 0..input.terms.types {
            let shares = shares(&parts, kind, input.terms.sixteenths);
            for (award, (parts, share)) in outcome.awards.iter().zip(parts.iter().zip(shares)) {
                assert_eq!(
                    (award.parts[kind], award.shares[kind]),
                    (parts[kind], share)
                );
            }
        }
        assert_eq!(Share::<u64>::audit(&input, &outcome), Ok(()));
    }
}

proptest! {
    #[test]
    fn budgets_are_spent_shares_fit_and_the_order_does_not_matter(seed: u64, jobs in 0u64..40) {
        let mut dice = Dice(seed);
        let mut input = auction(&mut dice, jobs);
        let outcome = clear(&input).unwrap();
        prop_assert_eq!(&outcome, &clear(&input).unwrap());
        for award in &outcome.awards {
            let job = input.jobs.iter().find(|job| job.id == award.id).unwrap();
            prop_assert_eq!(award.parts.iter().sum::<u64>(), job.budget);
        }
        for kind in 0..input.terms.types {
            let held: u128 = outcome.awards.iter().map(|a| u128::from(a.shares[kind])).sum();
            // Each share is rounded down by less than one unit.
            prop_assert!(held <= ONE && (held == 0 || held > ONE - outcome.awards.len() as u128));
        }
        dice.shuffle(&mut input.jobs);
        prop_assert_eq!(&outcome, &clear(&input).unwrap());
    }
}

/// The utility that a job draws from a split of its budget, against the powers of its rivals.
fn worth(job: &Job<u64>, parts: &[f64], rivals: &[f64], alpha: f64) -> f64 {
    let mut worth = 0.0;
    for ((part, rivals), weight) in parts.iter().zip(rivals).zip(&job.weights) {
        let power = part.powf(alpha);
        let share = power / (power + rivals);
        worth += f64::from(*weight)
            * match job.utility {
                Utility::Linear => share,
                Utility::Log => share.ln(),
            };
    }
    worth
}

#[test]
fn no_job_gains_by_another_split_once_the_auction_converged() {
    let mut dice = Dice(5);
    let mut tried = 0;
    for _ in 0..60 {
        let jobs = dice.within(2, 12);
        let mut input = auction(&mut dice, jobs);
        input.terms = Terms {
            sixteenths: dice.within(2, 14) as u32,
            eps: 1_000,
            max_rounds: ROUNDS_MAX,
            ..Terms::usual(input.terms.types.max(2))
        };
        for job in &mut input.jobs {
            job.budget = dice.within(50_000_000, 200_000_000);
            job.weights = (0..input.terms.types)
                .map(|_| dice.within(5, 20) as u32)
                .collect();
        }
        let outcome = clear(&input).unwrap();
        assert!(outcome.converged);
        let alpha = f64::from(input.terms.sixteenths) / 16.0;
        let mut jobs = input.jobs.clone();
        jobs.sort_by_key(|job| job.id);
        for (index, job) in jobs.iter().enumerate() {
            let power = |kind: usize| {
                let all = outcome
                    .awards
                    .iter()
                    .map(|a| (a.parts[kind] as f64).powf(alpha));
                all.enumerate()
                    .filter(|(i, _)| *i != index)
                    .map(|(_, p)| p)
                    .sum()
            };
            let rivals: Vec<f64> = (0..input.terms.types).map(power).collect();
            let parts: Vec<f64> = outcome.awards[index]
                .parts
                .iter()
                .map(|b| *b as f64)
                .collect();
            let reached = worth(job, &parts, &rivals, alpha);
            // From a ten-thousandth of the part to most of it, from each type to each other.
            for from in 0..parts.len() {
                for to in (0..parts.len()).filter(|to| *to != from) {
                    for moved in [0.0001, 0.001, 0.01, 0.1, 0.5, 0.9] {
                        let mut other = parts.clone();
                        other[from] -= moved * parts[from];
                        other[to] += moved * parts[from];
                        let gain = worth(job, &other, &rivals, alpha) - reached;
                        assert!(gain <= 1e-7 * reached.abs(), "{gain} of {reached}");
                        tried += 1;
                    }
                }
            }
        }
    }
    assert!(tried > 20_000);
}

#[test]
fn the_largest_auctions_stay_within_their_numbers() {
    for (sixteenths, utility) in [
        (16, Utility::Linear),
        (15, Utility::Log),
        (0, Utility::Linear),
    ] {
        let terms = Terms {
            sixteenths,
            eps: 1,
            max_rounds: 3,
            ..Terms::usual(TYPES_MAX)
        };
        let job = |id: u64| Job {
            id,
            // Every third has next to nothing.
            budget: if id.is_multiple_of(3) {
                id % 2
            } else {
                BUDGET_END - 1
            },
            utility,
            weights: (0..8)
                .map(|kind| u32::MAX >> (kind * (id % 5) as u32))
                .collect(),
        };
        let jobs = (0..JOBS_MAX as u64).map(job).collect();
        let input = Input { terms, jobs };
        let outcome = clear(&input).unwrap();
        assert_eq!(Share::<u64>::audit(&input, &outcome), Ok(()));
    }
}

#[test]
fn what_is_out_of_range_is_refused_by_name() {
    let input = auction(&mut Dice(1), 3);
    let refusal = |change: &dyn Fn(&mut Input<u64>)| {
        let mut input = input.clone();
        input.terms.types = input.jobs[0].weights.len();
        change(&mut input);
        clear(&input).unwrap_err()
    };
    assert_eq!(refusal(&|i| i.terms.types = 0), Error::Types(0));
    assert_eq!(refusal(&|i| i.terms.types = 9), Error::Types(9));
    assert_eq!(refusal(&|i| i.terms.sixteenths = 17), Error::Sixteenths(17));
    assert_eq!(refusal(&|i| i.terms.eps = 0), Error::Eps);
    assert_eq!(refusal(&|i| i.terms.max_rounds = 0), Error::Rounds(0));
    let rounds = ROUNDS_MAX + 1;
    assert_eq!(
        refusal(&|i| i.terms.max_rounds = rounds),
        Error::Rounds(rounds)
    );
    assert_eq!(refusal(&|i| i.terms.inner = 0), Error::Inner(0));
    let inner = INNER_MAX + 1;
    assert_eq!(refusal(&|i| i.terms.inner = inner), Error::Inner(inner));
    let many = |i: &mut Input<u64>| i.jobs = vec![i.jobs[0].clone(); JOBS_MAX + 1];
    assert_eq!(refusal(&many), Error::Jobs(JOBS_MAX + 1));
    let long = |i: &mut Input<u64>| {
        i.jobs = vec![i.jobs[0].clone(); JOBS_MAX];
        i.terms = Terms {
            max_rounds: ROUNDS_MAX,
            inner: INNER_MAX,
            ..Terms::usual(TYPES_MAX)
        };
    };
    let steps = 512 * 8 * 500 * 16;
    assert_eq!(refusal(&long), Error::Steps(steps));
    assert!(steps > STEPS_MAX);
    let twice = |i: &mut Input<u64>| i.jobs[0].id = i.jobs[2].id;
    assert_eq!(refusal(&twice), Error::DuplicateId(input.jobs[2].id));
    let (id, budget) = (input.jobs[1].id, BUDGET_END);
    assert_eq!(
        refusal(&|i| i.jobs[1].budget = budget),
        Error::Budget { id, budget }
    );
    let types = input.jobs[1].weights.len();
    let weights = types + 1;
    assert_eq!(
        refusal(&|i| i.jobs[1].weights.push(1)),
        Error::Weights { id, weights, types }
    );
}
