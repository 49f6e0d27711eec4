//! Which entries a block leaves out without need.
//!
//! An entry left out is *missing* if both hold:
//! 1. the ledger admits it at its place, after those entries of the block that come before it;
//! 2. the block is not full, or an account has at least two entries more than that of the entry.
//!
//! A block that [`State::propose`] makes of entries among which an entry is misses that entry
//! never, as far as its search comes to an end (see `choice`): an entry that the ledger refused
//! there is refused here, because the same entries stand before it; and one for which there was no
//! room has had its account's fair share.

use crate::admit::Admitted;
use crate::checked::CheckedBlock;
use crate::entry;
use crate::execute;
use crate::room::Room;
use crate::state::State;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::stage::Authentic;
use std::collections::BTreeSet;
use std::sync::Arc;

impl State {
    /// Entries that a block for the next height, one that this state executes, leaves out without
    /// need; see the module. In the order of a block. Work: one admission for each entry and each
    /// of `known`.
    pub fn missing(&self, block: &CheckedBlock, known: &[Arc<Authentic>]) -> Vec<EntryId> {
        let header = block.header();
        let reveal = &header.beacon_reveal.0;
        let mut work = execute::begin(self, header.proposer, header.time_ms, reveal);
        let (mut room, mut there) = (Room::default(), BTreeSet::new());
        for entry in block.entries() {
            room.take(entry.entry().account, entry.signed_bytes());
            there.insert(entry.id());
        }
        let owed = known.iter().filter(|e| !there.contains(&e.id()));
        let owed = owed.filter(|e| !room.excuses(&e.entry().account));
        let mut owed: Vec<_> = owed.map(|e| (execute::place(&work, e), e)).collect();
        if owed.is_empty() {
            return Vec::new();
        }
        owed.sort_unstable_by_key(|(place, _)| *place);
        let (mut owed, mut missing) = (owed.into_iter().peekable(), Vec::new());
        for entry in block.entries() {
            let place = execute::place(&work, entry);
            while let Some((_, left_out)) = owed.next_if(|(at, _)| *at < place) {
                if Admitted::check(&work, left_out).is_ok() {
                    missing.push(left_out.id());
                }
            }
            if let Ok(admitted) = Admitted::check(&work, entry) {
                entry::apply(&mut work, &admitted);
            }
        }
        let last = owed.filter(|(_, left_out)| Admitted::check(&work, left_out).is_ok());
        missing.extend(last.map(|(_, left_out)| left_out.id()));
        missing
    }
}
