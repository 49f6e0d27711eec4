//! `close_account`: an account that nothing is open of leaves the ledger. Executed after all other
//! entries of its block.
//!
//! 1. A founding member's account stays: the constitution names it.
//! 2. It has no order, unopened bid, contract or offer, no part in a pot that is still to be
//!    settled (a proposal that somebody else made it is no contract), no earnings that are held
//!    (they would reach an account that never returns), and owes no tax.
//! 3. Its money goes to another account; its keys are free for other accounts; its seat goes back
//!    (see `seats`).
//!
//! Its id never returns: it is the hash of the entry that opened it, which cannot take effect
//! twice. Entries that it signed are remembered until they expire, and its invitations are void:
//! nobody signs for it any more.

use crate::money::purse;
use crate::refusal::Refusal;
use crate::sell::contract;
use crate::view::Register;
use crate::work::Work;
use crate::{holdings, owner, seats};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::payment::{Purse, Reason};

pub(super) fn check(work: &Work<'_>, account: &AccountId, to: &AccountId) -> Result<(), Refusal> {
    if work.constitution.members.contains_key(account) {
        return Err(Refusal::Founder(*account));
    }
    if !work.tables.accounts.contains(to) {
        return Err(Refusal::NoAccount(*to));
    }
    match open(work, account) {
        Some(what) => Err(Refusal::StillOpen {
            account: *account,
            what,
        }),
        None => Ok(()),
    }
}

/// Something that an account has open.
fn open(work: &Work<'_>, account: &AccountId) -> Option<&'static str> {
    if let Some(kind) = holdings::any(work, account) {
        return Some(kind.what());
    }
    if contract::binds(work, account) {
        return Some("a contract");
    }
    let tables = &work.tables;
    let savings = tables.savings.get(account).copied().unwrap_or_default();
    if savings.arrears > 0 || savings.frozen > 0 || tables.sweeps.iter().next().is_some() {
        return Some("a tax that is not paid");
    }
    None
}

pub(super) fn apply(at: &mut Register<'_, '_>, account: &AccountId, to: &AccountId) {
    let (from, to) = (Purse::Account(*account), Purse::Account(*to));
    let rest = purse::held(at, &from);
    at.post(from, to, rest, Reason::Transfer, None)
        .expect("a purse bears what it holds");
    let closed = at.accounts().remove(account);
    let closed = closed.expect("an eligible entry's account exists");
    owner::update(at, account, &closed.keys);
    at.savings().remove(account);
    seats::give_back(at, &closed);
}
