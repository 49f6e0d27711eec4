//! The rounds: jobs move one after the other until nothing moves.
//!
//! A round spends its time on roots. So powers are kept beside the parts they belong to, their sums
//! per type run along, and a part that did not change keeps its power. A pass that changes nothing
//! ends the move, for so would all after it.

use super::split::{Row, ratio, rest, split};
use super::{Award, Job, Outcome, TYPES_MAX, Terms, Utility};
use crate::fixed::pow16;
use crate::mechanism::meter;

/// The state of one job.
struct Split {
    budget: u64,
    utility: Utility,
    weights: Row<u64>,
    parts: Row<u64>,
    powers: Row<u128>,
}

/// The pull of a type on the budget at this share (Alg. 2, l. 3; D.1); at most 2^64 - 2^32.
fn pull(utility: Utility, weight: u64, share: u64) -> u64 {
    match utility {
        // The product of a share and its rest is at most 2^62.
        Utility::Linear => ((u128::from(weight) * u128::from(share * rest(share))) >> 32) as u64,
        Utility::Log => weight * rest(share),
    }
}

impl Split {
    fn even<K>(job: &Job<K>, terms: &Terms) -> Self {
        let mut even = Split {
            budget: job.budget,
            utility: job.utility,
            weights: [0; TYPES_MAX],
            parts: [0; TYPES_MAX],
            powers: [0; TYPES_MAX],
        };
        for (wide, weight) in even.weights.iter_mut().zip(&job.weights) {
            *wide = u64::from(*weight);
        }
        // Alg. 1, l. 1.
        split(job.budget, &[1; TYPES_MAX], terms.types, &mut even.parts);
        for kind in 0..terms.types {
            meter::steps(1);
            even.powers[kind] = power(even.parts[kind], terms);
        }
        even
    }

    /// Moves against rivals with these sums of powers; the largest change of a part.
    fn respond(&mut self, rivals: &Row<u128>, terms: &Terms) -> u64 {
        let before = self.parts;
        for _ in 0..terms.inner {
            let mut pulls = [0; TYPES_MAX];
            for kind in 0..terms.types {
                meter::steps(1);
                let own = self.powers[kind];
                // Alg. 2, l. 1; eq. 1.
                let share = ratio(own, rivals[kind] + own);
                pulls[kind] = pull(self.utility, self.weights[kind], share);
            }
            let mut parts = self.parts;
            // Alg. 2, l. 3, its sum over the types of the job (D.2).
            split(self.budget, &pulls, terms.types, &mut parts);
            if parts == self.parts {
                break;
            }
            let moved = self.parts.iter().zip(&parts);
            for (kept, (old, new)) in self.powers.iter_mut().zip(moved) {
                if old != new {
                    *kept = power(*new, terms);
                }
            }
            self.parts = parts;
        }
        let changes = self.parts.iter().zip(&before).map(|(a, b)| a.abs_diff(*b));
        changes.max().unwrap_or(0)
    }
}

fn power(part: u64, terms: &Terms) -> u128 {
    pow16(u128::from(part) << 32, terms.sixteenths)
}

/// Runs the auction of checked jobs, which are sorted by id.
pub(super) fn run<K: Clone>(terms: &Terms, jobs: &[&Job<K>]) -> Outcome<K> {
    let mut splits: Vec<Split> = jobs.iter().map(|job| Split::even(job, terms)).collect();
    let mut sums = [0; TYPES_MAX];
    for split in &splits {
        for (sum, power) in sums.iter_mut().zip(split.powers) {
            *sum += power;
        }
    }
    let (mut rounds, mut converged) = (0, splits.is_empty());
    // Alg. 1, l. 3.
    while !converged && rounds < terms.max_rounds {
        let mut change = 0;
        // Alg. 1, l. 4.
        for split in &mut splits {
            for (sum, power) in sums.iter_mut().zip(split.powers) {
                *sum -= power;
            }
            // Alg. 1, l. 5; the next job sees it at once (D.1).
            change = change.max(split.respond(&sums, terms));
            for (sum, power) in sums.iter_mut().zip(split.powers) {
                *sum += power;
            }
        }
        // Alg. 1, l. 7.
        rounds += 1;
        converged = change < terms.eps;
    }
    // Alg. 1, l. 8.
    let award = |(job, split): (&&Job<K>, &Split)| Award {
        id: job.id.clone(),
        parts: split.parts[..terms.types].to_vec(),
        shares: (0..terms.types)
            .inspect(|_| meter::steps(1))
            .map(|kind| ratio(split.powers[kind], sums[kind]))
            .collect(),
    };
    Outcome {
        awards: jobs.iter().zip(&splits).map(award).collect(),
        rounds,
        converged,
    }
}
