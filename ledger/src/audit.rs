//! Our own invariants, asserted after every block: a breach is a mistake in this crate, and stopping is better than
//! voting for it.

use crate::purse;
use crate::work::Work;

/// Checks everything.
///
/// # Panics
/// If money was made or lost, or a balance is below its credit line.
pub(crate) fn check(work: &Work<'_>) {
    money(work);
}

/// I1: the purses hold what was minted; none is below its line.
fn money(work: &Work<'_>) {
    let mut sum = 0i128;
    for (purse, balance) in work.tables.purses.iter() {
        sum += i128::from(*balance);
        if *balance < 0 {
            let line = i128::from(purse::credit_line(work, purse).micros());
            assert!(
                i128::from(*balance) + line >= 0,
                "balance of {purse:?} is below its credit line"
            );
        }
    }
    assert_eq!(
        sum,
        i128::from(work.chain.minted.micros()),
        "money is conserved"
    );
}
