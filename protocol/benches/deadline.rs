//! How long deadline planning takes, next to a full table over sets of jobs without any pruning.
//!
//! `cargo bench -p gridbay-protocol --bench deadline` prints one line per case, and the loss of the
//! local search on markets that can be planned exactly. A case fails the run only beyond three
//! times its bar, so that a busy machine does not.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark reports to its reader")]
#![allow(clippy::unwrap_used, reason = "its markets are within the ranges")]

#[path = "../tests/mechanism/dice.rs"]
mod dice;

use dice::Dice;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use gridbay_protocol::limits;
use gridbay_protocol::mechanism::deadline::{Input, Job, Plan, Shape, approximate, clear};

/// Units per interval, as in the paper.
const CAPACITY: u64 = 1_000;
/// Runs of everything that is timed.
const RUNS: u32 = 5;

impl Dice {
    fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A job of the paper's section 4: its least time is work / capacity, the soft deadline up to
    /// five times that, the hard one up to three times the soft one. `stretch` multiplies both, for
    /// markets of many jobs.
    fn job(&mut self, id: u64, stretch: u64) -> Job<u64> {
        let work = self.within(2_500, 7_500);
        let soft = (work * self.within(1_000, 5_000) * stretch / 1_000).div_ceil(CAPACITY);
        let hard = soft * self.within(1_000, 3_000) / 1_000;
        let pmax = work * 1_000 * self.within(500, 1_500) / 1_000;
        Job {
            id,
            work,
            elapsed: 0,
            soft: soft as u32,
            hard: hard.max(soft) as u32,
            pmax,
            pmin: pmax / 2,
            shape: [Shape::Linear, Shape::Convex, Shape::Concave][self.below(3) as usize],
        }
    }

    /// Jobs that can be planned together: drawn one by one, those that do not fit are dropped.
    fn market(&mut self, count: usize, stretch: u64) -> Vec<Job<u64>> {
        let mut jobs: Vec<Job<u64>> = Vec::new();
        for id in 0.. {
            if jobs.len() == count {
                break;
            }
            jobs.push(self.job(id, stretch));
            if by_deadline(&jobs).is_none() {
                jobs.pop();
            }
        }
        jobs
    }
}

/// Milliseconds that something takes while nothing else wants the processor: the least of some
/// runs. And its result.
fn time<R>(mut run: impl FnMut() -> R) -> (f64, R) {
    let mut once = || {
        let start = Instant::now();
        let result = black_box(run());
        (start.elapsed().as_secs_f64() * 1e3, result)
    };
    let (mut least, result) = once();
    for _ in 1..RUNS {
        least = least.min(once().0);
    }
    (least, result)
}

/// The value that so many hundredths of the sorted list do not exceed.
fn percentile(times: &mut [f64], hundredths: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times[(times.len() - 1) * hundredths / 100]
}

/// Prints a case and says whether it is within three times its bar.
fn report(case: &str, millis: f64, baseline: (&str, f64), bar: f64) -> bool {
    let (name, base) = baseline;
    println!("{case:<58} {millis:9.4} ms | {name} {base:9.4} ms | bar {bar} ms");
    millis <= 3.0 * bar
}

fn input(jobs: &[Job<u64>], new: Option<&Job<u64>>) -> Input<u64> {
    Input {
        capacity: CAPACITY,
        jobs: jobs.to_vec(),
        new: new.cloned(),
        min_gain_ppm: 0,
    }
}

fn revenue(plan: &Option<Plan<u64>>) -> Option<u128> {
    plan.as_ref().map(|plan| plan.revenue)
}

/// The revenue of the jobs by hard deadline, if all are on time.
fn by_deadline(jobs: &[Job<u64>]) -> Option<u128> {
    let mut order: Vec<&Job<u64>> = jobs.iter().collect();
    order.sort_by_key(|job| (i64::from(job.hard) - i64::from(job.elapsed), job.id));
    let mut end = 0;
    let pay = |job: &Job<u64>| {
        end += job.work;
        job.price(end.div_ceil(CAPACITY)).map(u128::from)
    };
    order.into_iter().map(pay).sum()
}

