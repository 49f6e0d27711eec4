//! How long an auction of proportional shares takes, next to its rule written down plainly.
//!
//! `cargo bench -p gridbay-protocol --bench share` prints one line per case: the time, that of the
//! plain version on the same input in the same run, and the bar. A case with a bar fails only
//! beyond three times of it, so that a busy machine does not. The two must agree on every bit, or
//! the run fails at once.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark reports to its reader")]

#[path = "../tests/mechanism/dice.rs"]
mod dice;

use dice::Dice;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use gridbay_protocol::apportion::by_largest_remainder;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, OfferId, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::share::{Input, Job, Outcome, Terms, Utility, clear};
use gridbay_protocol::offer::PoolTerms;
use gridbay_protocol::record::share::{Sharing, SharingClaim};
use gridbay_protocol::units::{Credits, Price};

/// Auctions drawn for each case.
const AUCTIONS: u64 = 8;

impl Dice {
    /// Abacus's experiment: budgets of 50 to 200 credits, weights of 0.5 to 2.
    fn auction(&mut self, terms: Terms, jobs: u64, utility: Utility) -> Input<u64> {
        let job = |id| Job {
            id,
            budget: 50_000_000 + self.below(150_000_000),
            utility,
            weights: (0..terms.types)
                .map(|_| 500_000 + self.below(1_500_000) as u32)
                .collect(),
        };
        let jobs = (0..jobs).map(job).collect();
        Input { terms, jobs }
    }
}

/// The rule as its specification states it: rivals' powers summed up anew for each pass would be
/// slower still, so this keeps them, but nothing else. Roots are the standard library's, every part
/// is a division of its own.
mod plain {
    use super::{Input, Terms, Utility, by_largest_remainder};

    const ONE: u128 = 1 << 32;

    fn power(part: u64, terms: &Terms) -> u128 {
        let x = u128::from(part) << 32;
        if terms.sixteenths == 16 {
            return x;
        }
        let (mut power, mut root) = (ONE, x);
        for bit in [8, 4, 2, 1] {
            root = (root << 32).isqrt();
            if terms.sixteenths & bit != 0 {
                power = (power * root) >> 32;
            }
        }
        power
    }

    fn share(own: u128, sum: u128) -> u64 {
        (own << 32).checked_div(sum).unwrap_or(0) as u64
    }

    /// Rounds, the split budgets and the shares.
    pub(super) fn clear(input: &Input<u64>) -> (u32, Vec<Vec<u64>>, Vec<Vec<u64>>) {
        let terms = &input.terms;
        let even = vec![1; terms.types];
        let powers =
            |parts: &[u64]| -> Vec<u128> { parts.iter().map(|b| power(*b, terms)).collect() };
        let mut parts: Vec<Vec<u64>> = input
            .jobs
            .iter()
            .map(|job| by_largest_remainder(job.budget, &even))
            .collect();
        let sum = |parts: &[Vec<u64>], but: usize| {
            let mut sum = vec![0; terms.types];
            for (_, row) in parts.iter().enumerate().filter(|(job, _)| *job != but) {
                for (sum, power) in sum.iter_mut().zip(powers(row)) {
                    *sum += power;
                }
            }
            sum
        };
        let mut rounds = 0;
        let mut all = sum(&parts, usize::MAX);
        loop {
            let mut change = 0;
            for (index, job) in input.jobs.iter().enumerate() {
                let before = parts[index].clone();
                let rivals: Vec<u128> = all
                    .iter()
                    .zip(powers(&before))
                    .map(|(a, p)| a - p)
                    .collect();
                for _ in 0..terms.inner {
                    let pull = |(kind, own): (usize, u128)| {
                        let s = u128::from(share(own, rivals[kind] + own));
                        let w = u128::from(job.weights[kind]);
                        match job.utility {
                            Utility::Linear => ((w * s * (ONE - s)) >> 32) as u64,
                            Utility::Log => (w * (ONE - s)) as u64,
                        }
                    };
                    let own = powers(&parts[index]);
                    let pulls: Vec<u64> = own.into_iter().enumerate().map(pull).collect();
                    if pulls.iter().any(|h| *h > 0) {
                        parts[index] = by_largest_remainder(job.budget, &pulls);
                    }
                }
                let own = powers(&parts[index]);
                all = rivals.iter().zip(own).map(|(a, p)| a + p).collect();
                let changes = parts[index]
                    .iter()
                    .zip(&before)
                    .map(|(a, b)| a.abs_diff(*b));
                change = changes.fold(change, u64::max);
            }
            rounds += 1;
            if change < terms.eps || rounds == terms.max_rounds {
                break;
            }
        }
        let sums = sum(&parts, usize::MAX);
        let shares = |row: &Vec<u64>| {
            let own = powers(row);
            own.iter()
                .zip(&sums)
                .map(|(p, sum)| share(*p, *sum))
                .collect()
        };
        let shares = parts.iter().map(shares).collect();
        (rounds, parts, shares)
    }
}

