//! How long a provider's decisions take, each next to a plain way to reach the same one in the same
//! run.
//!
//! `cargo bench -p gridbay-protocol --bench contract` prints one line per case and fails only
//! beyond three times a bar, so that a busy machine does not.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark reports to its reader")]

#[path = "../tests/mechanism/dice.rs"]
mod dice;

use dice::Dice;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use gridbay_protocol::mechanism::contract::{
    Aggregate, Answer, Batch, Contract, CostPolicy, Input, Job, Machine, Period, Policy, Provider,
    admit_contract, admit_job, clear, schedule,
};

impl Dice {
    fn job(&mut self, id: u64) -> Job<u64> {
        let len = 1 + self.below(60);
        let value = 1_000_000 + self.below(30_000_000);
        Job {
            id,
            arrival: self.below(1_000),
            len,
            value,
            hold: 800 + self.below(2_000),
            decay: len * (1 + self.below(20)),
            penalty: self.below(2) * value,
            bias: self.below(20_000_000) as i64,
        }
    }

    fn contract(&mut self, id: u64) -> Contract<u64> {
        let start = self.below(1_000);
        Contract {
            id,
            start,
            end: start + 50 + self.below(200),
            mean: 1_000 + self.below(8_000),
            var: self.below(2_000_000),
            value: 1_000 + self.below(60_000),
            batch: Batch {
                jobs: 1_000,
                aggregate: Aggregate::new(1_000_000, 32).expect("in range"),
                completed: self.below(900) as u32,
                ..Batch::WHOLE
            },
        }
    }
}

/// The time of the fastest of several runs, which shows the code and not the machine's other work.
fn fastest<R>(mut run: impl FnMut() -> R) -> Duration {
    let times = (0..51).map(|_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    });
    times.min().expect("there are runs")
}

/// Prints a case and says whether it is within three times its bar.
fn report(case: &str, time: Duration, baseline: Option<(&str, Duration)>, bar: Duration) -> bool {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let beside = baseline.map_or(String::new(), |(name, plain)| {
        let times = plain.as_secs_f64() / time.as_secs_f64();
        format!(" | {name} {:9.1} us, {times:6.1}x as long", micros(plain))
    });
    println!(
        "{case:<46} {:9.1} us | bar {:7.0} us{beside}",
        micros(time),
        micros(bar)
    );
    time <= 3 * bar
}

/// The total of FirstProfit with rates computed at every comparison, and a search for the processor
/// of each job.
fn plain_schedule(machine: &Machine, jobs: &[Job<u64>]) -> i128 {
    let gain = |job: &Job<u64>, end: u64| {
        job.effective(end - job.arrival) - i128::from(machine.cost) * i128::from(job.len)
    };
    let rate = |job: &Job<u64>, other: u64| gain(job, machine.now + job.len) * i128::from(other);
    let mut order: Vec<&Job<u64>> = jobs.iter().collect();
    order.sort_by(|a, b| {
        let dearer = rate(b, a.len).cmp(&rate(a, b.len));
        dearer.then((a.arrival, a.id).cmp(&(b.arrival, b.id)))
    });
    let mut free: Vec<u64> = machine.free.iter().map(|t| *t.max(&machine.now)).collect();
    let mut total = 0;
    for job in order {
        let first = free.iter_mut().min().expect("there are processors");
        let end = *first + job.len;
        let gain = gain(job, end);
        if job.timed_out(end - job.arrival) || gain < -i128::from(job.penalty) {
            total -= i128::from(job.penalty);
        } else {
            *first = end;
            total += gain;
        }
    }
    total
}

fn schedules() -> bool {
    let mut dice = Dice(1);
    let machine = Machine {
        now: 1_000,
        cost: 50_000,
        free: (0..64).map(|_| 950 + dice.below(100)).collect(),
    };
    let jobs: Vec<Job<u64>> = (0..1_000).map(|id| dice.job(id)).collect();
    let new = dice.job(1_000);
    let result = schedule(&machine, &jobs).expect("in range");
    assert_eq!(result.total, plain_schedule(&machine, &jobs));
    println!(
        "of 1,000 jobs {} run and {} are dropped",
        result.rows.len(),
        result.dropped.len()
    );
    let plain = fastest(|| plain_schedule(&machine, &jobs));
    let mut good = report(
        "a schedule of 1,000 jobs on 64 processors",
        fastest(|| schedule(&machine, &jobs)),
        Some(("plain", plain)),
        Duration::from_micros(500),
    );
    good &= report(
        "b admission of one more job",
        fastest(|| admit_job(&machine, &jobs, &new)),
        None,
        Duration::from_micros(500),
    );
    good
}

