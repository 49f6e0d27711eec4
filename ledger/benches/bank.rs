//! How long a savings tax takes, next to one apportionment over the same accounts in the same run.
//!
//! `cargo bench -p gridbay-ledger --bench bank` prints one line per case. The bar is what a block may spend on it; only
//! beyond three times the bar does the run fail, so that a busy machine does not make it.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark reports to its reader")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use gridbay_ledger::bank::{Bank, Holding, profits, tax};
use gridbay_protocol::bank::Redistribution;

/// A fifth of the shortest usual time between blocks.
const BAR: Duration = Duration::from_millis(50);

/// The median of nine runs.
fn median<R>(mut run: impl FnMut() -> R) -> Duration {
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Accounts around their bases, by a fixed sequence.
fn holdings(count: usize, share: impl Fn(usize) -> u64) -> Vec<Holding> {
    let mut seed = 1u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(11);
        (seed >> 20) % below
    };
    (0..count)
        .map(|index| Holding {
            available: draw(2_000_000_000) as i64,
            frozen: draw(200_000_000),
            base: 1_000_000_000,
            shares: share(index),
            arrears: 0,
        })
        .collect()
}

/// Prints a case and says whether it is within three times the bar.
fn report(case: &str, accounts: &[Holding], mode: Redistribution) -> bool {
    let time = median(|| tax(0, black_box(accounts), 50_000, mode));
    let pool = accounts.len() as u64 * 10_000_000;
    let baseline = median(|| profits(pool, black_box(accounts)));
    let ratio = time.as_secs_f64() / baseline.as_secs_f64();
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{case:<44} {:8.2} ms | one apportionment {:8.2} ms | {ratio:5.1}x | bar {:.0} ms",
        millis(time),
        millis(baseline),
        millis(BAR),
    );
    time <= 3 * BAR
}

fn main() -> ExitCode {
    let equal = |_| 1_000;
    let small = holdings(1_000, equal);
    let full = holdings(Bank::ACCOUNTS, equal);
    // Shares that halve make the most passes.
    let uneven = holdings(1_000, |index| 1 << (63 - index % 64));
    let good = report("1,000 accounts, deficit", &small, Redistribution::Deficit)
        & report("65,536 accounts, all", &full, Redistribution::All)
        & report("65,536 accounts, deficit", &full, Redistribution::Deficit)
        & report(
            "1,000 accounts, halving shares, deficit",
            &uneven,
            Redistribution::Deficit,
        );
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
