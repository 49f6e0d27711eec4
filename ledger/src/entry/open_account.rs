//! `open_account`: by invitation, or directly by a member's own key.
//!
//! 1. Only a member opens directly: it is its own sponsor. The sponsor of an invited account is the
//!    inviter's. Seats are left for it (see `seats`).
//! 2. A grant is within its window and its token unused. That a key which may spend for the inviter
//!    *now* signed it is judged before (`admit`).
//! 3. No other account lists one of the new account's keys.
//! 4. The inviter can pay the endowment.
//!
//! The new account has no credit line. A token is remembered, by inviter, until the end of the
//! epoch in which its grant expires.

use crate::money::funds;
use crate::record::{Account, Closed, Spent};
use crate::refusal::Refusal;
use crate::view::Register;
use crate::work::Work;
use crate::{owner, seats};
use gridbay_protocol::account::{AccountKey, opened_by};
use gridbay_protocol::entry::Entry;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::invitation::{Grant, SignedGrant};
use gridbay_protocol::limits;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

pub(super) fn check(
    work: &Work<'_>,
    entry: &Entry,
    grant: Option<&SignedGrant>,
    keys: &[AccountKey],
    endowment: Credits,
) -> Result<(), Refusal> {
    if let Some(signed) = grant {
        check_grant(work, &signed.grant)?;
    }
    let sponsor = work.sponsor(&entry.account);
    if grant.is_none() && sponsor != entry.account {
        return Err(Refusal::NotMember(entry.account));
    }
    seats::check(work, &entry.account)?;
    owner::check(work, None, keys)?;
    let endowment = grant.map_or(endowment, |g| g.grant.endowment);
    funds::require(work, Purse::Account(entry.account), endowment)
}

fn check_grant(work: &Work<'_>, grant: &Grant) -> Result<(), Refusal> {
    let (valid_until, height) = (grant.valid_until, work.height());
    if valid_until < height || valid_until - height > limits::INVITATION_WINDOW {
        return Err(Refusal::Grant {
            valid_until,
            height,
        });
    }
    let inviter = grant.inviter;
    if work.tables.tokens.contains(&(inviter, grant.token)) {
        return Err(Refusal::TokenUsed { inviter });
    }
    Ok(())
}

pub(super) fn apply(
    at: &mut Register<'_, '_>,
    id: &EntryId,
    entry: &Entry,
    grant: Option<&SignedGrant>,
    keys: &[AccountKey],
    endowment: Credits,
) {
    let sponsor = at.sponsor(&entry.account);
    let depth = seats::take(at, &entry.account);
    let new = opened_by(id);
    let account = Account {
        keys: keys.to_vec(),
        sponsor,
        credit_line: Credits::ZERO,
        inviter: entry.account,
        depth,
        invited: 0,
        closed: Closed::default(),
        seats: Vec::new(),
        spent: Spent::default(),
    };
    at.accounts().insert(new, account);
    owner::update(at, &new, &[]);
    if let Some(SignedGrant { grant, .. }) = grant {
        let token = (grant.inviter, grant.token);
        at.tokens().insert(token, grant.valid_until);
    }
    let endowment = grant.map_or(endowment, |g| g.grant.endowment);
    let (from, to) = (Purse::Account(entry.account), Purse::Account(new));
    at.post(from, to, endowment, Reason::Endowment, None)
        .expect("the endowment was checked");
}