/// Whether the contracts fit, looking at every tick of the first.
fn plain_fits(supply: &[Period], contract: &Contract<u64>, others: &[&Contract<u64>]) -> bool {
    (contract.start..contract.end).all(|tick| {
        let period = supply
            .iter()
            .find(|p| (p.start..p.start + p.len).contains(&tick));
        let mut slack = period.map_or(0, |p| 1_000 * i128::from(p.cpus));
        let mut var = 0;
        for load in others.iter().copied().chain([contract]) {
            if (load.start..load.end).contains(&tick) {
                slack -= i128::from(load.mean);
                var += i128::from(load.var);
            }
        }
        slack >= 0 && 4 * var <= slack * slack
    })
}

/// The answer under the policy that preempts by revenue, trying each victim in turn.
fn plain_admit(
    provider: &Provider,
    contract: &Contract<u64>,
    others: &[Contract<u64>],
) -> Option<Option<u64>> {
    let all: Vec<&Contract<u64>> = others.iter().collect();
    if plain_fits(&provider.supply, contract, &all) {
        return Some(None);
    }
    let mut victims = all.clone();
    victims.retain(|v| v.start < contract.end && contract.start < v.end);
    victims.retain(|v| v.revenue() < contract.revenue());
    victims.sort_by_key(|v| (v.revenue(), v.id));
    let relieves = |victim: &&&Contract<u64>| {
        let mut rest = all.clone();
        rest.retain(|other| other.id != victim.id);
        plain_fits(&provider.supply, contract, &rest)
    };
    victims.iter().find(relieves).map(|victim| Some(victim.id))
}

fn admissions() -> bool {
    let mut dice = Dice(2);
    let period = |index: u64| Period {
        start: 100 * index,
        len: 100,
        cpus: 190,
        cost: 100,
    };
    let mut provider = Provider {
        policy: Policy::PreemptConservative,
        cost_policy: CostPolicy::Any,
        supply: (0..13).map(period).collect(),
    };
    let others: Vec<Contract<u64>> = (0..200).map(|id| dice.contract(id)).collect();
    // A candidate that fits only in place of another one.
    let preempts = |provider: &Provider, contract: &Contract<u64>| {
        matches!(
            admit_contract(provider, contract, &others),
            Ok(Answer::InPlaceOf(_))
        )
    };
    let candidate = (200..10_000)
        .map(|id| dice.contract(id))
        .find(|contract| preempts(&provider, contract))
        .expect("some candidate preempts");
    let answer = match admit_contract(&provider, &candidate, &others).expect("in range") {
        Answer::Signed => Some(None),
        Answer::InPlaceOf(id) => Some(Some(id)),
        Answer::Refused(_) => None,
    };
    assert_eq!(answer, plain_admit(&provider, &candidate, &others));
    let plain = fastest(|| plain_admit(&provider, &candidate, &others));
    let mut good = report(
        "c admission of a contract among 200, revenue",
        fastest(|| admit_contract(&provider, &candidate, &others)),
        Some(("plain", plain)),
        Duration::from_micros(100),
    );
    provider.policy = Policy::PreemptLeastLoss { now: 0 };
    good &= report(
        "d the same by least loss",
        fastest(|| admit_contract(&provider, &candidate, &others)),
        None,
        Duration::from_micros(200),
    );
    let book = Input {
        provider,
        signed: others[..100].to_vec(),
        offered: (1_000..1_924).map(|id| dice.contract(id)).collect(),
    };
    good &= report(
        "e the largest book: 100 signed, 924 offered",
        fastest(|| clear(&book)),
        None,
        Duration::from_millis(50),
    );
    good
}

fn main() -> ExitCode {
    if schedules() & admissions() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
