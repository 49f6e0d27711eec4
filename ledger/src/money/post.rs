//! [`post`], the one function that moves money.
//!
//! Where the bank taxes savings, every movement of money has its say in them (see `bank::savings`).

use super::funds::require;
use super::purse::balance;
use crate::bank::{figures, savings};
use crate::refusal::Refusal;
use crate::work::Work;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::payment::{Posting, Purse, Reason};
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

fn set(work: &mut Work<'_>, purse: Purse, balance: i64) {
    if balance == 0 {
        work.tables.purses.remove(&purse);
    } else {
        work.tables.purses.insert(purse, balance);
    }
}
