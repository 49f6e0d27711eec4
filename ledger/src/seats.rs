//! The accounts that a founding member answers for, counted by their *depth*: the steps of
//! invitation from the member.
//!
//! 1. Each depth has its own seats, so those who were invited by others take none of those whom the
//!    member invites.
//! 2. At each depth so many accounts may be open under a member, and so many be opened in an epoch.
//! 3. An account that is no member's may have so many open accounts that it invited, and at the
//!    last depth none. Money makes no difference: it comes back from an account of one's own.
//! 4. A closed account gives its seat back: to the member at once, to its inviter when the epoch
//!    ends. Each account has a budget of entries for each epoch, and closing one and opening the
//!    next must not be a way to more.

use crate::record::{Account, Closed};
use crate::refusal::{Refusal, SeatRefusal};
use crate::view::Register;
use crate::work::Work;
use gridbay_protocol::calendar;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits::EPOCH_HEIGHTS;

/// Whether an account may open another one.
pub(crate) fn check(work: &Work<'_>, inviter: &AccountId) -> Result<(), Refusal> {
    let record = work.tables.accounts.get(inviter);
    let record = record.ok_or(Refusal::NoAccount(*inviter))?;
    let policy = &work.constitution.policy;
    let depth = record.depth.saturating_add(1);
    if depth > policy.invitations.depth {
        let inviter = *inviter;
        return Err(SeatRefusal::Depth { inviter, depth }.into());
    }
    let epoch = calendar::epoch(work.height());
    let taken = record.invited.saturating_add(record.closed.in_epoch(epoch));
    if record.depth > 0 && taken >= policy.invitations.per_user {
        return Err(SeatRefusal::Quota {
            inviter: *inviter,
            limit: policy.invitations.per_user,
        }
        .into());
    }
    let sponsor = record.sponsor;
    let answers = work.tables.accounts.get(&sponsor);
    let seats = answers.map(|a| a.seats(depth)).unwrap_or_default();
    let limit = policy.accounts_per_member;
    if seats.open >= limit {
        return Err(Refusal::AccountQuota { sponsor, limit });
    }
    let limit = policy.invitations.per_epoch;
    if seats.opened_in(epoch) >= limit {
        return Err(SeatRefusal::Epoch {
            sponsor,
            limit,
            next: (epoch + 1) * EPOCH_HEIGHTS + 1,
        }
        .into());
    }
    Ok(())
}

/// Counts an account that is opened; returns its depth.
pub(crate) fn take(at: &mut Register<'_, '_>, inviter: &AccountId) -> u8 {
    let epoch = calendar::epoch(at.height());
    let Some(record) = at.accounts().get_mut(inviter) else {
        return 1;
    };
    record.invited = record.invited.saturating_add(1);
    let (sponsor, depth) = (record.sponsor, record.depth.saturating_add(1));
    if let Some(answers) = at.accounts().get_mut(&sponsor) {
        let seats = answers.seats_mut(depth);
        seats.opened = seats.opened_in(epoch).saturating_add(1);
        seats.epoch = epoch;
        seats.open = seats.open.saturating_add(1);
    }
    depth
}

/// Gives the seat of an account back that is closed.
pub(crate) fn give_back(at: &mut Register<'_, '_>, closed: &Account) {
    let epoch = calendar::epoch(at.height());
    if let Some(inviter) = at.accounts().get_mut(&closed.inviter) {
        inviter.invited = inviter.invited.saturating_sub(1);
        let accounts = inviter.closed.in_epoch(epoch).saturating_add(1);
        inviter.closed = Closed { epoch, accounts };
    }
    if let Some(answers) = at.accounts().get_mut(&closed.sponsor) {
        let seats = answers.seats_mut(closed.depth);
        seats.open = seats.open.saturating_sub(1);
    }
}
