//! The block file: the ledger of record.
//!
//! One record per height, body and certificate together, appended and synced before anybody is told
//! of the decision. No byte ever changes. Opening reads the file once, for its checksums; record
//! `i` is the block of height `i + 1`, and a block is decoded, and its height compared, when it is
//! read. The offsets of all heights are in memory (8 bytes each).

use crate::disk::Disk;
use crate::fault::Fault;
use crate::limits;
use crate::message::DecidedBlock;
use crate::record::RecordFile;
use gridbay_protocol::codec;

/// Name of the file.
pub(crate) const FILE: &str = "blocks";

/// The open block file.
#[derive(Debug)]
pub(crate) struct BlockFile {
    file: RecordFile,
    /// Offset of height `i + 1`.
    offsets: Vec<u64>,
}

fn parse(offset: u64, payload: &[u8]) -> Result<DecidedBlock, Fault> {
    codec::decode(payload, limits::RECORD_BYTES).map_err(|_| Fault::Foreign {
        file: FILE.into(),
        offset,
        what: "not a decided block",
    })
}

impl BlockFile {
    /// Opens the file.
    pub(crate) fn open(disk: &mut dyn Disk) -> Result<BlockFile, Fault> {
        let mut offsets = Vec::new();
        let file = RecordFile::open(disk, FILE, |offset, _| {
            offsets.push(offset);
            Ok(())
        })?;
        Ok(BlockFile { file, offsets })
    }
    /// Height of the last block; 0 if there is none.
    pub(crate) fn tip(&self) -> u64 {
        self.offsets.len() as u64
    }
    /// Appends the block of the next height. It is safe after [`BlockFile::sync`].
    pub(crate) fn append(
        &mut self,
        disk: &mut dyn Disk,
        decided: &DecidedBlock,
    ) -> Result<(), Fault> {
        if decided.block.header.height != self.tip() + 1 {
            return Err(Fault::Invariant(
                "a block is appended at its own height only",
            ));
        }
        let offset = self.file.append(disk, &codec::encode(decided))?;
        self.offsets.push(offset);
        Ok(())
    }
    /// Makes all blocks safe.
    pub(crate) fn sync(&mut self, disk: &mut dyn Disk) -> Result<(), Fault> {
        self.file.sync(disk)
    }
    /// The block of a height with its certificate; `None` beyond the tip.
    pub(crate) fn read(&self, disk: &dyn Disk, height: u64) -> Result<Option<DecidedBlock>, Fault> {
        let Some(offset) = self.offset(height) else {
            return Ok(None);
        };
        let decided = parse(offset, &self.file.read(disk, offset)?)?;
        if decided.block.header.height != height {
            return Err(Fault::Foreign {
                file: FILE.into(),
                offset,
                what: "a block of another height",
            });
        }
        Ok(Some(decided))
    }
    /// Bytes in the file.
    pub(crate) fn len(&self) -> u64 {
        self.file.bytes()
    }
    fn offset(&self, height: u64) -> Option<u64> {
        let i = usize::try_from(height.checked_sub(1)?).ok()?;
        self.offsets.get(i).copied()
    }
    /// Where the record of a height ends; the length of the file from the tip on.
    pub(crate) fn end(&self, height: u64) -> u64 {
        let next = height.checked_add(1).and_then(|next| self.offset(next));
        next.unwrap_or(self.file.bytes())
    }
    /// Bytes of the record of a height; 0 beyond the tip.
    pub(crate) fn size(&self, height: u64) -> u64 {
        let start = self.offset(height);
        start.map_or(0, |start| self.end(height).saturating_sub(start))
    }
}
