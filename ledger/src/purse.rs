//! Purses and [`post`], the one function that moves money.
//!
//! A purse holds a balance in micro-credits. Only an account's may be negative, down to its credit
//! line. A purse that holds nothing has no record. Where the bank taxes savings, every movement of money has its say in
//! them (see `bank::savings`).

use crate::bank::{figures, savings};
use crate::refusal::Refusal;
use crate::work::Work;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use gridbay_protocol::planted::{self, Planted};
use gridbay_protocol::units::Credits;

/// Moves `amount` and records the posting. Nothing moves, and nothing is recorded, if the amount is zero or the
/// purse debited cannot bear it.
pub(crate) fn post(
    work: &mut Work<'_>,
    from: Purse,
    to: Purse,
    amount: Credits,
    reason: Reason,
    order: Option<OrderId>,
) -> Result<(), Refusal> {
    if amount == Credits::ZERO || from == to {
        return Ok(());
    }
    savings::before(work, &from, &to);
    require(work, from, amount)?;
    let credited = balance(work, &to)
        .checked_add_unsigned(amount.micros())
        .ok_or(Refusal::Overflow)?;
    let debited = balance(work, &from) - amount.micros() as i64;
    set(work, from, debited);
    set(work, to, credited);
    work.emit(Effect::Posting(Posting {
        from,
        to,
        amount,
        reason,
        order,
    }));
    figures::posted(work, reason, amount);
    savings::after(work, &from, &to, amount);
    Ok(())
}

/// Whether `from` can bear a debit of `amount`.
pub(crate) fn require(work: &Work<'_>, from: Purse, amount: Credits) -> Result<(), Refusal> {
    let available = available(work, &from);
    let is_account = matches!(from, Purse::Account(_));
    if amount <= available || (is_account && planted::is(Planted::FundsUnchecked)) {
        return Ok(());
    }
    Err(Refusal::Funds {
        purse: from,
        needed: amount,
        available,
    })
}

/// Most that can be debited: balance plus credit line, less what a running tax takes first.
pub(crate) fn available(work: &Work<'_>, purse: &Purse) -> Credits {
    let line = credit_line(work, purse);
    let pending = match purse {
        Purse::Account(id) => savings::pending(work, id),
        Purse::Escrow(_) | Purse::Class(_) | Purse::Bond(_) | Purse::Bank | Purse::Retained(_) => 0,
    };
    let free = i128::from(balance(work, purse)) + i128::from(line.micros());
    let free = free - i128::from(pending);
    let free = u64::try_from(free.max(0)).unwrap_or(u64::MAX);
    Credits::from_micros(free).unwrap_or(Credits::MAX)
}

/// What a purse holds in micro-credits.
pub(crate) fn balance(work: &Work<'_>, purse: &Purse) -> i64 {
    work.tables.purses.get(purse).copied().unwrap_or(0)
}

/// What a purse that is never negative holds.
pub(crate) fn held(work: &Work<'_>, purse: &Purse) -> Credits {
    let micros = u64::try_from(balance(work, purse)).unwrap_or(0);
    Credits::from_micros(micros).unwrap_or(Credits::MAX)
}

/// How far a purse may fall below zero.
pub(crate) fn credit_line(work: &Work<'_>, purse: &Purse) -> Credits {
    match purse {
        Purse::Account(id) => work
            .tables
            .accounts
            .get(id)
            .map_or(Credits::ZERO, |account| account.credit_line),
        Purse::Escrow(_) | Purse::Class(_) | Purse::Bond(_) | Purse::Bank | Purse::Retained(_) => {
            Credits::ZERO
        }
    }
}

fn set(work: &mut Work<'_>, purse: Purse, balance: i64) {
    if balance == 0 {
        work.tables.purses.remove(&purse);
    } else {
        work.tables.purses.insert(purse, balance);
    }
}
