//! `transfer`: money from an account to another one that exists.

use crate::money::{funds, post};
use crate::refusal::Refusal;
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

pub(super) fn apply(work: &mut Work<'_>, from: &AccountId, to: &AccountId, amount: Credits) {
    let (from, to) = (Purse::Account(*from), Purse::Account(*to));
    post(work, from, to, amount, Reason::Transfer, None).expect("the amount was checked");
}
