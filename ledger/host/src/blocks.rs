//! The block file: the ledger of record.
//!
//! One record per height, body and certificate together, appended and synced before anybody is told of
//! the decision. Nothing is ever rewritten. The offsets of all heights are in memory (8 bytes each).

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
    /// Opens the file and hands every block to `visit`, in order of height.
    pub(crate) fn open(
        disk: &mut dyn Disk,
        mut visit: impl FnMut(DecidedBlock) -> Result<(), Fault>,
    ) -> Result<BlockFile, Fault> {
        let mut offsets = Vec::new();
        let file = RecordFile::open(disk, FILE, |offset, payload| {
            let decided = parse(offset, &payload)?;
            if decided.block.header.height != offsets.len() as u64 + 1 {
                return Err(Fault::Foreign {
                    file: FILE.into(),
                    offset,
                    what: "a block of another height",
                });
            }
            offsets.push(offset);
            visit(decided)
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
        let place = height.checked_sub(1).and_then(|i| usize::try_from(i).ok());
        let Some(offset) = place.and_then(|i| self.offsets.get(i)) else {
            return Ok(None);
        };
        parse(*offset, &self.file.read(disk, *offset)?).map(Some)
    }
    /// Bytes of the record of a height; 0 beyond the tip.
    pub(crate) fn size(&self, height: u64) -> u64 {
        let offset = |h: u64| {
            let i = usize::try_from(h.checked_sub(1)?).ok()?;
            self.offsets.get(i).copied()
        };
        let start = offset(height);
        let end = offset(height + 1).unwrap_or(self.file.len());
        start.map_or(0, |start| end.saturating_sub(start))
    }
}
