//! Bodies without the entries that their receivers have.
//!
//! 1. A proposer leaves entries out of a body with [`limits::SHORT_ENTRIES`] or more, and names all
//!    by their ids. Those that others may lack go along whole: `spread` tells which.
//! 2. A receiver takes a short body of its proposer's node alone, and once. It puts the body
//!    together as soon as it has all entries: they are on their way to it, and until then the body
//!    waits. One waits at a time, the one that matters most, and each message of entries costs it
//!    one look, for the first that is missing.
//! 3. If an entry stays away, the receiver asks for the whole body, as for any that is overdue, and
//!    its proposer first. If the others have decided meanwhile, it gets the decided block.
//! 4. A proposer that is asked for a block of its own sends more entries along from then on.

use super::{Host, Offence};
use crate::candidates::Waiting;
use crate::catchup::Peer;
use crate::fault::Fault;
use crate::limits;
use crate::message::{Body, ShortBlock};
use crate::stages::Stage;
use gridbay_ledger::{CheckedBlock, Completed, NamedBlock};
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::stage::{Authentic, WellFormed};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Host {
    /// A block of ours as it goes along with its proposal.
    pub(super) fn offer(&mut self, block: &CheckedBlock) -> Body {
        if block.entries().len() < limits::SHORT_ENTRIES {
            return Body::Whole(Box::new(block.block().clone()));
        }
        self.spread.went(block.id());
        let may_lack = |id: &EntryId| {
            let came = self.mempool.came(id).unwrap_or(self.now.mono_ms);
            let age = self.now.mono_ms.saturating_sub(came);
            self.spread.may_lack(age)
        };
        Body::Short(Box::new(ShortBlock::of(block, may_lack)))
    }
    /// Takes in a short body that a proposal names, of its proposer's node.
    pub(super) fn take_short(&mut self, from: Peer, short: ShortBlock) -> Result<(), Fault> {
        let ShortBlock { mut block, ids } = short;
        let (id, height) = (block.id(), self.state.height() + 1);
        let is_proposers = self.node_of(&block.header.proposer) == Some(from);
        if !is_proposers || self.candidates.get(&id).is_some() {
            return Ok(());
        }
        let right = (block.header.height == height).then_some(());
        let entries = std::mem::take(&mut block.entries);
        // No signature is checked for ids that are not the block's.
        let check = || NamedBlock::check(&self.state.network(), block, ids).ok();
        let Some(block) = right.and_then(|()| self.stages.time(Stage::Verify, check)) else {
            tracing::debug!(block = %id, "mangled short body");
            self.blame(Offence::Body);
            return Ok(());
        };
        if !self.candidates.note_short(id, from) {
            return Ok(());
        }
        match self.check_along(block.ids(), entries) {
            Some(along) => self.complete_or_wait(Waiting { block, along }),
            None => {
                tracing::debug!(block = %id, "a short body with wrong entries");
                self.blame(Offence::Body);
                Ok(())
            }
        }
    }
    /// Checks the entries that come with a short body; `None` if one is wrong or none of its own.
    fn check_along(
        &mut self,
        ids: &[EntryId],
        entries: Vec<SignedEntry>,
    ) -> Option<BTreeMap<EntryId, Arc<Authentic>>> {
        let (mut along, mut new) = (BTreeMap::new(), Vec::new());
        let mut left = ids.iter();
        for signed in entries {
            let formed = WellFormed::check(&self.state.network(), signed).ok()?;
            // They have the order of the ids.
            left.find(|id| **id == formed.id())?;
            match self.mempool.known(&formed.id(), &formed.signed().signature) {
                Some(entry) => {
                    along.insert(entry.id(), entry);
                }
                None => new.push(formed),
            }
        }
        let check = || self.signatures.check(&new);
        for checked in self.stages.time(Stage::Verify, check) {
            let entry = Arc::new(checked.ok()?);
            along.insert(entry.id(), entry);
        }
        Some(along)
    }
    /// Takes in the short body that waits, if all its entries are here.
    pub(super) fn complete(&mut self) -> Result<(), Fault> {
        match self.candidates.waiting.take() {
            Some(waiting) => self.complete_or_wait(waiting),
            None => Ok(()),
        }
    }
    fn complete_or_wait(&mut self, Waiting { block, along }: Waiting) -> Result<(), Fault> {
        let id = block.id();
        let find = |id: &EntryId| along.get(id).or_else(|| self.mempool.find(id)).cloned();
        let complete = || block.complete(find);
        match self.stages.time(Stage::Verify, complete) {
            Ok(Completed::Whole(block)) => {
                let bytes = block.bytes();
                if !self.makes_room(&id, bytes) {
                    return Ok(());
                }
                self.take_checked(block, bytes)
            }
            Ok(Completed::Lacking(block)) => {
                let round = self.round().unwrap_or(0);
                let waiting = Waiting { block, along };
                self.candidates.wait_for_entries(waiting, round);
                Ok(())
            }
            Err(refusal) => {
                tracing::debug!(block = %id, %refusal, "the entries of a short body are too long");
                Ok(())
            }
        }
    }
}
