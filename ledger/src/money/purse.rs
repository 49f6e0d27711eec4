//! The balances of purses, in micro-credits.
//!
//! Only an account's may be negative, down to its credit line. A purse that holds nothing has no
//! record.

use crate::work::Work;
use gridbay_protocol::payment::Purse;
use gridbay_protocol::units::Credits;

/// The balance of a purse in micro-credits.
pub(crate) fn balance(work: &Work<'_>, purse: &Purse) -> i64 {
    work.tables.purses.get(purse).copied().unwrap_or(0)
}

/// The balance of a purse that is never negative.
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
