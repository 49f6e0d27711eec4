//! `transfer`: money from an account to another one that exists.

use crate::money::funds;
use crate::refusal::Refusal;
use crate::view::Money;
use crate::work::Work;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

pub(super) fn check(
    work: &Work<'_>,
    from: &AccountId,
    to: &AccountId,
    amount: Credits,
) -> Result<(), Refusal> {
    if !work.tables.accounts.contains(to) {
        return Err(Refusal::NoAccount(*to));
    }
    funds::require(work, Purse::Account(*from), amount)
}

pub(super) fn apply(at: &mut Money<'_, '_>, from: &AccountId, to: &AccountId, amount: Credits) {
    let (from, to) = (Purse::Account(*from), Purse::Account(*to));
    at.post(from, to, amount, Reason::Transfer, None)
        .expect("the amount was checked");
}
