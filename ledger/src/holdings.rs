//! Counts the open records of every account by kind, so that no check searches all records: an
//! account has so many offers and no more, and only an account with nothing open can be closed.
//!
//! A record counts for its holders from [`enter`] to [`leave`]. Neither its holders nor its kind
//! change in between.

use crate::record::{Held, Holding};
use crate::view::Counts;
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
pub(crate) fn enter(at: &mut Counts<'_, '_>, record: &impl Held) {
    for place in record.holders() {
        let before = count(at, &place.0, place.1);
        at.holdings().insert(place, before.saturating_add(1));
    }
}

/// A record that is gone.
pub(crate) fn leave(at: &mut Counts<'_, '_>, record: &impl Held) {
    for place in record.holders() {
        let left = count(at, &place.0, place.1).saturating_sub(1);
        if left == 0 {
            at.holdings().remove(&place);
        } else {
            at.holdings().insert(place, left);
        }
    }
}
