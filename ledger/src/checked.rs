//! Checks of a block that need no state, in this order:
//!
//! 1. format, rules and network are those of this node;
//! 2. counts and bytes are within the limits;
//! 3. every entry is well-formed;
//! 4. the header's roots over entries, evidence and hints, and its hash of the parent's
//!    certificate, are those of the body;
//! 5. the signature of every entry is valid. This costs most, so a body that belongs to no header
//!    never comes so far.
//!
//! A [`NamedBlock`] passed 1, 2 and 4 by the ids of its entries, which passed 3 and 5 by
//! themselves; its bytes are counted again when it is complete.

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

/// A block whose entries are known by their ids alone: it passed the checks of all else.
#[derive(Clone, Debug)]
pub struct NamedBlock {
    id: BlockId,
    rest: Block,
    ids: Vec<EntryId>,
    /// The first ones, as far as they were found.
    found: Vec<Arc<Authentic>>,
}

/// What becomes of a [`NamedBlock`] when its entries are looked for.
#[derive(Debug)]
pub enum Completed {
    /// All are here.
    Whole(CheckedBlock),
    /// Some are not.
    Lacking(NamedBlock),
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
        is_ours(network, &block.header)?;
        fits(&block, block.entries.len(), block.encode().len())?;
        let mut entries = Vec::with_capacity(block.entries.len());
        for (index, signed) in block.entries.iter().enumerate() {
            let formed = WellFormed::check(network, signed.clone());
            entries.push(formed.map_err(|source| BlockRefusal::Malformed { index, source })?);
        }
        has_roots(&block, entries.iter().map(WellFormed::id))?;
        let id = block.id();
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

impl NamedBlock {
    /// Checks a block by the ids of its entries; those that it holds are left out.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn check(
        network: &NetworkId,
        mut block: Block,
        ids: Vec<EntryId>,
    ) -> Result<NamedBlock, BlockRefusal> {
        is_ours(network, &block.header)?;
        block.entries.clear();
        fits(&block, ids.len(), block.encode().len())?;
        has_roots(&block, ids.iter().copied())?;
        Ok(NamedBlock {
            id: block.id(),
            rest: block,
            ids,
            found: Vec::new(),
        })
    }
    /// The ids of its entries, in order.
    pub fn ids(&self) -> &[EntryId] {
        &self.ids
    }
    /// Its id.
    pub fn id(&self) -> BlockId {
        self.id
    }
    /// Takes its entries in, in order, up to the first that is missing; `find` returns the one with
    /// an id. Those that it has are not looked for again.
    ///
    /// # Errors
    /// It is too large.
    pub fn complete(
        mut self,
        find: impl Fn(&EntryId) -> Option<Arc<Authentic>>,
    ) -> Result<Completed, BlockRefusal> {
        while let Some(id) = self.ids.get(self.found.len()) {
            match find(id).filter(|entry| entry.id() == *id) {
                Some(entry) => self.found.push(entry),
                None => return Ok(Completed::Lacking(self)),
            }
        }
        let (mut block, entries) = (self.rest, self.found);
        fits(&block, entries.len(), bytes_of(&block, &entries))?;
        let signed = entries.iter().map(|entry| entry.signed().clone());
        block.entries.extend(signed);
        Ok(Completed::Whole(CheckedBlock::made(block, entries)))
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
    /// The block without its entries.
    pub fn without_entries(&self) -> Block {
        Block {
            header: self.block.header.clone(),
            entries: Vec::new(),
            last_commit: self.block.last_commit.clone(),
            evidence: self.block.evidence.clone(),
            hints: self.block.hints.clone(),
        }
    }
    /// Its canonical bytes.
    pub fn bytes(&self) -> usize {
        bytes_of(&self.without_entries(), &self.entries)
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

/// Step 1.
fn is_ours(network: &NetworkId, header: &Header) -> Result<(), BlockRefusal> {
    let height = header.height;
    let ours = (header.format, header.rules, header.network) == (FORMAT, RULES, *network);
    ours.then_some(()).ok_or(BlockRefusal::Foreign { height })
}

/// Step 2, of a block with so many entries and bytes.
fn fits(block: &Block, entries: usize, bytes: usize) -> Result<(), BlockRefusal> {
    let fits = entries <= limits::BLOCK_ENTRIES
        && block.evidence.len() <= BLOCK_EVIDENCE
        && hint::fit(&block.hints)
        && bytes <= limits::BLOCK_BYTES;
    fits.then_some(()).ok_or(BlockRefusal::TooLarge(block.id()))
}

/// Step 4, of a block with entries of these ids.
fn has_roots(block: &Block, ids: impl Iterator<Item = EntryId>) -> Result<(), BlockRefusal> {
    let header = &block.header;
    let roots = [
        ("entries_root", header.entries_root, entries_root(ids)),
        (
            "evidence_root",
            header.evidence_root,
            evidence_root(&block.evidence),
        ),
        ("hints_root", header.hints_root, hints_root(&block.hints)),
        (
            "last_commit",
            header.last_commit,
            commit_hash(block.last_commit.as_ref()),
        ),
    ];
    let wrong = roots.iter().find(|(_, told, right)| told != right);
    wrong.map_or(Ok(()), |(name, ..)| Err(BlockRefusal::Root(name)))
}

/// Canonical bytes of a block of `rest`, which has no entries, and these.
fn bytes_of(rest: &Block, entries: &[Arc<Authentic>]) -> usize {
    // The length stands before a list as a number does (RFC 8949, section 3); zero has one byte.
    let longer = codec::encode(&entries.len()).len() - 1;
    let entries = entries.iter().map(|entry| entry.signed_bytes());
    rest.encode().len() + longer + entries.sum::<usize>()
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
pub(crate) fn entries_root(ids: impl Iterator<Item = EntryId>) -> Hash32 {
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
