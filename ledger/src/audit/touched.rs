//! The records that a block touched, checked against the same records before it.

use super::counts;
use super::whole::{contract, freezes, job, line, units};
use crate::record::{Booking, Lease, Order};
use crate::refusal::{Breach, hold};
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, ClassId, OfferId, OrderId};
use gridbay_protocol::payment::Purse;
use std::collections::{BTreeMap, BTreeSet};

/// Checks what is different in `work`, given that all was sound in `before`.
pub(super) fn check(before: &Work<'_>, work: &Work<'_>) -> Result<(), Breach> {
    money(before, work)?;
    pots(work)?;
    retained(work)?;
    counts::touched(work)?;
    let grown = grown(work);
    if !grown.is_empty() {
        units(work, |offer| grown.contains(offer))?;
    }
    let ids = orders(work);
    frozen(before, work, &ids)?;
    listed(work, &ids)?;
    for id in &ids {
        if let Some(terms) = work.tables.contracts.get(id) {
            contract(work, id, terms)?;
        }
    }
    Ok(())
}

/// Money only moved, and nobody whose purse or line changed is below it.
fn money(before: &Work<'_>, work: &Work<'_>) -> Result<(), Breach> {
    let mut sum = 0i128;
    for (purse, was, is) in work.tables.purses.changed() {
        sum += i128::from(is.copied().unwrap_or(0)) - i128::from(was.copied().unwrap_or(0));
        line(work, purse)?;
    }
    for (account, ..) in work.tables.accounts.changed() {
        line(work, &Purse::Account(*account))?;
    }
    let minted = |work: &Work<'_>| i128::from(work.chain.minted.micros());
    let more = minted(work) - minted(before);
    hold(sum == more, || {
        format!("{more} was minted in the block, the purses hold {sum} more")
    })
}

/// Class purses moved with their pots.
fn pots(work: &Work<'_>) -> Result<(), Breach> {
    let mut moved: BTreeMap<ClassId, i128> = BTreeMap::new();
    for (_, was, is) in work.tables.pots.changed() {
        for (pot, sign) in was
            .map(|pot| (pot, -1))
            .into_iter()
            .chain(is.map(|pot| (pot, 1)))
        {
            *moved.entry(pot.class).or_default() += sign * i128::from(pot.left.micros());
        }
    }
    for (purse, was, is) in work.tables.purses.changed() {
        if let Purse::Class(class) = purse {
            let more = i128::from(is.copied().unwrap_or(0)) - i128::from(was.copied().unwrap_or(0));
            *moved.entry(*class).or_default() -= more;
        }
    }
    let apart = moved.iter().find(|(_, difference)| **difference != 0);
    hold(apart.is_none(), || {
        format!("pots and purse of a class moved apart: {apart:?}")
    })
}

/// Retained purses moved with what buyers may still dispute.
fn retained(work: &Work<'_>) -> Result<(), Breach> {
    let mut moved: BTreeMap<AccountId, i128> = BTreeMap::new();
    for (_, was, is) in work.tables.retained.changed() {
        for (retained, sign) in was
            .map(|held| (held, -1))
            .into_iter()
            .chain(is.map(|held| (held, 1)))
        {
            *moved.entry(retained.seller).or_default() +=
                sign * i128::from(retained.amount.micros());
        }
    }
    for (purse, was, is) in work.tables.purses.changed() {
        if let Purse::Retained(seller) = purse {
            let more = i128::from(is.copied().unwrap_or(0)) - i128::from(was.copied().unwrap_or(0));
            *moved.entry(*seller).or_default() -= more;
        }
    }
    let apart = moved.iter().find(|(_, difference)| **difference != 0);
    hold(apart.is_none(), || {
        format!("retained purses and what may be disputed moved apart: {apart:?}")
    })
}