/// The baseline: the best revenue by a full table over sets of finished jobs.
fn full_table(jobs: &[Job<u64>]) -> Option<u128> {
    let mut table: Vec<Option<u128>> = vec![None; 1 << jobs.len()];
    table[0] = Some(0);
    for set in 1..table.len() {
        let members = || (0..jobs.len()).filter(|j| set >> j & 1 == 1);
        let completion = members()
            .map(|j| jobs[j].work)
            .sum::<u64>()
            .div_ceil(CAPACITY);
        let ways = members().filter_map(|last| {
            let pay = jobs[last].price(completion)?;
            Some(table[set & !(1 << last)]? + u128::from(pay))
        });
        table[set] = ways.max();
    }
    table[(1 << jobs.len()) - 1]
}

/// Lets a plan run for one interval.
fn advance(jobs: &mut Vec<Job<u64>>, plan: &Plan<u64>) {
    for stint in &plan.stints {
        let job = jobs.iter_mut().find(|job| job.id == stint.id).unwrap();
        job.elapsed += 1;
        job.work -= stint
            .allocation(CAPACITY)
            .find(|run| run.0 == 1)
            .map_or(0, |run| run.1);
    }
    jobs.retain(|job| job.work > 0);
}

/// Arrivals at random over 10,000 intervals for each load and seed; each arrival is one clearing of
/// two plans.
fn arrivals() -> bool {
    let (mut mine, mut base, mut most) = (vec![], vec![], 0);
    for load in [12, 19, 26] {
        for seed in 0..5 {
            let mut dice = Dice(load * 100 + seed);
            let (mut jobs, mut plan) = (
                vec![],
                Plan {
                    revenue: 0,
                    stints: vec![],
                },
            );
            for id in 0..10_000 {
                if dice.below(100) < load {
                    let new = dice.job(id, 1);
                    let market = input(&jobs, Some(&new));
                    let (millis, outcome) = time(|| clear(black_box(&market)).unwrap());
                    let mut with = jobs.clone();
                    with.push(new);
                    if with.len() <= 13 {
                        mine.push(millis);
                        let (millis, tables) = time(|| (full_table(&jobs), full_table(&with)));
                        base.push(millis);
                        let admission = outcome.admission.as_ref().unwrap();
                        assert_eq!(tables, (revenue(&outcome.plan), revenue(&admission.plan)));
                    }
                    most = most.max(with.len());
                    let admission = outcome.admission.unwrap();
                    plan = outcome.plan.unwrap();
                    if admission.accept {
                        (jobs, plan) = (with, admission.plan.unwrap());
                    }
                }
                advance(&mut jobs, &plan);
                plan = clear(&input(&jobs, None)).unwrap().plan.unwrap();
            }
        }
    }
    println!(
        "{} arrivals to at most {} jobs, of 15 runs at loads .12, .19, .26",
        mine.len(),
        most - 1
    );
    for (name, part) in [("median", 50), ("p99", 99), ("most", 100)] {
        let (millis, base) = (percentile(&mut mine, part), percentile(&mut base, part));
        println!("  {name:<6} {millis:9.4} ms | full tables {base:9.4} ms");
    }
    let figures = (percentile(&mut mine, 95), percentile(&mut base, 95));
    report(
        "an arrival, up to 13 jobs, p95",
        figures.0,
        ("full tables", figures.1),
        0.2,
    )
}

/// 18 jobs: the worst of several markets whose deadlines bind, of some with much time, and of some
/// where everybody is late and hard deadlines are far, so that nothing can be left out.
fn eighteen() -> bool {
    let mut dice = Dice(18);
    let mut worst = |case: &str, stretch: u64, far: u32| {
        let (mut mine, mut base) = (0.0f64, 0.0f64);
        for _ in 0..5 {
            let mut jobs = dice.market(18, stretch);
            for job in jobs.iter_mut().filter(|_| far > 0) {
                (job.soft, job.hard) = (1, far);
            }
            let market = input(&jobs, None);
            let (millis, outcome) = time(|| clear(black_box(&market)).unwrap());
            let (table, best) = time(|| full_table(&jobs));
            assert_eq!(revenue(&outcome.plan), best);
            (mine, base) = (mine.max(millis), base.max(table));
        }
        report(case, mine, ("full table ", base), 100.0)
    };
    let bound = worst("18 jobs, hard deadlines bind, most of 5", 2, 0);
    let ample = worst("18 jobs, no hard deadline binds, most of 5", 20, 0);
    worst("18 jobs, the same and all late, most of 5", 20, 1_000) & bound & ample
}

