//! Counts the scarce things of classes and of the network by the party that holds them, so that a
//! newcomer is judged without looking at all others.
//!
//! An offer or an order that nobody will ever take costs nothing, so one member could fill all room
//! with them. Half of it is therefore kept for all alike: for each founding member an equal part
//! for its own account, and one for the accounts that it answers for. A party below its part finds
//! room, whatever others have; the other half goes to those that come first.

use crate::record::{Party, Scarce, Takes};
use crate::view::Counts;
use crate::work::Work;
use gridbay_protocol::ids::AccountId;

/// Accounts that share the room.
fn parties(work: &Work<'_>) -> u64 {
    2 * work.constitution.members.len().max(1) as u64
}

/// The part of each of them.
pub(crate) fn kept(work: &Work<'_>, what: Scarce) -> u64 {
    what.limit() / (2 * parties(work))
}

/// The party whose part an account uses.
pub(crate) fn party(work: &Work<'_>, account: &AccountId) -> Party {
    let sponsor = work.sponsor(account);
    (sponsor, sponsor == *account)
}

/// The count of a party, or of all together beyond their parts.
fn get(work: &Work<'_>, what: Scarce, whose: Option<Party>) -> u64 {
    let found = work.tables.scarce.get(&(what, whose));
    found.copied().unwrap_or(0)
}

fn set(at: &mut Counts<'_, '_>, what: Scarce, whose: Option<Party>, count: u64) {
    if count == 0 {
        at.scarce().remove(&(what, whose));
    } else {
        at.scarce().insert((what, whose), count);
    }
}

/// Counts a record that is new, changed or gone.
pub(crate) fn note<T: Takes>(at: &mut Counts<'_, '_>, was: Option<&T>, is: Option<&T>) {
    let less = was.map(Takes::takes).unwrap_or_default();
    let more = is.map(Takes::takes).unwrap_or_default();
    for (what, account, count) in less {
        change(at, what, &account, |before| before.saturating_sub(count));
    }
    for (what, account, count) in more {
        change(at, what, &account, |before| before.saturating_add(count));
    }
}

fn change(at: &mut Counts<'_, '_>, what: Scarce, account: &AccountId, change: impl Fn(u64) -> u64) {
    let (party, kept) = (party(at, account), kept(at, what));
    let before = get(at, what, Some(party));
    let after = change(before);
    if before == after {
        return;
    }
    let all = get(at, what, None).saturating_sub(before.saturating_sub(kept));
    set(at, what, Some(party), after);
    set(at, what, None, all + after.saturating_sub(kept));
}

/// Whether there is room for so much more of an account, which gives `back` in return.
///
/// # Errors
/// How much there would be, with the parts that are kept for others.
pub(crate) fn check(
    work: &Work<'_>,
    what: Scarce,
    account: &AccountId,
    back: u64,
    more: u64,
) -> Result<(), u64> {
    let (party, kept) = (party(work, account), kept(work, what));
    let own = get(work, what, Some(party));
    let others = get(work, what, None).saturating_sub(own.saturating_sub(kept));
    let all = (parties(work) - 1) * kept + others + own.saturating_sub(back) + more;
    if all <= what.limit() {
        Ok(())
    } else {
        Err(all)
    }
}
