//! The savings of an account beyond its purse, kept only where the bank taxes.
//!
//! 1. *Frozen* money lies in the escrows of the account's orders, or is staked on others' orders.
//!    It counts as savings, so the sum is kept with every posting that an escrow or a stake has a
//!    part in.
//! 2. *Arrears* are tax that was due and found frozen. They are taken, as far as the account still
//!    has more than its baseline, whenever money reaches the account: a release, a refund, an
//!    earning. Never is more taken than just came in, so payments checked before stay covered:
//!    after every levy and every collection an account with arrears has nothing free, or nothing
//!    above its baseline.
//! 3. A tax that runs over several blocks (see `turn`) finds every account as it was when the tax
//!    began: before money moves into or out of an account that is still to be taxed, or into or out
//!    of one of its escrows, it is taxed. So nothing is gained by handing money from an account
//!    late in the list to one that was early in it. Until an account is taxed, it cannot
//!    spend what the tax will take.

use super::due::{due, holding, of, tax};
use super::{Levy, levy};
use crate::record::Savings;
use crate::view::Money;
use crate::work::Work;
use gridbay_protocol::bank::SavingsTax;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

/// Before money moves between two purses: taxes the accounts that own them, if they are still to be
/// taxed.
pub(crate) fn before(at: &mut Money<'_, '_>, from: &Purse, to: &Purse) {
    if tax(at).is_none() {
        return;
    }
    for id in [owner(at, from, to), owner(at, to, from)] {
        let Some((id, due)) = id.and_then(|id| Some((id, due(at, &id)?))) else {
            continue;
        };
        change(at, &id, |savings| savings.levied = true);
        take(at, &id, due);
    }
}

/// After money moved: keeps count of what is frozen, and collects arrears of what came in.
pub(crate) fn after(at: &mut Money<'_, '_>, from: &Purse, to: &Purse, amount: Credits) {
    if tax(at).is_none() {
        return;
    }
    if let (Purse::Escrow(_) | Purse::Bond(_), Some(id)) = (from, owner(at, from, to)) {
        change(at, &id, |savings| {
            let left = savings.frozen.checked_sub(amount.micros());
            savings.frozen = left.expect("what leaves an escrow was frozen");
        });
    }
    if let (Purse::Escrow(_) | Purse::Bond(_), Some(id)) = (to, owner(at, to, from)) {
        change(at, &id, |savings| savings.frozen += amount.micros());
    }
    if let Purse::Account(id) = to {
        collect(at, id);
    }
}

/// The account whose savings include a purse's money; for an escrow, the account of its order.
/// While the order enters or leaves the book, that account is the other party of the posting.
fn owner(work: &Work<'_>, purse: &Purse, other: &Purse) -> Option<AccountId> {
    match (purse, other) {
        (Purse::Account(id), _) => Some(*id),
        (Purse::Escrow(order), _) => {
            let live = work.tables.orders.get(order).map(|o| o.account);
            let unopened = || work.tables.unopened.get(order).map(|o| o.account);
            let contract = || work.tables.contracts.get(order).map(|c| c.client);
            live.or_else(unopened).or_else(contract).or(match other {
                Purse::Account(id) => Some(*id),
                Purse::Escrow(_)
                | Purse::Class(_)
                | Purse::Bond(_)
                | Purse::Bank
                | Purse::Retained(_) => None,
            })
        }
        (Purse::Bond(order), _) => staker(work, order).or(match other {
            Purse::Account(id) => Some(*id),
            _ => None,
        }),
        // Held earnings are the seller's only when its buyers can complain no more.
        (Purse::Class(_) | Purse::Bank | Purse::Retained(_), _) => None,
    }
}

/// The account that has staked on an order or a contract.
pub(crate) fn staker(work: &Work<'_>, order: &OrderId) -> Option<AccountId> {
    if let Some(contract) = work.tables.contracts.get(order) {
        return Some(contract.terms.provider);
    }
    let job = work.tables.orders.get(order)?.deadline()?;
    let offer = work.tables.offers.get(&job.deadline.offer)?;
    Some(offer.seller)
}

/// The turn of an account has come: taxes it, unless it was before.
pub(super) fn reach(at: &mut Money<'_, '_>, id: &AccountId, tax: &SavingsTax) {
    if of(at, id).levied {
        change(at, id, |savings| savings.levied = false);
        return;
    }
    let due = levy(&holding(at, id), tax.ppm);
    take(at, id, due);
}

fn take(at: &mut Money<'_, '_>, id: &AccountId, due: Levy) {
    if of(at, id).arrears != due.owed {
        change(at, id, |savings| savings.arrears = due.owed);
    }
    pay(at, id, due.taken, Reason::Tax);
}

fn collect(at: &mut Money<'_, '_>, id: &AccountId) {
    if of(at, id).arrears == 0 {
        return;
    }
    let due = levy(&holding(at, id), 0);
    // The rest stays owed, also beyond the present excess, because money under way may come back.
    // The next tax forgives it.
    change(at, id, |savings| savings.arrears -= due.taken);
    pay(at, id, due.taken, Reason::Arrears);
}

fn pay(at: &mut Money<'_, '_>, id: &AccountId, micros: u64, reason: Reason) {
    let amount = Credits::from_micros(micros).expect("a part of a balance is an amount");
    at.post(Purse::Account(*id), Purse::Bank, amount, reason, None)
        .expect("no more is taken than is free");
}

fn change(at: &mut Money<'_, '_>, id: &AccountId, change: impl FnOnce(&mut Savings)) {
    let mut savings = of(at, id);
    change(&mut savings);
    if savings == Savings::default() {
        at.savings().remove(id);
    } else {
        at.savings().insert(*id, savings);
    }
}
