//! Our own invariants, asserted after every block: a breach is a mistake in this crate, and stopping is better than
//! voting for it.

use crate::work::Work;
use crate::{market, purse};
use gridbay_protocol::payment::Purse;
use std::collections::BTreeMap;

/// Checks everything.
///
/// # Panics
/// If money was made or lost, a balance is below its credit line, pots and class purses differ, a unit is in two
/// leases, or a contract does not hold what was locked for it.
pub(crate) fn check(work: &Work<'_>) {
    money(work);
    pots(work);
    units(work);
    contracts(work);
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

/// The class purses hold what the pots hold.
fn pots(work: &Work<'_>) {
    let mut sums = BTreeMap::new();
    for (_, pot) in work.tables.pots.iter() {
        *sums.entry(pot.class).or_insert(0u64) += pot.left.micros();
    }
    for class in work.constitution.by_id.keys() {
        let held = purse::held(work, &Purse::Class(*class)).micros();
        let sum = sums.get(class).copied().unwrap_or(0);
        assert_eq!(held, sum, "class {class} holds what its pots hold");
    }
}

/// I8: no unit is in two leases.
fn units(work: &Work<'_>) {
    for (id, held) in market::held(work) {
        let bound = work.tables.offers.get(&id).map_or(0, |o| o.bound);
        assert!(
            held.all() <= bound,
            "{} units of offer {id} are held, {bound} are bound",
            held.all()
        );
    }
}

/// Every contract holds the most that it can cost, and once it is signed every penalty.
fn contracts(work: &Work<'_>) {
    for (id, contract) in work.tables.contracts.iter() {
        let escrow = purse::held(work, &Purse::Escrow(*id));
        let bond = purse::held(work, &Purse::Bond(*id));
        let staked = contract.progress.and_then(|_| contract.terms.bond());
        assert_eq!(Some(escrow), contract.terms.lock(), "escrow of {id}");
        assert_eq!(bond, staked.unwrap_or_default(), "bond of {id}");
    }
}
