//! Our own invariants, asserted after every block: a breach is a mistake in this crate, and stopping is better than
//! voting for it.

use crate::bank::savings;
use crate::reservation::busy;
use crate::work::Work;
use crate::{market, purse};
use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::payment::Purse;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Checks everything.
///
/// # Panics
/// If money was made or lost, a balance is below its credit line, pots and class purses differ, a unit is in two
/// leases or booked twice, a job or a contract is not covered, or the bank counts other money as frozen than lies in escrows.
pub(crate) fn check(work: &Work<'_>) {
    money(work);
    pots(work);
    units(work);
    frozen(work);
    jobs(work);
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

/// What the bank counts as frozen is what lies in the escrows of each account's orders, and what it has staked.
fn frozen(work: &Work<'_>) {
    let mut sums: BTreeMap<AccountId, u64> = BTreeMap::new();
    if work.constitution.policy.bank.tax.is_some() {
        let live = work.tables.orders.iter().map(|(id, o)| (id, o.account));
        let unopened = work.tables.unopened.iter().map(|(id, o)| (id, o.account));
        for (order, account) in live.chain(unopened) {
            *sums.entry(account).or_default() += purse::held(work, &Purse::Escrow(*order)).micros();
        }
        for (id, contract) in work.tables.contracts.iter() {
            let escrow = purse::held(work, &Purse::Escrow(*id)).micros();
            *sums.entry(contract.client).or_default() += escrow;
        }
        let orders = work.tables.orders.iter().map(|(id, _)| id);
        let contracts = work.tables.contracts.iter().map(|(id, _)| id);
        for id in orders.chain(contracts) {
            if let Some(account) = savings::staker(work, id) {
                *sums.entry(account).or_default() += purse::held(work, &Purse::Bond(*id)).micros();
            }
        }
    }
    sums.retain(|_, sum| *sum > 0);
    let counted = work.tables.savings.iter();
    let counted = counted.filter(|(_, savings)| savings.frozen > 0);
    let counted: BTreeMap<AccountId, u64> = counted.map(|(id, s)| (*id, s.frozen)).collect();
    assert_eq!(counted, sums, "what is frozen lies in escrows");
}

/// What a job may pay, and what its seller staked on it, lies ready.
fn jobs(work: &Work<'_>) {
    for ((offer, id), ()) in work.tables.jobs.iter() {
        let order = work.tables.orders.get(id);
        let job = order.and_then(|order| order.deadline());
        let job = job.expect("a job listed at an offer is a live order");
        assert_eq!(
            job.deadline.offer, *offer,
            "job {id} is listed at its offer"
        );
        let bond = job.taken.map_or(Credits::ZERO, |taken| taken.bond);
        let held = |purse| purse::held(work, &purse);
        assert_eq!(held(Purse::Escrow(*id)), job.deadline.pmax, "price of {id}");
        assert_eq!(held(Purse::Bond(*id)), bond, "stake on {id}");
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
