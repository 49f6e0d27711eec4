//! Bodies without the entries that their receivers have.
//!
//! 1. A proposer leaves entries out of a body with [`limits::SHORT_ENTRIES`] or more, and names all
//!    by their ids. Those that others may lack go along whole: `spread` tells which.
//! 2. A receiver puts the body together as soon as it has all entries: they are on their way to it,
//!    and until then the body waits. One waits at a time; another takes its place.
//! 3. If an entry stays away, the receiver asks for the whole body, as for any that is overdue.
//! 4. A proposer that is asked for a block of its own tells more entries whole from then on.

use super::{Host, Offence};
use crate::fault::Fault;
use crate::limits;
use crate::message::{Body, ShortBlock};
use crate::stages::Stage;
use gridbay_ledger::{CheckedBlock, NamedBlock};
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::stage::{Authentic, WellFormed};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A body that waits for entries.
#[derive(Debug)]
pub(crate) struct Waiting {
    block: NamedBlock,
    /// The entries that came with it.
    along: BTreeMap<EntryId, Arc<Authentic>>,
}

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
    /// Takes in a short body that a proposal names.
    pub(super) fn take_short(&mut self, short: ShortBlock) -> Result<(), Fault> {
        let ShortBlock { mut block, ids } = short;
        let id = block.id();
        if self.candidates.get(&id).is_some() {
            return Ok(());
        }
        let entries = std::mem::take(&mut block.entries);
        // No signature is checked for ids that are not the block's.
        let named = NamedBlock::check(&self.state.network(), block, ids).ok();
        let checked = named.and_then(|named| {
            let along = self.check_along(named.ids(), entries)?;
            Some((named, along))
        });
        let Some((block, along)) = checked else {
            self.blame(Offence::Body);
            return Ok(());
        };
        match &mut self.candidates.waiting {
            Some(waiting) if waiting.block.id() == id => waiting.along.extend(along),
            other => *other = Some(Waiting { block, along }),
        }
        self.complete()
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
                Some(entry) => drop(along.insert(entry.id(), entry)),
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
        let Some(Waiting { block, along }) = self.candidates.waiting.take() else {
            return Ok(());
        };
        let find = |id: &EntryId| along.get(id).or_else(|| self.mempool.find(id)).cloned();
        let complete = || block.complete(find);
        match self.stages.time(Stage::Verify, complete) {
            Ok(Ok(block)) => self.take_checked(block),
            Ok(Err(refusal)) => {
                tracing::debug!(%refusal, "the entries of a short body are too long");
                Ok(())
            }
            Err(block) => {
                self.candidates.waiting = Some(Waiting { block, along });
                Ok(())
            }
        }
    }
}
