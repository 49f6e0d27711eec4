//! Checks of a block that need no state, in this order:
//!
//! 1. format, rules and network are those of this node;
//! 2. counts and bytes are within the limits;
//! 3. every entry is well-formed;
//! 4. the header's roots over entries, evidence and hints, and its hash of the parent's
//!    certificate, are those of the body;
//! 5. the signature of every entry is valid. This costs most, so a body that belongs to no header
//!    never comes so far.

use crate::log;
use crate::refusal::BlockRefusal;
use gridbay_protocol::block::{BLOCK_EVIDENCE, Block, Header};
use gridbay_protocol::codec;
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::genesis::{FORMAT, RULES};
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{BlockId, EntryId, Hash32, NetworkId};
use gridbay_protocol::keys::Signature;
use gridbay_protocol::limits;
use gridbay_protocol::record::reservation::hint::{self, Hint};
use gridbay_protocol::stage::{Authentic, WellFormed};
use gridbay_protocol::vote::Certificate;
use std::sync::Arc;

/// A block that passed all checks that need no state but those of its entries' signatures.
#[derive(Clone, Debug)]
pub struct FormedBlock {
    id: BlockId,
    block: Block,
    entries: Vec<WellFormed>,
}

/// A block that passed all checks that need no state.
#[derive(Clone, Debug)]
pub struct CheckedBlock {
    id: BlockId,
    block: Block,
    entries: Vec<Arc<Authentic>>,
}

impl FormedBlock {
    /// Checks a decoded block, all but the signatures of its entries.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn check(network: &NetworkId, block: Block) -> Result<FormedBlock, BlockRefusal> {
        let header = &block.header;
        if (header.format, header.rules, header.network) != (FORMAT, RULES, *network) {
            return Err(BlockRefusal::Foreign {
                height: header.height,
            });
        }
        let id = header.id();
        if block.entries.len() > limits::BLOCK_ENTRIES
            || block.evidence.len() > BLOCK_EVIDENCE
            || !hint::fit(&block.hints)
            || block.encode().len() > limits::BLOCK_BYTES
        {
            return Err(BlockRefusal::TooLarge(id));
        }
        let mut entries = Vec::with_capacity(block.entries.len());
        for (index, signed) in block.entries.iter().enumerate() {
            let formed = WellFormed::check(network, signed.clone());
            entries.push(formed.map_err(|source| BlockRefusal::Malformed { index, source })?);
        }
        if header.entries_root != root_of(entries.iter().map(WellFormed::id)) {
            return Err(BlockRefusal::Root("entries_root"));
        }
        if header.evidence_root != evidence_root(&block.evidence) {
            return Err(BlockRefusal::Root("evidence_root"));
        }
        if header.hints_root != hints_root(&block.hints) {
            return Err(BlockRefusal::Root("hints_root"));
        }
        if header.last_commit != commit_hash(block.last_commit.as_ref()) {
            return Err(BlockRefusal::Root("last_commit"));
        }
        Ok(FormedBlock { id, block, entries })
    }

    /// Its entries, in order.
    pub fn entries(&self) -> &[WellFormed] {
        &self.entries
    }

    /// Checks the signatures. `known` returns an entry that was authenticated before, so that its
    /// signature is not checked again; it must be asked for both id and signature.
    ///
    /// # Errors
    /// The first wrong signature.
    pub fn authenticate(
        self,
        mut known: impl FnMut(&EntryId, &Signature) -> Option<Arc<Authentic>>,
    ) -> Result<CheckedBlock, BlockRefusal> {
        let FormedBlock { id, block, entries } = self;
        let entries = entries.into_iter();
        let entries = entries.map(|formed| authentic(formed, &mut known));
        Ok(CheckedBlock {
            entries: entries.collect::<Result<_, _>>()?,
            id,
            block,
        })
    }
}

impl CheckedBlock {
    /// Checks a decoded block: [`FormedBlock::check`], then [`FormedBlock::authenticate`].
    ///
    /// # Errors
    /// The first check that fails.
    pub fn check(
        network: &NetworkId,
        block: Block,
        known: impl FnMut(&EntryId, &Signature) -> Option<Arc<Authentic>>,
    ) -> Result<CheckedBlock, BlockRefusal> {
        FormedBlock::check(network, block)?.authenticate(known)
    }

    /// A block that this node made.
    pub(crate) fn made(block: Block, entries: Vec<Arc<Authentic>>) -> CheckedBlock {
        CheckedBlock {
            id: block.id(),
            block,
            entries,
        }
    }

    /// Its id.
    pub fn id(&self) -> BlockId {
        self.id
    }
    /// The block.
    pub fn block(&self) -> &Block {
        &self.block
    }
    /// Its header.
    pub fn header(&self) -> &Header {
        &self.block.header
    }
    /// Its entries, in order.
    pub fn entries(&self) -> &[Arc<Authentic>] {
        &self.entries
    }
}

fn authentic(
    formed: WellFormed,
    known: &mut impl FnMut(&EntryId, &Signature) -> Option<Arc<Authentic>>,
) -> Result<Arc<Authentic>, BlockRefusal> {
    let id = formed.id();
    if let Some(entry) = known(&id, &formed.signed().signature)
        && entry.signed() == formed.signed()
    {
        return Ok(entry);
    }
    let checked = formed.authenticate();
    checked
        .map(Arc::new)
        .map_err(|source| BlockRefusal::Signature { id, source })
}

/// Root over the ids of a block's entries, in order.
pub(crate) fn entries_root(entries: &[Arc<Authentic>]) -> Hash32 {
    root_of(entries.iter().map(|entry| entry.id()))
}

fn root_of(ids: impl Iterator<Item = EntryId>) -> Hash32 {
    let ids: Vec<[u8; 32]> = ids.map(|id| id.0).collect();
    Hash32(log::merkle_root(&ids))
}

/// Root over a block's evidence, in order.
pub(crate) fn evidence_root(evidence: &[Evidence]) -> Hash32 {
    let leaf = |item: &Evidence| hash(Domain::Evidence, &[&codec::encode(item)]);
    let leaves: Vec<[u8; 32]> = evidence.iter().map(leaf).collect();
    Hash32(log::merkle_root(&leaves))
}

/// Root over a block's hints, in order.
pub(crate) fn hints_root(hints: &[Hint]) -> Hash32 {
    let leaf = |hint: &Hint| hash(Domain::Hint, &[&codec::encode(hint)]);
    let leaves: Vec<[u8; 32]> = hints.iter().map(leaf).collect();
    Hash32(log::merkle_root(&leaves))
}

/// Hash of the parent's certificate; zeros if there is none.
pub(crate) fn commit_hash(certificate: Option<&Certificate>) -> Hash32 {
    certificate.map_or(Hash32::default(), Certificate::hash)
}
