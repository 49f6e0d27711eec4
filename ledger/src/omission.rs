//! Finds the entries that a block leaves out without need.
//!
//! An entry left out is *missing* if both hold:
//! 1. the ledger admits it at its place, after those entries of the block that come before it;
//! 2. the block is not full, or a house has at least two entries more than that of the entry, or an
//!    account of its house at least two more than its account.
//!
//! Its place is in the turn (see `turn`) after those of its account's entries in the block that
//! precede it.
//!
//! A block that [`State::propose`] makes never misses one of the entries that it was given;
//! `choice` says why.

use crate::admit::Admitted;
use crate::checked::CheckedBlock;
use crate::entry;
use crate::execute;
use crate::room::Room;
use crate::state::State;
use crate::turn::Turns;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::stage::Authentic;
use std::collections::BTreeSet;
use std::sync::Arc;

impl State {
    /// Entries that a block for the next height, one that this state executes, leaves out without
    /// need; see the module. In the order of their places. Work: one admission for each entry and
    /// each of `known`.
    pub fn missing(&self, block: &CheckedBlock, known: &[Arc<Authentic>]) -> Vec<EntryId> {
        let header = block.header();
        let reveal = &header.beacon_reveal.0;
        let mut work = execute::begin(self, header.proposer, header.time_ms, reveal);
        let (mut room, mut there) = (Room::default(), BTreeSet::new());
        for entry in block.entries() {
            room.take(work.holder(entry), entry.signed_bytes());
            there.insert(entry.id());
        }
        let turns = Turns::of(&work, block.entries());
        let owed = known.iter().filter(|e| !there.contains(&e.id()));
        let owed = owed.filter(|e| !room.excuses(&work.holder(e)));
        let mut owed: Vec<_> = owed.map(|e| (turns.of_absent(&work, e), e)).collect();
        if owed.is_empty() {
            return Vec::new();
        }
        owed.sort_unstable_by_key(|(place, _)| *place);
        let (mut owed, mut missing) = (owed.into_iter().peekable(), Vec::new());
        for (entry, turn) in block.entries().iter().zip(&turns.order) {
            while let Some((_, left_out)) = owed.next_if(|((at, ..), _)| at <= turn) {
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
