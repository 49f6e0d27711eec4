//! The worth of a contract to its provider from a given tick on: the measures by which one
//! displaces another.
//!
//! With `open` jobs neither done nor dropped of `jobs`, the aggregate function f, and the revenue
//! `value * ticks`:
//!
//! ```text
//! full      = floor((earned + floor(revenue * open / jobs)) * f((completed + open) / jobs)) - owed
//! abandoned = floor(earned * f(completed / jobs)) - owed - penalty * open
//! gain      = full - cost of the load still to come, rounded up           what signing brings
//! loss      = full - abandoned - cost of the load still to come, down     what abandoning costs
//! ```
//!
//! Penalties are owed in full, as in [`super::payout`]. Rounding is against displacing.

use super::payout::settle;
use super::supply::{Period, cost_from};
use super::terms::Contract;

/// The provider's profit if it signs the contract at `now` and fulfils it, micro-credits.
pub(super) fn gain<K>(supply: &[Period], contract: &Contract<K>, now: u64) -> i128 {
    full(contract) - cost_from(supply, contract, now).div_ceil(1_000) as i128
}

/// The provider's loss if it abandons the contract at `now`, micro-credits; below 0 if it is better
/// off without it.
pub(super) fn loss<K>(supply: &[Period], contract: &Contract<K>, now: u64) -> i128 {
    let batch = &contract.batch;
    let owed = u128::from(batch.owed) + u128::from(batch.penalty) * u128::from(batch.open());
    let abandoned = settle(
        batch.earned.into(),
        owed,
        batch.aggregate,
        batch.completed,
        batch.jobs,
    );
    let saved = cost_from(supply, contract, now) / 1_000;
    full(contract) - abandoned - saved as i128
}

/// The pay of the contract if all open jobs are done.
fn full<K>(contract: &Contract<K>) -> i128 {
    let batch = &contract.batch;
    let coming = contract.revenue() * u128::from(batch.open()) / u128::from(batch.jobs);
    settle(
        u128::from(batch.earned) + coming,
        batch.owed.into(),
        batch.aggregate,
        batch.completed + batch.open(),
        batch.jobs,
    )
}

#[cfg(test)]
mod tests {
    use super::super::aggregate::Aggregate;
    use super::super::terms::Batch;
    use super::*;

    fn half_done() -> (Vec<Period>, Contract<u8>) {
        let supply = vec![Period {
            start: 0,
            len: 100,
            cpus: 4,
            cost: 3,
        }];
        let contract = Contract {
            id: 1,
            start: 10,
            end: 30,
            mean: 1_500,
            var: 0,
            value: 50,
            batch: Batch {
                jobs: 10,
                aggregate: Aggregate::new(1_000_000, 32).unwrap(),
                penalty: 7,
                completed: 5,
                dropped: 1,
                earned: 480,
                owed: 9,
            },
        };
        (supply, contract)
    }

    #[test]
    fn a_contract_half_done() {
        let (supply, contract) = half_done();
        // Four open jobs bring 400; nine of ten done pay 0.81, five of ten 0.25.
        let full = (880 * 81 / 100) - 9;
        let abandoned = 480 / 4 - 9 - 28;
        // 1.5 CPUs for ten ticks at 3.
        assert_eq!(gain(&supply, &contract, 20), full - 45);
        assert_eq!(loss(&supply, &contract, 20), full - abandoned - 45);
        // Beyond its end nothing is saved.
        assert_eq!(loss(&supply, &contract, 30), full - abandoned);
    }

    #[test]
    fn a_contract_told_without_jobs_loses_its_revenue_less_its_cost() {
        let (supply, mut contract) = half_done();
        contract.batch = Batch::WHOLE;
        assert_eq!(loss(&supply, &contract, 0), 1_000 - 90);
        // Half a micro-credit of cost counts against displacing on both sides.
        contract.mean = 1_525;
        assert_eq!(loss(&supply, &contract, 0), 1_000 - 91);
        assert_eq!(gain(&supply, &contract, 0), 1_000 - 92);
    }
}
