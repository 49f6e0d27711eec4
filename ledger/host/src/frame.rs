//! One record as bytes: `magic (4) | length (4) | floor (8) | checksum (4) | payload`, integers
//! little endian. The checksum covers the record's own offset, length, floor and payload. A length
//! beyond the limit makes no record, and is never read.

use crate::disk::Disk;
use crate::fault::Fault;
use crate::limits;

/// The magic number at the start of a record.
pub(crate) const MAGIC: [u8; 4] = *b"GBR1";
/// Bytes before the payload.
pub(crate) const HEAD: usize = 20;

fn checksum(offset: u64, len: u32, floor: u64, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&offset.to_le_bytes());
    hasher.update(&len.to_le_bytes());
    hasher.update(&floor.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// The bytes of a record; `None` if the payload is empty or exceeds the limit.
pub(crate) fn frame(offset: u64, floor: u64, payload: &[u8]) -> Option<Vec<u8>> {
    let len = u32::try_from(payload.len()).ok()?;
    if !(1..=limits::RECORD_BYTES).contains(&payload.len()) {
        return None;
    }
    let mut bytes = Vec::with_capacity(HEAD + payload.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(&floor.to_le_bytes());
    bytes.extend_from_slice(&checksum(offset, len, floor, payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    Some(bytes)
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// Length, floor and checksum from the head of a record, if it is one.
fn parse(head: &[u8]) -> Option<(u32, u64, u32)> {
    let len = u32::from_le_bytes(number(head, 4)?);
    let floor = u64::from_le_bytes(number(head, 8)?);
    let sum = u32::from_le_bytes(number(head, 16)?);
    let legal = head.starts_with(&MAGIC) && (1..=limits::RECORD_BYTES).contains(&(len as usize));
    legal.then_some((len, floor, sum))
}

/// A file being read forwards.
pub(crate) struct Reader<'a> {
    disk: &'a dyn Disk,
    file: &'a str,
    /// Bytes to read at a time, at least.
    ahead: usize,
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> Reader<'a> {
    /// A reader that asks the disk for at least `ahead` bytes at a time.
    pub(crate) fn new(disk: &'a dyn Disk, file: &'a str, ahead: usize) -> Reader<'a> {
        let (start, bytes) = (0, Vec::new());
        Reader {
            disk,
            file,
            ahead,
            start,
            bytes,
        }
    }
    /// Up to `len` bytes at an offset; fewer only at the end of the file.
    fn at(&mut self, offset: u64, len: usize) -> Result<&[u8], Fault> {
        let here = |start: u64, bytes: &[u8]| {
            let from = usize::try_from(offset.checked_sub(start)?).ok()?;
            (from + len <= bytes.len()).then_some(from)
        };
        let from = match here(self.start, &self.bytes) {
            Some(from) => from,
            None => {
                self.bytes = self.disk.read(self.file, offset, len.max(self.ahead))?;
                self.start = offset;
                0
            }
        };
        let to = self.bytes.len().min(from + len);
        Ok(&self.bytes[from..to])
    }
    /// The record at an offset: its floor and payload; `None` if there is no whole one.
    pub(crate) fn record(&mut self, offset: u64) -> Result<Option<(u64, &[u8])>, Fault> {
        let Some((len, floor, sum)) = parse(self.at(offset, HEAD)?) else {
            return Ok(None);
        };
        let payload = self.at(offset + HEAD as u64, len as usize)?;
        let whole = payload.len() == len as usize && checksum(offset, len, floor, payload) == sum;
        Ok(whole.then_some((floor, payload)))
    }
}
