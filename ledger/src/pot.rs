//! Pots are filled and taken away, and counted for those who have a part in them.

use crate::holdings;
use crate::record::Pot;
use crate::work::Work;
use gridbay_protocol::ids::Hash32;

/// Fills a pot.
pub(crate) fn enter(work: &mut Work<'_>, id: Hash32, pot: Pot) {
    holdings::enter(work, &pot);
    work.tables.pots.insert(id, pot);
}

/// Takes a pot away that is settled now.
pub(crate) fn take(work: &mut Work<'_>, id: &Hash32) -> Option<Pot> {
    let pot = work.tables.pots.remove(id)?;
    holdings::leave(work, &pot);
    Some(pot)
}
