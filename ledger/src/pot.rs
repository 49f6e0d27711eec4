//! Adds and removes pots, and keeps the counts of those with a part in them.

use crate::holdings;
use crate::record::Pot;
use crate::view::Floor;
use gridbay_protocol::ids::Hash32;

/// Fills a pot.
pub(crate) fn enter(at: &mut Floor<'_, '_>, id: Hash32, pot: Pot) {
    holdings::enter(&mut at.counts(), &pot);
    at.pots().insert(id, pot);
}

/// Takes a pot away that is settled now.
pub(crate) fn take(at: &mut Floor<'_, '_>, id: &Hash32) -> Option<Pot> {
    let pot = at.pots().remove(id)?;
    holdings::leave(&mut at.counts(), &pot);
    Some(pot)
}
