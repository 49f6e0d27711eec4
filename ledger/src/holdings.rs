//! What every account has open, counted by kind, so that nobody has to look for it in all records:
//! a seller has so many offers and no more, and an account is closed that has nothing open.
//!
//! A record counts for its holders from [`enter`] to [`leave`]. Neither its holders nor its kind
//! change in between.

use crate::record::{Held, Holding};
use crate::work::Work;
use gridbay_protocol::ids::AccountId;

/// How much of a kind an account has open.
pub(crate) fn count(work: &Work<'_>, account: &AccountId, kind: Holding) -> u32 {
    let counted = work.tables.holdings.get(&(*account, kind));
    counted.copied().unwrap_or(0)
}

/// A kind of which an account has something open.
pub(crate) fn any(work: &Work<'_>, account: &AccountId) -> Option<Holding> {
    let mut kinds = Holding::ALL.into_iter();
    kinds.find(|kind| count(work, account, *kind) > 0)
}

/// A record that is new.
pub(crate) fn enter(work: &mut Work<'_>, record: &impl Held) {
    for place in record.holders() {
        let before = count(work, &place.0, place.1);
        work.tables.holdings.insert(place, before.saturating_add(1));
    }
}

/// A record that is gone.
pub(crate) fn leave(work: &mut Work<'_>, record: &impl Held) {
    for place in record.holders() {
        let left = count(work, &place.0, place.1).saturating_sub(1);
        if left == 0 {
            work.tables.holdings.remove(&place);
        } else {
            work.tables.holdings.insert(place, left);
        }
    }
}
