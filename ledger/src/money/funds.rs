//! The money that can be debited: the balance of a purse with its credit line, less the levy that a
//! running tax takes first.

use super::purse::{balance, credit_line};
use crate::bank::due;
use crate::refusal::Refusal;
use crate::work::Work;
use gridbay_protocol::payment::Purse;
use gridbay_protocol::units::Credits;

/// Whether `from` can bear a debit of `amount`.
pub(crate) fn require(work: &Work<'_>, from: Purse, amount: Credits) -> Result<(), Refusal> {
    let available = available(work, &from);
    if amount <= available {
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
        Purse::Account(id) => due::pending(work, id),
        Purse::Escrow(_) | Purse::Class(_) | Purse::Bond(_) | Purse::Bank | Purse::Retained(_) => 0,
    };
    let free = i128::from(balance(work, purse)) + i128::from(line.micros());
    let free = free - i128::from(pending);
    let free = u64::try_from(free.max(0)).unwrap_or(u64::MAX);
    Credits::from_micros(free).unwrap_or(Credits::MAX)
}