/// Offers of which more may be taken than before, or less is bound.
fn grown(work: &Work<'_>) -> BTreeSet<OfferId> {
    let mut grown = BTreeSet::new();
    for (id, was, is) in work.tables.offers.changed() {
        if is.map_or(0, |offer| offer.bound) < was.map_or(0, |offer| offer.bound) {
            grown.insert(*id);
        }
    }
    for (_, was, is) in work.tables.leases.changed() {
        let same = |was: &Lease, is: &Lease| {
            (&was.shares, was.firm_through) == (&is.shares, is.firm_through) && was.slot <= is.slot
        };
        if let Some(is) = is.filter(|is| !was.is_some_and(|was| same(was, is))) {
            grown.extend(is.shares.iter().map(|share| share.offer));
        }
    }
    for (_, was, is) in work.tables.orders.changed() {
        let is = is.and_then(waits);
        if let Some(booking) = is.filter(|is| was.and_then(waits) != Some(*is)) {
            grown.extend(booking.taken.iter().map(|taken| taken.offer));
        }
    }
    grown
}

/// Units that an order has booked and that no lease of its holds yet.
fn waits(order: &Order) -> Option<&Booking> {
    let booking = order.reservation()?.booking.as_ref();
    booking.filter(|_| order.lease.is_none())
}

/// Orders and contracts that changed, or whose money did.
fn orders(work: &Work<'_>) -> BTreeSet<OrderId> {
    let tables = &work.tables;
    let purses = tables
        .purses
        .changed()
        .filter_map(|(purse, ..)| match purse {
            Purse::Escrow(id) | Purse::Bond(id) => Some(*id),
            Purse::Account(_) | Purse::Class(_) | Purse::Bank | Purse::Retained(_) => None,
        });
    let mut ids: BTreeSet<OrderId> = purses.collect();
    ids.extend(tables.orders.changed().map(|(id, ..)| *id));
    ids.extend(tables.unopened.changed().map(|(id, ..)| *id));
    ids.extend(tables.contracts.changed().map(|(id, ..)| *id));
    // An offer decides whose the stakes on its jobs are.
    for (offer, ..) in tables.offers.changed().filter(|(_, _, is)| is.is_none()) {
        let all = (*offer, OrderId([0; 32]))..=(*offer, OrderId([255; 32]));
        ids.extend(tables.jobs.range(all).map(|((_, id), ())| *id));
    }
    ids
}

/// The bank's count of frozen money moved with what lies in escrows and stakes.
fn frozen(before: &Work<'_>, work: &Work<'_>, ids: &BTreeSet<OrderId>) -> Result<(), Breach> {
    let mut moved: BTreeMap<AccountId, i128> = BTreeMap::new();
    if work.constitution.policy.bank.tax.is_some() {
        for (view, sign) in [(before, -1), (work, 1)] {
            for (account, amount) in ids.iter().flat_map(|id| freezes(view, id)) {
                *moved.entry(account).or_default() += sign * i128::from(amount);
            }
        }
    }
    for (account, was, is) in work.tables.savings.changed() {
        let counted = |savings: Option<&crate::record::Savings>| savings.map_or(0, |s| s.frozen);
        *moved.entry(*account).or_default() += i128::from(counted(was)) - i128::from(counted(is));
    }
    let apart = moved.iter().find(|(_, difference)| **difference != 0);
    hold(apart.is_none(), || {
        format!("escrows and what is counted as frozen moved apart: {apart:?}")
    })
}

/// Jobs that were listed, or whose order or money changed.
fn listed(work: &Work<'_>, ids: &BTreeSet<OrderId>) -> Result<(), Breach> {
    for ((offer, id), _, is) in work.tables.jobs.changed() {
        if is.is_some() {
            job(work, offer, id)?;
        }
    }
    // An order that ended must be listed nowhere: it was, if at all, at the offer that it named
    // before.
    let orders = work.tables.orders.changed();
    let named = orders.flat_map(|(id, was, is)| {
        let offers = was.into_iter().chain(is);
        offers.filter_map(|order| Some((order.deadline()?.deadline.offer, *id)))
    });
    let moved = ids.iter().filter_map(|id| {
        let order = work.tables.orders.get(id)?;
        Some((order.deadline()?.deadline.offer, *id))
    });
    for place in named.chain(moved) {
        if work.tables.jobs.contains(&place) {
            job(work, &place.0, &place.1)?;
        }
    }
    Ok(())
}
