//! The CPUs that a provider foresees, and their cost.

use super::limits::{
    CPUS_MAX, Field, MONEY_MAX, OutOfRange, PERIODS_MAX, SPAN_MAX, TIME_MAX, within,
};
use super::terms::Contract;
use crate::mechanism::meter;

/// A time with equal supply. Between periods there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// First tick.
    pub start: u64,
    /// Ticks, at least 1.
    pub len: u64,
    /// CPUs in each of them.
    pub cpus: u32,
    /// The cost of a CPU per tick, micro-credits.
    pub cost: u64,
}

impl Period {
    /// The tick after its last.
    pub(super) fn end(&self) -> u64 {
        self.start + self.len
    }

    /// Ticks that it shares with `from .. to`.
    fn shared(&self, from: u64, to: u64) -> u64 {
        meter::steps(1);
        self.end().min(to).saturating_sub(self.start.max(from))
    }

    fn check(&self) -> Result<(), OutOfRange> {
        within(self.start <= TIME_MAX, Field::Time)?;
        within((1..=SPAN_MAX).contains(&self.len), Field::Length)?;
        within(self.cpus <= CPUS_MAX, Field::Cpus)?;
        within(self.cost <= MONEY_MAX, Field::Cost)
    }
}

/// Checks the periods, in any order. The inner error is the start of a period that overlaps the one
/// before.
pub(super) fn check(supply: &[Period]) -> Result<Result<(), u64>, OutOfRange> {
    within(supply.len() <= PERIODS_MAX, Field::Periods)?;
    let mut sorted: Vec<&Period> = supply.iter().collect();
    sorted.sort_unstable_by_key(|period| (period.start, period.len, period.cpus, period.cost));
    for period in &sorted {
        period.check()?;
    }
    let overlap = sorted.windows(2).find(|pair| pair[1].start < pair[0].end());
    Ok(overlap.map_or(Ok(()), |pair| Err(pair[1].start)))
}

/// The contract's value less the cost of its mean load, in thousandths of a micro-credit: the sum
/// over the periods of `ticks * (1000 * value - mean * cost)`. Ticks without supply bring and cost
/// nothing.
pub(super) fn margin<K>(supply: &[Period], contract: &Contract<K>) -> i128 {
    let margin = |period: &Period| {
        let ticks = period.shared(contract.start, contract.end);
        let cost = i128::from(contract.mean) * i128::from(period.cost);
        i128::from(ticks) * (1_000 * i128::from(contract.value) - cost)
    };
    supply.iter().map(margin).sum()
}

/// The cost of the contract's mean load from the tick `from` on, in thousandths of a micro-credit.
pub(super) fn cost_from<K>(supply: &[Period], contract: &Contract<K>, from: u64) -> u128 {
    let cost = |period: &Period| {
        let ticks = period.shared(contract.start.max(from), contract.end);
        u128::from(ticks) * u128::from(contract.mean) * u128::from(period.cost)
    };
    supply.iter().map(cost).sum()
}
