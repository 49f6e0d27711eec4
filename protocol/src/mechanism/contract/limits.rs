//! Ranges of every number that the functions of this folder take. Beyond them an input is refused,
//! so that sums and products fit in 128 bits; the assertions below do that arithmetic once for all.
//!
//! A tick is the provider's unit of time. Which one it is, a second or a slot, makes no difference
//! here.

use std::fmt;

/// Latest point in time, ticks. With a millisecond per tick 34 years.
pub const TIME_MAX: u64 = 1 << 40;
/// Longest job, hold, decay, contract and period of supply, ticks. With a millisecond per tick
/// seven weeks.
pub const SPAN_MAX: u64 = 1 << 32;
/// Largest single amount, micro-credits: value or penalty of a job, value of a contract per tick,
/// cost of a processor per tick. A thousand million credits.
pub const MONEY_MAX: u64 = 1 << 50;
/// Largest sum of a contract's payments or penalties so far, micro-credits: an amount of money at
/// all.
pub const SUM_MAX: u64 = 1 << 62;
/// Largest alpha, parts per million: ten times the jobs' own payments.
pub const ALPHA_PPM_MAX: u32 = 10_000_000;
/// Largest beta, sixteenths: 16, where 99 % of the jobs bring 85 % of the pay. Bounds the steps of
/// a power.
pub const BETA16_MAX: u32 = 256;
/// Largest bias in either direction, micro-credits: above what [`super::Aggregate::bias`] can be.
pub const BIAS_MAX: u64 = 1 << 58;
/// Jobs of one contract: a million parameters swept.
pub const BATCH_JOBS_MAX: u32 = 1 << 20;
/// Jobs in one schedule. One as long takes some tens of milliseconds.
pub const PENDING_MAX: usize = 1 << 16;
/// Processors in one schedule.
pub const PROCESSORS_MAX: usize = 1 << 16;
/// Processors one job of [`super::first_price`] may ask for.
pub const SIZE_MAX: u32 = 1 << 20;
/// Largest mean load of one contract, thousandths of a CPU: four million CPUs.
pub const MEAN_MAX: u64 = 1 << 32;
/// CPUs of one period of supply.
pub const CPUS_MAX: u32 = 1 << 20;
/// Contracts of one provider, signed and offered ones together: each admission looks at all of
/// them.
pub const CONTRACTS_MAX: usize = 1_024;
/// Periods of supply that a provider foresees.
pub const PERIODS_MAX: usize = 4_096;

const MONEY: i128 = MONEY_MAX as i128;
const SPAN: i128 = SPAN_MAX as i128;
const PENDING: i128 = PENDING_MAX as i128;
const EFFECTIVE: i128 = MONEY + BIAS_MAX as i128;

// The bias: no more than mean * alpha * (1 + beta), and a little for rounding.
const _: () = {
    let steepest = (ALPHA_PPM_MAX / 1_000_000) as u64 * (1 + BETA16_MAX / 16) as u64 + 1;
    assert!(MONEY_MAX * steepest < BIAS_MAX);
};
// Rates of profit, compared crosswise.
const _: () = assert!(EFFECTIVE + MONEY * SPAN < i128::MAX / SPAN);
// Totals of schedules times their spans, compared crosswise.
const _: () = {
    let span = TIME_MAX as i128 + (PENDING + 1) * SPAN;
    assert!(PENDING * EFFECTIVE < i128::MAX / span);
};
// The pay of a contract in all, times a Q32 factor of at most alpha.
const _: () = {
    let jobs = BATCH_JOBS_MAX as i128;
    let pay = SUM_MAX as i128 + MONEY * SPAN;
    let factor = (ALPHA_PPM_MAX as i128 / 1_000_000) << 32;
    assert!(pay < i128::MAX / factor && jobs * MONEY < i128::MAX / factor);
    assert!(MONEY * SPAN < i128::MAX / jobs);
};
// A contract's margin over all periods.
const _: () = assert!(1_000 * MONEY + MEAN_MAX as i128 * MONEY < i128::MAX / SPAN);

/// The number that is out of its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are those of the numbers")]
pub enum Field {
    Alpha,
    Beta,
    Bias,
    Completed,
    Contracts,
    Cost,
    Cpus,
    Decay,
    Hold,
    Jobs,
    Length,
    Mean,
    Paid,
    Payment,
    Penalty,
    Periods,
    Processors,
    Size,
    Threshold,
    Time,
    Value,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Field::Alpha => "alpha",
            Field::Beta => "beta",
            Field::Bias => "the bias",
            Field::Completed => "the number of jobs done and dropped",
            Field::Contracts => "the number of contracts",
            Field::Cost => "the cost",
            Field::Cpus => "the number of CPUs",
            Field::Decay => "the decay",
            Field::Hold => "the hold",
            Field::Jobs => "the number of jobs",
            Field::Length => "the length",
            Field::Mean => "the mean load",
            Field::Paid => "the sum of the payments",
            Field::Payment => "a payment",
            Field::Penalty => "the penalty",
            Field::Periods => "the number of periods",
            Field::Processors => "the number of processors",
            Field::Size => "the size",
            Field::Threshold => "the threshold",
            Field::Time => "a point in time",
            Field::Value => "the value",
        })
    }
}

/// A number that belongs to no job and no contract is out of its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is out of range")]
pub struct OutOfRange(pub Field);

/// Refuses unless `good`.
pub(super) fn within(good: bool, field: Field) -> Result<(), OutOfRange> {
    if good { Ok(()) } else { Err(OutOfRange(field)) }
}
