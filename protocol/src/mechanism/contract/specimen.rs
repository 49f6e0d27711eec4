//! Small books drawn from a seed: tight supply, overlapping contracts, every policy.

use super::admission::{CostPolicy, Policy, Provider};
use super::aggregate::Aggregate;
use super::book::Input;
use super::supply::Period;
use super::terms::{Batch, Contract};
use crate::mechanism::dice::dice;

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
