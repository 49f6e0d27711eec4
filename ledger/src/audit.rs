//! Our own invariants, asserted after every block: a breach is a mistake in this crate, and stopping is better than
//! voting for it.

use crate::reservation::busy;
use crate::work::Work;
use crate::{market, purse};
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::payment::Purse;
use std::collections::BTreeMap;

/// Checks everything.
///
/// # Panics
/// If money was made or lost, a balance is below its credit line, pots and class purses differ, or a unit is in two
/// leases.
pub(crate) fn check(work: &Work<'_>) {
    money(work);
    pots(work);
    units(work);
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

/// I8: no unit is in two leases, nor booked twice for a slot.
fn units(work: &Work<'_>) {
    let bound = |id: &OfferId| work.tables.offers.get(id).map_or(0, |o| o.bound);
    for (id, booked) in busy::peaks(work, work.calendar().slot(work.height() + 1)) {
        assert!(
            booked <= bound(&id),
            "{booked} units of offer {id} are booked for a slot, {} are bound",
            bound(&id)
        );
    }
    for (id, held) in market::held(work) {
        let bound = bound(&id);
        assert!(
            held.all() <= bound,
            "{} units of offer {id} are held, {bound} are bound",
            held.all()
        );
    }
}