/// 100 jobs by the local search; what it adds to the order by deadline is reported.
fn hundred() -> bool {
    let mut dice = Dice(100);
    let mut good = true;
    for (case, stretch) in [("tight", 12), ("loose", 30), ("hardly bound", 100)] {
        let (mut mine, mut base, mut gain) = (0.0f64, 0.0f64, 0.0f64);
        for _ in 0..5 {
            let jobs = dice.market(100, stretch);
            let market = input(&jobs, None);
            let (millis, outcome) = time(|| clear(black_box(&market)).unwrap());
            let (sort, edf) = time(|| by_deadline(&jobs).unwrap());
            let found = revenue(&outcome.plan).unwrap();
            gain += (found as f64 / edf as f64 - 1.0) * 20.0;
            (mine, base) = (mine.max(millis), base.max(sort));
        }
        let case = format!("100 jobs, {case}: most of 5, +{gain:.1}% revenue on the mean");
        good &= report(&case, mine, ("by deadline", base), 50.0);
    }
    good
}

/// Jobs at one offer and in a class, as many as the ledger takes.
const OFFER_JOBS: usize = limits::JOBS_PER_OFFER;
const OFFERS: usize = limits::JOBS_PER_CLASS / OFFER_JOBS;

/// The most that the ledger plans for a class at a slot boundary: every offer is full of jobs, all
/// late and none bound by its hard deadline. As many of them are new as make the most work, and
/// each new one is one clearing of two plans.
fn boundary() -> bool {
    let mut dice = Dice(12);
    let (mut mine, mut base) = (0.0f64, 0.0f64);
    for _ in 0..OFFERS {
        let mut jobs = dice.market(OFFER_JOBS, 20);
        for job in &mut jobs {
            (job.soft, job.hard) = (1, 1_000);
        }
        let mut most = (0.0f64, 0.0f64);
        for taken in 0..OFFER_JOBS {
            let (millis, _) = time(|| {
                let ask = |n: usize| clear(&input(&jobs[..n], Some(&jobs[n]))).unwrap();
                (taken..OFFER_JOBS).map(ask).for_each(|outcome| {
                    black_box(outcome);
                });
                clear(&input(&jobs, None)).unwrap()
            });
            most.0 = most.0.max(millis);
        }
        most.1 = time(|| full_table(&jobs)).0;
        (mine, base) = (mine + most.0, base + most.1);
    }
    let case = format!("a class at the ledger's limits: {OFFERS} offers of {OFFER_JOBS} jobs");
    report(&case, mine, ("full tables", base), 60.0)
}

/// How far the local search stays behind the optimum.
fn quality() {
    let mut dice = Dice(8);
    for (count, rounds) in [(8, 1_000), (11, 1_000), (14, 300), (18, 40)] {
        let (mut exact, mut gap, mut most, mut edf) = (0, 0.0f64, 0.0f64, 0.0f64);
        for round in 0..rounds {
            let jobs = dice.market(count, 1 + round % 3);
            let best = revenue(&clear(&input(&jobs, None)).unwrap().plan).unwrap();
            let near = revenue(&approximate(CAPACITY, &jobs).unwrap()).unwrap();
            let behind = |revenue: u128| (best - revenue) as f64 * 100.0 / best as f64;
            exact += u32::from(near == best);
            (gap, most) = (gap + behind(near), most.max(behind(near)));
            edf += behind(by_deadline(&jobs).unwrap());
        }
        let runs = rounds as f64;
        println!(
            "local search, {count} jobs: exact in {:.1}%, gap {:.4}% on the mean, {most:.2}% at most; by deadline {:.2}%",
            f64::from(exact) * 100.0 / runs,
            gap / runs,
            edf / runs,
        );
    }
}

fn main() -> ExitCode {
    let good = boundary() & arrivals() & eighteen() & hundred();
    quality();
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
