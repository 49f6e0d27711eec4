//! Whether the load of contracts fits the supply, tick by tick (F.4, `fits`).
//!
//! 1. At each tick the slack is `1000 * CPUs - sum of the mean loads`. There are no CPUs outside
//!    the supply.
//! 2. With k standard deviations to spare, a tick fits if the slack is not below 0 and
//!    `k^2 * sum of the variances <= slack^2`: loads are taken as independent, so variances add up.
//! 3. Both sums change only where a contract or a period begins or ends, so one walk over these
//!    points in order sees every tick.

use super::supply::Period;
use super::terms::Contract;
use crate::mechanism::meter;

/// Ticks with equal slack that do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Overload {
    from: u64,
    to: u64,
    slack: i128,
    var: u128,
}

impl Overload {
    /// Whether these ticks fit once the contract is gone.
    pub(super) fn fits_without<K>(&self, contract: &Contract<K>, sigmas: u128) -> bool {
        meter::steps(1);
        contract.start <= self.from
            && self.to <= contract.end
            && fits(
                self.slack + i128::from(contract.mean),
                self.var - u128::from(contract.var),
                sigmas,
            )
    }
}

fn fits(slack: i128, var: u128, sigmas: u128) -> bool {
    slack >= 0 && sigmas * sigmas * var <= slack.unsigned_abs() * slack.unsigned_abs()
}

/// A point in time, and by how much slack and variance change there.
struct Step {
    at: u64,
    slack: i128,
    var: i128,
}

/// Where the contract does not fit beside the others, within its own ticks.
pub(super) fn overloads<K>(
    supply: &[Period],
    contract: &Contract<K>,
    others: &[&Contract<K>],
    sigmas: u128,
) -> Vec<Overload> {
    let steps = steps(supply, contract, others);
    let mut found = Vec::new();
    let (mut slack, mut var) = (0i128, 0i128);
    for (index, step) in steps.iter().enumerate() {
        meter::steps(1);
        slack += step.slack;
        var += step.var;
        let to = steps.get(index + 1).map_or(contract.end, |next| next.at);
        // Never below 0 after the last step of a point: a load that ends there has begun before.
        let var = var.unsigned_abs();
        if step.at < to && !fits(slack, var, sigmas) {
            found.push(Overload {
                from: step.at,
                to,
                slack,
                var,
            });
        }
    }
    found
}

/// The steps within the contract's ticks, in order.
fn steps<K>(supply: &[Period], contract: &Contract<K>, others: &[&Contract<K>]) -> Vec<Step> {
    let mut steps = Vec::with_capacity(2 * (others.len() + 1));
    let mut add = |from: u64, to: u64, slack: i128, var: i128| {
        meter::steps(1);
        let (from, to) = (from.max(contract.start), to.min(contract.end));
        if from >= to {
            return;
        }
        steps.push(Step {
            at: from,
            slack,
            var,
        });
        if to < contract.end {
            steps.push(Step {
                at: to,
                slack: -slack,
                var: -var,
            });
        }
    };
    for period in supply {
        let cpus = 1_000 * i128::from(period.cpus);
        add(period.start, period.end(), cpus, 0);
    }
    for load in others.iter().copied().chain(std::iter::once(contract)) {
        let (mean, var) = (i128::from(load.mean), i128::from(load.var));
        add(load.start, load.end, -mean, var);
    }
    steps.sort_unstable_by_key(|step| step.at);
    steps
}
