//! The check of all records, and the rules for single records that the check of touched records
//! shares.

use super::counts;
use crate::bank::savings;
use crate::market;
use crate::money::purse;
use crate::record::Contract;
use crate::refusal::{Breach, hold};
use crate::sell::reservation::busy;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, ClassId, OfferId, OrderId};
use gridbay_protocol::payment::Purse;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Checks everything.
pub(crate) fn check(work: &Work<'_>) -> Result<(), Breach> {
    money(work)?;
    pots(work)?;
    units(work, |_| true)?;
    frozen(work)?;
    for ((offer, id), ()) in work.tables.jobs.iter() {
        job(work, offer, id)?;
    }
    for (id, terms) in work.tables.contracts.iter() {
        contract(work, id, terms)?;
    }
    retained(work)?;
    counts::whole(work)
}

/// I1: the purses hold what was minted; none is below its line.
fn money(work: &Work<'_>) -> Result<(), Breach> {
    let mut sum = 0i128;
    for (purse, balance) in work.tables.purses.iter() {
        sum += i128::from(*balance);
        line(work, purse)?;
    }
    let minted = i128::from(work.chain.minted.micros());
    hold(sum == minted, || {
        format!("{minted} was minted, the purses hold {sum}")
    })
}

/// No purse is below its line.
pub(super) fn line(work: &Work<'_>, purse: &Purse) -> Result<(), Breach> {
    let balance = purse::balance(work, purse);
    let line = i128::from(purse::credit_line(work, purse).micros());
    hold(balance >= 0 || i128::from(balance) + line >= 0, || {
        format!("{purse:?} holds {balance}, below its credit line of {line}")
    })
}

/// The class purses hold what the pots hold.
fn pots(work: &Work<'_>) -> Result<(), Breach> {
    let mut sums: BTreeMap<ClassId, u64> = BTreeMap::new();
    for (_, pot) in work.tables.pots.iter() {
        *sums.entry(pot.class).or_default() += pot.left.micros();
    }
    for class in work.constitution.by_id.keys() {
        let held = purse::held(work, &Purse::Class(*class)).micros();
        let sum = sums.get(class).copied().unwrap_or(0);
        hold(held == sum, || {
            format!("class {class} holds {held}, its pots {sum}")
        })?;
    }
    Ok(())
}

/// I8: of some offers no unit is in two leases, nor booked twice for a slot.
pub(super) fn units(work: &Work<'_>, which: impl Fn(&OfferId) -> bool) -> Result<(), Breach> {
    let bound = |id: &OfferId| work.tables.offers.get(id).map_or(0, |o| o.bound);
    let next = work.calendar().slot(work.height() + 1);
    let booked = busy::peaks(work, next).into_iter();
    let held = market::held(work).into_iter();
    let held = held.map(|(id, held)| (id, held.all()));
    for (id, taken) in booked.chain(held).filter(|(id, _)| which(id)) {
        hold(taken <= bound(&id), || {
            format!(
                "{taken} units of offer {id} are taken, {} are bound",
                bound(&id)
            )
        })?;
    }
    Ok(())
}

/// The money that an order or contract has frozen in its escrow and its stake, by owner.
pub(super) fn freezes(work: &Work<'_>, id: &OrderId) -> Vec<(AccountId, u64)> {
    let held = |purse| purse::held(work, &purse).micros();
    let order = work.tables.orders.get(id).map(|order| order.account);
    let unopened = work.tables.unopened.get(id).map(|order| order.account);
    let client = work.tables.contracts.get(id).map(|c| c.client);
    let owners = order.into_iter().chain(unopened).chain(client);
    let mut frozen: Vec<_> = owners.map(|a| (a, held(Purse::Escrow(*id)))).collect();
    if order.is_some() || client.is_some() {
        let staker = savings::staker(work, id);
        frozen.extend(staker.map(|account| (account, held(Purse::Bond(*id)))));
    }
    frozen
}

/// The bank's count of frozen money is the sum of the escrows of each account's orders and of its
/// stakes.
fn frozen(work: &Work<'_>) -> Result<(), Breach> {
    let mut sums: BTreeMap<AccountId, u64> = BTreeMap::new();
    if work.constitution.policy.bank.tax.is_some() {
        let orders = work.tables.orders.iter().map(|(id, _)| id);
        let unopened = work.tables.unopened.iter().map(|(id, _)| id);
        let contracts = work.tables.contracts.iter().map(|(id, _)| id);
        for id in orders.chain(unopened).chain(contracts) {
            for (account, amount) in freezes(work, id) {
                *sums.entry(account).or_default() += amount;
            }
        }
    }
    sums.retain(|_, sum| *sum > 0);
    let counted = work.tables.savings.iter();
    let counted = counted.filter(|(_, savings)| savings.frozen > 0);
    let counted: BTreeMap<AccountId, u64> = counted.map(|(id, s)| (*id, s.frozen)).collect();
    hold(counted == sums, || {
        format!("{sums:?} lies in escrows, the bank counts {counted:?}")
    })
}

/// The most that a job may pay, and its seller's stake on it, lie ready.
pub(super) fn job(work: &Work<'_>, offer: &OfferId, id: &OrderId) -> Result<(), Breach> {
    let order = work.tables.orders.get(id);
    let Some(job) = order.and_then(|order| order.deadline()) else {
        return Err(Breach(format!(
            "job {id}, listed at {offer}, is no live order"
        )));
    };
    let listed = job.deadline.offer == *offer;
    hold(listed, || format!("job {id} is listed at offer {offer}"))?;
    let bond = job.taken.map_or(Credits::ZERO, |taken| taken.bond);
    let held = |purse| purse::held(work, &purse);
    let (price, stake) = (held(Purse::Escrow(*id)), held(Purse::Bond(*id)));
    hold((price, stake) == (job.deadline.pmax, bond), || {
        format!("job {id} holds {price} and {stake}")
    })
}

/// A contract holds the most that it can cost, and once it is signed every penalty.
pub(super) fn contract(work: &Work<'_>, id: &OrderId, contract: &Contract) -> Result<(), Breach> {
    let escrow = purse::held(work, &Purse::Escrow(*id));
    let bond = purse::held(work, &Purse::Bond(*id));
    let staked = contract.progress.and_then(|_| contract.terms.bond());
    let covered = Some(escrow) == contract.terms.lock() && bond == staked.unwrap_or_default();
    hold(covered, || {
        format!("contract {id} holds {escrow} and {bond}")
    })
}

/// A seller's retained purse holds what buyers may still dispute.
fn retained(work: &Work<'_>) -> Result<(), Breach> {
    let mut sums: BTreeMap<AccountId, u64> = BTreeMap::new();
    for (_, retained) in work.tables.retained.iter() {
        *sums.entry(retained.seller).or_default() += retained.amount.micros();
    }
    let purses = work.tables.purses.iter();
    let held = purses.filter_map(|(purse, balance)| match purse {
        Purse::Retained(seller) => Some((*seller, u64::try_from(*balance).unwrap_or(0))),
        _ => None,
    });
    let held: BTreeMap<AccountId, u64> = held.collect();
    hold(held == sums, || {
        format!("{held:?} is retained, buyers may dispute {sums:?}")
    })
}
