//! Files of checksummed records, the form of everything the host keeps.
//!
//! A record is `magic (4) | length (4) | floor (8) | checksum (4) | payload`, integers little endian.
//! The *floor* is the length of the file that was synced when the record was written; the checksum
//! covers the record's own offset, length, floor and payload. Opening a file reads record by record:
//!
//! 1. a whole record is handed to the caller;
//! 2. at the first bad byte range the rest is searched for whole records; if one of them has a floor
//!    beyond the bad offset, the bad bytes had once been safe: the file is damaged and refused;
//! 3. otherwise the rest is the torn end of what was never acknowledged: it is cut off.

use crate::disk::Disk;
use crate::fault::Fault;
use crate::limits;

const MAGIC: [u8; 4] = *b"GBR1";
const HEAD: usize = 20;
/// Bytes read at a time while searching behind a bad record.
const WINDOW: usize = 1 << 20;

/// An open file of records.
#[derive(Debug)]
pub(crate) struct RecordFile {
    name: String,
    /// Bytes in the file.
    len: u64,
    /// Bytes known to be safe.
    synced: u64,
}

fn checksum(offset: u64, len: u32, floor: u64, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&offset.to_le_bytes());
    hasher.update(&len.to_le_bytes());
    hasher.update(&floor.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// The record at an offset: its floor and payload; `None` if there is no whole one.
fn record_at(disk: &dyn Disk, file: &str, offset: u64) -> Result<Option<(u64, Vec<u8>)>, Fault> {
    let head = disk.read(file, offset, HEAD)?;
    let fields = (|| {
        let len = u32::from_le_bytes(number(&head, 4)?);
        let floor = u64::from_le_bytes(number(&head, 8)?);
        let sum = u32::from_le_bytes(number(&head, 16)?);
        let legal =
            head.starts_with(&MAGIC) && (1..=limits::RECORD_BYTES).contains(&(len as usize));
        legal.then_some((len, floor, sum))
    })();
    let Some((len, floor, sum)) = fields else {
        return Ok(None);
    };
    let payload = disk.read(file, offset + HEAD as u64, len as usize)?;
    let whole = payload.len() == len as usize && checksum(offset, len, floor, &payload) == sum;
    Ok(whole.then_some((floor, payload)))
}

/// Whether a whole record behind `bad` proves that the bytes at `bad` were once safe.
fn was_safe(disk: &dyn Disk, file: &str, bad: u64, end: u64) -> Result<bool, Fault> {
    let mut start = bad + 1;
    while start < end {
        let window = disk.read(file, start, WINDOW)?;
        for (i, candidate) in window.windows(MAGIC.len()).enumerate() {
            if candidate != MAGIC {
                continue;
            }
            let offset = start + i as u64;
            if record_at(disk, file, offset)?.is_some_and(|(floor, _)| floor > bad) {
                return Ok(true);
            }
        }
        // Windows overlap so that no magic falls between two of them.
        start += (WINDOW - MAGIC.len() + 1) as u64;
    }
    Ok(false)
}

impl RecordFile {
    /// Opens a file, hands its records (offset, payload) to `visit` in order, and cuts a torn end.
    pub(crate) fn open(
        disk: &mut dyn Disk,
        name: &str,
        mut visit: impl FnMut(u64, Vec<u8>) -> Result<(), Fault>,
    ) -> Result<RecordFile, Fault> {
        let end = disk.len(name)?;
        let mut offset = 0;
        while offset < end {
            let Some((_, payload)) = record_at(disk, name, offset)? else {
                if was_safe(disk, name, offset, end)? {
                    return Err(Fault::Corrupt {
                        file: name.to_owned(),
                        offset,
                    });
                }
                tracing::warn!(
                    file = name,
                    offset,
                    bytes = end - offset,
                    "cut off a torn end"
                );
                disk.truncate(name, offset)?;
                disk.sync(name)?;
                break;
            };
            let next = offset + (HEAD + payload.len()) as u64;
            visit(offset, payload)?;
            offset = next;
        }
        Ok(RecordFile {
            name: name.to_owned(),
            len: offset,
            synced: offset,
        })
    }
    /// Appends a record and returns its offset. It is safe after the next [`RecordFile::sync`].
    pub(crate) fn append(&mut self, disk: &mut dyn Disk, payload: &[u8]) -> Result<u64, Fault> {
        let len = u32::try_from(payload.len())
            .ok()
            .filter(|len| (1..=limits::RECORD_BYTES).contains(&(*len as usize)))
            .ok_or(Fault::Invariant("a record on disk exceeds its limit"))?;
        let offset = self.len;
        let mut bytes = Vec::with_capacity(HEAD + payload.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(&self.synced.to_le_bytes());
        bytes.extend_from_slice(&checksum(offset, len, self.synced, payload).to_le_bytes());
        bytes.extend_from_slice(payload);
        disk.append(&self.name, &bytes)?;
        self.len += bytes.len() as u64;
        Ok(offset)
    }
    /// Makes all records safe; does nothing if they are.
    pub(crate) fn sync(&mut self, disk: &mut dyn Disk) -> Result<(), Fault> {
        if self.synced < self.len {
            disk.sync(&self.name)?;
            self.synced = self.len;
        }
        Ok(())
    }
    /// The payload at an offset that [`RecordFile::open`] or [`RecordFile::append`] gave.
    pub(crate) fn read(&self, disk: &dyn Disk, offset: u64) -> Result<Vec<u8>, Fault> {
        match record_at(disk, &self.name, offset)? {
            Some((_, payload)) => Ok(payload),
            None => Err(Fault::Corrupt {
                file: self.name.clone(),
                offset,
            }),
        }
    }
    /// Bytes in the file.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }
    /// Replaces the file by an empty one under the same name; safe on return once `first` is in it.
    pub(crate) fn restart(&mut self, disk: &mut dyn Disk, first: &[u8]) -> Result<(), Fault> {
        let fresh_name = format!("{}.new", self.name);
        disk.remove(&fresh_name)?;
        let mut fresh = RecordFile {
            name: fresh_name.clone(),
            len: 0,
            synced: 0,
        };
        fresh.append(disk, first)?;
        fresh.sync(disk)?;
        disk.rename(&fresh_name, &self.name)?;
        (self.len, self.synced) = (fresh.len, fresh.synced);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MemDisk;

    fn contents(disk: &MemDisk) -> Result<Vec<Vec<u8>>, Fault> {
        let mut seen = Vec::new();
        RecordFile::open(&mut disk.clone(), "f", |_, p| {
            seen.push(p);
            Ok(())
        })?;
        Ok(seen)
    }

    /// Three synced records and one that is not; returns the offsets.
    fn filled(disk: &mut MemDisk) -> Vec<u64> {
        let mut file = RecordFile::open(disk, "f", |_, _| Ok(())).unwrap();
        let mut offsets = Vec::new();
        for i in 0..4u8 {
            offsets.push(file.append(disk, &[i; 50]).unwrap());
            if i < 3 {
                file.sync(disk).unwrap();
            }
        }
        offsets
    }

    #[test]
    fn every_torn_end_is_cut_and_nothing_else() {
        for kept in 0..=70 {
            let mut disk = MemDisk::new();
            filled(&mut disk);
            disk.crash(|at_stake| kept.min(at_stake));
            let expected = if kept == 70 { 4 } else { 3 };
            assert_eq!(
                contents(&disk).unwrap().len(),
                expected,
                "{kept} bytes kept"
            );
            let mut file = RecordFile::open(&mut disk, "f", |_, _| Ok(())).unwrap();
            file.append(&mut disk, b"next").unwrap();
            assert_eq!(contents(&disk).unwrap().len(), expected + 1);
        }
    }

    #[test]
    fn damage_in_the_middle_is_refused_by_offset() {
        for byte in 0..70 {
            let mut disk = MemDisk::new();
            let offsets = filled(&mut disk);
            disk.damage("f", offsets[1] + byte);
            match contents(&disk) {
                Err(Fault::Corrupt { offset, .. }) => assert_eq!(offset, offsets[1]),
                other => panic!("byte {byte}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_hole_of_unsynced_records_is_a_torn_end() {
        let mut disk = MemDisk::new();
        let mut file = RecordFile::open(&mut disk, "f", |_, _| Ok(())).unwrap();
        let offsets: Vec<u64> = (0..3u8)
            .map(|i| file.append(&mut disk, &[i; 9]).unwrap())
            .collect();
        disk.damage("f", offsets[1]);
        assert_eq!(contents(&disk).unwrap(), [[0; 9]]);
    }
}