/// The median time of one auction over nine runs of all, in milliseconds. Each is timed by itself:
/// on a busy machine few of so short runs are interrupted.
fn median<R>(inputs: &[Input<u64>], run: impl Fn(&Input<u64>) -> R) -> f64 {
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..9 {
        for input in inputs {
            let start = Instant::now();
            black_box(run(black_box(input)));
            times.push(start.elapsed());
        }
    }
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn equal(outcome: &Outcome<u64>, plain: &(u32, Vec<Vec<u64>>, Vec<Vec<u64>>)) -> bool {
    let parts = outcome.awards.iter().map(|award| &award.parts);
    let shares = outcome.awards.iter().map(|award| &award.shares);
    outcome.rounds == plain.0 && parts.eq(&plain.1) && shares.eq(&plain.2)
}

/// Prints a case and says whether it agrees with the plain version and is within three times its
/// bar.
fn report(name: &str, inputs: &[Input<u64>], bar: Option<f64>) -> bool {
    let outcomes: Vec<Outcome<u64>> = inputs
        .iter()
        .filter_map(|input| clear(input).ok())
        .collect();
    let plainly: Vec<_> = inputs.iter().map(plain::clear).collect();
    if outcomes.len() != inputs.len() || !outcomes.iter().zip(&plainly).all(|(o, p)| equal(o, p)) {
        println!("{name}: it disagrees with the plain version");
        return false;
    }
    let fast = median(inputs, clear);
    let slow = median(inputs, plain::clear);
    let rounds = outcomes.iter().map(|o| o.rounds).sum::<u32>() as f64 / inputs.len() as f64;
    let goal = bar.map_or("reported".to_owned(), |bar| format!("bar {bar:.1} ms"));
    println!(
        "{name:<36} {rounds:5.1} rounds {fast:8.3} ms | plainly {slow:8.3} ms, {:4.1}x | {goal}",
        slow / fast
    );
    bar.is_none_or(|bar| fast <= 3.0 * bar)
}

/// The worth of the first job's shares by its true weights.
fn worth(truth: &Job<u64>, input: &Input<u64>) -> f64 {
    let Ok(outcome) = clear(input) else {
        return 0.0;
    };
    let holds = |kind| {
        let own = outcome.awards.iter().filter(|award| award.id % 1_000 == 0);
        own.map(|award| award.shares[kind] as f64).sum::<f64>()
    };
    let weighed = truth.weights.iter().enumerate();
    weighed.map(|(kind, w)| f64::from(*w) * holds(kind)).sum()
}

/// Prints what one job can gain by other weights than its own, the best of 100 drawn, and by
/// splitting its budget over accounts: the mean over 20 auctions of 4 types and linear utility.
/// `times` is its budget, of the others' mean.
fn manipulations(jobs: u64, times: u64, sixteenths: u32) {
    let mut dice = Dice(9);
    let terms = Terms {
        sixteenths,
        eps: 1_000,
        ..Terms::usual(4)
    };
    let (mut misstated, mut split) = (0.0, 0.0);
    for _ in 0..20 {
        let mut input = dice.auction(terms, jobs, Utility::Linear);
        input.jobs[0].budget = times * 125_000_000;
        let truth = input.jobs[0].clone();
        let honest = worth(&truth, &input);
        let mut best = honest;
        for _ in 0..100 {
            for weight in &mut input.jobs[0].weights {
                *weight = 500_000 + dice.below(1_500_000) as u32;
            }
            best = best.max(worth(&truth, &input));
        }
        misstated += (best / honest - 1.0) / 20.0;
        input.jobs[0] = truth.clone();
        input.jobs[0].budget /= 2;
        let mut second = input.jobs[0].clone();
        second.id = 1_000;
        input.jobs.push(second);
        split += (worth(&truth, &input) / honest - 1.0) / 20.0;
    }
    println!(
        "e {jobs:3} jobs, alpha {sixteenths:2}/16, one of {times:2} budgets: gains {:6.2} % by other weights, {:5.1} % by two accounts",
        misstated * 100.0,
        split * 100.0
    );
}

/// The fullest pool on the ledger, with weights and rates as hostile as they may be: whether the
/// slowest of 48 sharings stays within a hundredth of a second.
fn full_pools() -> bool {
    let mut dice = Dice(3);
    let mut worst = (0.0, 0);
    for n in 0..48u32 {
        let weight = |dice: &mut Dice| [0, 1, 2, 3, u32::MAX][dice.below(5) as usize];
        let mut claims = Vec::new();
        for id in 0..limits::CLAIMS_PER_POOL as u8 {
            let most = 1 << (10 + dice.below(40));
            claims.push(SharingClaim {
                order: OrderId([id; 32]),
                sponsor: AccountId([id % 5; 32]),
                rate: Credits::from_micros(1 + dice.below(most)).unwrap_or(Credits::ZERO),
                utility: [Utility::Linear, Utility::Log][dice.below(2) as usize],
                weights: (0..4)
                    .map(|kind| weight(&mut dice).max(u32::from(kind == 0)))
                    .collect(),
                tasks: 1 + dice.below(4_096) as u32,
            });
        }
        let sharing = Sharing {
            offer: OfferId([1; 32]),
            class: ClassId([2; 32]),
            height: 8,
            slot: 1,
            units: limits::OFFER_UNITS,
            reserve: Price(dice.below(100)),
            terms: PoolTerms {
                cap_ppm: 500_000,
                sixteenths: [8, 15, 16][n as usize % 3],
            },
            draw: Hash32([n as u8; 32]),
            claims,
            awards: vec![],
        };
        let rounds = sharing.shares().map_or(0, |outcome| outcome.rounds);
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..5 {
            let start = Instant::now();
            black_box(black_box(&sharing).divide());
            times.push(start.elapsed());
        }
        times.sort_unstable();
        let time = times[2].as_secs_f64() * 1e3;
        if time > worst.0 {
            worst = (time, rounds);
        }
    }
    println!(
        "f {} claims on a pool, the slowest of 48: {:.2} ms for {} rounds | bar 10 ms",
        limits::CLAIMS_PER_POOL,
        worst.0,
        worst.1
    );
    worst.0 <= 30.0
}

/// A kind of auctions to time: name, terms, jobs, utility and the milliseconds that one may take.
type Timed = (&'static str, Terms, u64, Utility, Option<f64>);

fn cases() -> Vec<Timed> {
    use Utility::{Linear, Log};
    let (four, eight) = (Terms::usual(4), Terms::usual(8));
    let at = |sixteenths, terms| Terms {
        sixteenths,
        ..terms
    };
    // Cycles of single micro-credits that never settle, the reason for the limit of steps.
    let restless = Terms {
        eps: 1,
        ..at(15, eight)
    };
    vec![
        ("a 128 jobs, 4 types, linear", four, 128, Linear, Some(1.0)),
        ("a 128 jobs, 4 types, log", four, 128, Log, Some(1.0)),
        (
            "b the same, linear, alpha 15/16",
            at(15, four),
            128,
            Linear,
            None,
        ),
        (
            "b the same, linear, alpha 1",
            at(16, four),
            128,
            Linear,
            None,
        ),
        ("c 32 jobs, 4 types, linear", four, 32, Linear, None),
        ("c 512 jobs, 8 types, linear", eight, 512, Linear, None),
        (
            "d 512 jobs, 8 types, eps 1, 15/16",
            restless,
            512,
            Linear,
            None,
        ),
    ]
}

fn main() -> ExitCode {
    let mut dice = Dice(1);
    let mut good = true;
    for (name, terms, jobs, utility, bar) in cases() {
        let auctions = (0..AUCTIONS).map(|_| dice.auction(terms, jobs, utility));
        good &= report(name, &auctions.collect::<Vec<_>>(), bar);
    }
    for (jobs, times) in [(4, 1), (32, 1), (32, 30), (128, 1)] {
        manipulations(jobs, times, 8);
    }
    manipulations(32, 1, 12);
    good &= full_pools();
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
