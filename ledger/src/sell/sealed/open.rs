//! `open`: a sealed bid or reservation becomes a standing one, a sealed amendment amends a bid.
//!
//! 1. Only in the round after the commitment's, in all its blocks but the last.
//! 2. Seal, class and size bracket match.
//! 3. A bid stands for a legal time, the class has room for it, and its budget covers one slot at
//!    the bid. A reservation can be booked (see `sell::reservation`). For an amendment, see
//!    `sell::ausubel::amend`.
//! 4. The account covers the part of one slot at the bid, or of a reservation's whole value, that
//!    the deposit lacks.

use crate::book;
use crate::money::{funds, purse};
use crate::record::Stage;
use crate::refusal::Refusal;
use crate::sell::ausubel::amend;
use crate::sell::reservation;
use crate::view::{Book, Money};
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::order::{Bid, Open, Wish, order_of};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

pub(crate) fn check(work: &Work<'_>, account: &AccountId, open: &Open) -> Result<(), Refusal> {
    let id = order_of(&open.commit);
    let order = work.tables.orders.get(&id);
    let order = order.filter(|o| o.account == *account);
    let order = order.ok_or(Refusal::NoOrder(id))?;
    let Stage::Sealed { seal, bracket, .. } = &order.stage else {
        return Err(Refusal::NotSealed(id));
    };
    check_time(work, &id, order.round)?;
    let wish = &open.wish;
    let matches = wish.class() == order.class
        && u64::from(wish.units()) <= 1 << *bracket
        && wish.seal(&work.constitution.network, account, &open.salt) == *seal;
    if !matches {
        return Err(Refusal::Seal(id));
    }
    match wish {
        Wish::Bid(bid) => {
            book::may_stand(work, bid.stands_until)?;
            check_bid(work, account, bid)?;
        }
        Wish::Amendment(amendment) => {
            book::may_stand(work, amendment.bid.stands_until)?;
            return amend::check(work, account, &id, amendment);
        }
        Wish::Reservation(reservation) => {
            let class = work.class(&reservation.class);
            let class = class.ok_or(Refusal::NoClass(reservation.class))?;
            reservation::check(work, class, reservation)?;
        }
    }
    let missing = wish
        .lock()
        .saturating_sub(purse::held(work, &Purse::Escrow(id)));
    funds::require(work, Purse::Account(*account), missing)
}

fn check_bid(work: &Work<'_>, account: &AccountId, bid: &Bid) -> Result<(), Refusal> {
    book::may_open(work, account, bid)?;
    let slot = bid.slot();
    if bid.budget < slot {
        return Err(Refusal::Budget {
            budget: bid.budget,
            slot,
        });
    }
    Ok(())
}

fn check_time(work: &Work<'_>, order: &OrderId, committed: u64) -> Result<(), Refusal> {
    let calendar = work.calendar();
    let first = calendar.last_of_round(committed) + 1;
    let last = calendar.last_of_round(committed + 1) - 1;
    if (first..=last).contains(&work.height()) {
        return Ok(());
    }
    Err(Refusal::OpeningTime {
        order: *order,
        first,
        last,
        early: work.height() < first,
    })
}

pub(crate) fn enter(at: &mut Book<'_, '_>, account: &AccountId, open: &Open) {
    let id = order_of(&open.commit);
    if let Wish::Amendment(amendment) = &open.wish {
        return amend::open(at, account, &id, amendment);
    }
    lock(&mut at.money(), account, &id, open.wish.lock());
    book::open(at, &id, open.wish.clone());
}

/// Brings the escrow from the deposit to what the open wish locks.
fn lock(at: &mut Money<'_, '_>, account: &AccountId, id: &OrderId, lock: Credits) {
    let (account, escrow) = (Purse::Account(*account), Purse::Escrow(*id));
    let deposit = purse::held(at, &escrow);
    let missing = lock.saturating_sub(deposit);
    let excess = deposit.saturating_sub(lock);
    at.post(account, escrow, missing, Reason::Lock, Some(*id))
        .expect("the lock was checked");
    at.post(escrow, account, excess, Reason::Release, Some(*id))
        .expect("a purse bears what it holds");
}
