//! Small books drawn from a seed: tight supply, overlapping contracts, every policy.

use super::admission::{CostPolicy, Policy, Provider};
use super::aggregate::Aggregate;
use super::book::Input;
use super::limits::{
    ALPHA_PPM_MAX, BATCH_JOBS_MAX, BETA16_MAX, CONTRACTS_MAX, CPUS_MAX, MEAN_MAX, MONEY_MAX,
    PERIODS_MAX, SPAN_MAX, SUM_MAX, TIME_MAX,
};
use super::supply::Period;
use super::terms::{Batch, Contract};
use crate::mechanism::dice::{dice, pick};

/// Draws a book of up to 5 signed and 6 offered contracts; its policy is `seed` modulo six.
pub(super) fn draw<K: From<u8>>(seed: u64) -> Input<K> {
    let mut next = dice(seed);
    let policy = match seed % 6 {
        0 => Policy::Oblivious,
        1 => Policy::Average,
        2 => Policy::Conservative,
        3 => Policy::HighValueOnly {
            threshold: next(40),
        },
        4 => Policy::PreemptConservative,
        _ => Policy::PreemptLeastLoss { now: next(20) },
    };
    let cost_policy = [CostPolicy::Any, CostPolicy::Variable][next(2) as usize];
    let mut supply = Vec::new();
    let mut start = 0;
    for _ in 0..1 + next(4) {
        let len = 1 + next(30);
        supply.push(Period {
            start,
            len,
            cpus: next(12) as u32,
            cost: next(20),
        });
        start += len + next(2) * next(5);
    }
    let mut contract = |id: u64| {
        let start = next(40);
        let (jobs, completed) = (1 + next(8), next(4));
        let completed = completed.min(jobs - 1);
        Contract {
            id: K::from(id as u8),
            start,
            end: start + 1 + next(30),
            mean: next(4_000),
            var: next(400_000),
            value: next(60),
            batch: Batch {
                jobs: jobs as u32,
                aggregate: Aggregate::new(1_000_000, 16 * next(4) as u32)
                    .expect("alpha 1 and beta below 4 are in range"),
                penalty: next(20),
                completed: completed as u32,
                dropped: next(jobs - completed) as u32,
                earned: next(300),
                owed: next(30),
            },
        }
    };
    let signed = (0..5).map(&mut contract).collect();
    let offered = (5..11).map(&mut contract).collect();
    Input {
        provider: Provider {
            policy,
            cost_policy,
            supply,
        },
        signed,
        offered,
    }
}

/// The largest loads, amounts and times. Odd seeds: as many contracts as a provider may have, and
/// one more at every eighth; even ones: as many periods of supply, at every fourth crowded ones.
pub(super) fn extreme<K: From<u16>>(seed: u64) -> Input<K> {
    if seed.is_multiple_of(4) {
        return crowd();
    }
    let mut next = dice(seed);
    let (contracts, periods) = match seed % 8 {
        7 => (CONTRACTS_MAX + 1, 3),
        1 | 3 | 5 => (CONTRACTS_MAX, 3),
        _ => (8, PERIODS_MAX),
    };
    let period = |n: u64| Period {
        start: n * (TIME_MAX / periods as u64),
        len: SPAN_MAX.min(TIME_MAX / periods as u64),
        cpus: CPUS_MAX,
        cost: pick(&[0, 1, MONEY_MAX], &mut next),
    };
    let supply = (0..periods as u64).map(period).collect();
    let mut contract = |id: u16| {
        let start = pick(&[0, 1, TIME_MAX - SPAN_MAX], &mut next);
        Contract {
            id: K::from(id),
            start,
            end: start + pick(&[1, SPAN_MAX - 1, SPAN_MAX], &mut next).max(1),
            mean: pick(&[0, 1, MEAN_MAX], &mut next),
            var: pick(&[0, 1, u64::MAX], &mut next),
            value: pick(&[0, 1, MONEY_MAX - 1, MONEY_MAX], &mut next),
            batch: Batch {
                jobs: BATCH_JOBS_MAX,
                aggregate: Aggregate::new(ALPHA_PPM_MAX, BETA16_MAX)
                    .expect("the largest alpha and beta are in range"),
                penalty: MONEY_MAX,
                completed: pick(&[0, BATCH_JOBS_MAX / 2], &mut next),
                dropped: pick(&[0, BATCH_JOBS_MAX / 2], &mut next),
                earned: pick(&[0, SUM_MAX], &mut next),
                owed: pick(&[0, SUM_MAX], &mut next),
            },
        }
    };
    let mut offered: Vec<Contract<K>> = (0..contracts as u16).map(&mut contract).collect();
    let signed = offered.split_off(contracts / 2);
    let policy = match seed % 4 {
        3 => Policy::PreemptConservative,
        1 => Policy::PreemptLeastLoss { now: TIME_MAX },
        _ => Policy::Average,
    };
    Input {
        provider: Provider {
            policy,
            cost_policy: CostPolicy::Variable,
            supply,
        },
        signed,
        offered,
    }
}

/// As many periods as there may be within the time of all contracts, each of which fills a CPU.
/// There are CPUs for the signed ones only, and none at all in the last period: only there each
/// offered one finds that it can take nobody's place.
fn crowd<K: From<u16>>() -> Input<K> {
    const HALF: u16 = 64;
    let periods = PERIODS_MAX as u64;
    let len = SPAN_MAX / periods;
    let period = |n: u64| Period {
        start: n * len,
        len,
        cpus: if n + 1 < periods { HALF.into() } else { 0 },
        cost: 0,
    };
    let contract = |id: u16| Contract {
        id: K::from(id),
        start: 0,
        end: SPAN_MAX,
        mean: 1_000,
        var: 0,
        value: id.into(),
        batch: Batch::WHOLE,
    };
    Input {
        provider: Provider {
            policy: Policy::PreemptConservative,
            cost_policy: CostPolicy::Any,
            supply: (0..periods).map(period).collect(),
        },
        signed: (0..HALF).map(contract).collect(),
        offered: (HALF..2 * HALF).map(contract).collect(),
    }
}
