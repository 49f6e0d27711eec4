//! Files of checksummed records, the form of everything the host keeps.
//!
//! The *floor* in a record (see `frame`) is the length of the file that was synced when the record
//! was written. Opening a file reads it once, record by record:
//!
//! 1. a whole record is handed to the caller; a length beyond the limit is no record, and is not
//!    read;
//! 2. at the first bad byte range the rest is searched for whole records; if one of them has a
//!    floor beyond the bad offset, the bad bytes had once been safe: the file is damaged and
//!    refused;
//! 3. otherwise the rest is a torn end that was never acknowledged: it is cut off;
//! 4. bytes behind the last record's floor may never have been synced, or their sync may have
//!    failed: then they look present only as long as the system caches them, and no later sync
//!    would write them. They are written in place once more, and synced before the caller hears
//!    that the file is open.

use crate::disk::Disk;
use crate::fault::Fault;
use crate::frame::{HEAD, MAGIC, Reader, frame};
use crate::limits;

/// Bytes read at a time while searching behind a bad record.
const WINDOW: usize = 1 << 20;
/// Bytes read at a time while reading from end to end: two of the longest records.
const AHEAD: usize = 2 * limits::RECORD_BYTES;

/// An open file of records.
#[derive(Debug)]
pub struct RecordFile {
    name: String,
    /// Bytes in the file.
    len: u64,
    /// Bytes known to be safe.
    synced: u64,
}

/// The result of reading a file from end to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// End of the last whole record before the first bad byte.
    pub(crate) good: u64,
    /// Bytes in the file.
    pub(crate) end: u64,
    /// Floor of that record: the bytes before it were synced.
    floor: u64,
}

/// Hands the records of a file (offset, payload) to `visit` in order, up to the first bad byte.
pub(crate) fn scan(
    disk: &dyn Disk,
    name: &str,
    mut visit: impl FnMut(u64, &[u8]) -> Result<(), Fault>,
) -> Result<Scanned, Fault> {
    let end = disk.len(name)?;
    let (mut good, mut last) = (0, 0);
    let mut reader = Reader::new(disk, name, AHEAD);
    while good < end {
        let Some((floor, payload)) = reader.record(good)? else {
            break;
        };
        visit(good, payload)?;
        good += (HEAD + payload.len()) as u64;
        last = floor;
    }
    let floor = last.min(good);
    Ok(Scanned { good, end, floor })
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
            let mut reader = Reader::new(disk, file, 0);
            let found = reader.record(offset)?;
            if found.is_some_and(|(floor, _)| floor > bad) {
                return Ok(true);
            }
        }
        // Windows overlap so that no magic falls between two of them.
        start += (WINDOW - MAGIC.len() + 1) as u64;
    }
    Ok(false)
}

/// Writes the records of a range once more, in place.
fn write_again(disk: &mut dyn Disk, name: &str, range: std::ops::Range<u64>) -> Result<(), Fault> {
    let mut offset = range.start;
    while offset < range.end {
        let framed = Reader::new(disk, name, 0)
            .record(offset)?
            .and_then(|(floor, payload)| frame(offset, floor, payload));
        // It was whole a moment ago: the system has given up a page that it could not write.
        let bytes = framed.ok_or_else(|| Fault::Corrupt {
            file: name.to_owned(),
            offset,
        })?;
        disk.rewrite(name, offset, &bytes)?;
        offset += bytes.len() as u64;
    }
    Ok(())
}

impl RecordFile {
    /// Opens a file, hands its records (offset, payload) to `visit` in order, and cuts a torn end.
    /// All that is left is safe on return.
    pub fn open(
        disk: &mut dyn Disk,
        name: &str,
        visit: impl FnMut(u64, &[u8]) -> Result<(), Fault>,
    ) -> Result<RecordFile, Fault> {
        let Scanned { good, end, floor } = scan(disk, name, visit)?;
        if good < end {
            if was_safe(disk, name, good, end)? {
                return Err(Fault::Corrupt {
                    file: name.to_owned(),
                    offset: good,
                });
            }
            let bytes = end - good;
            tracing::warn!(file = name, offset = good, bytes, "cut off a torn end");
            disk.truncate(name, good)?;
        }
        write_again(disk, name, floor..good)?;
        if end > 0 {
            disk.sync(name)?;
        }
        Ok(RecordFile {
            name: name.to_owned(),
            len: good,
            synced: good,
        })
    }
    /// Creates an empty file, replacing any of that name.
    pub fn create(disk: &mut dyn Disk, name: &str) -> Result<RecordFile, Fault> {
        disk.remove(name)?;
        Ok(RecordFile {
            name: name.to_owned(),
            len: 0,
            synced: 0,
        })
    }
    /// Appends a record and returns its offset. It is safe after the next [`RecordFile::sync`].
    pub fn append(&mut self, disk: &mut dyn Disk, payload: &[u8]) -> Result<u64, Fault> {
        let offset = self.len;
        let bytes = frame(offset, self.synced, payload)
            .ok_or(Fault::Invariant("a record on disk exceeds its limit"))?;
        disk.append(&self.name, &bytes)?;
        self.len += bytes.len() as u64;
        Ok(offset)
    }
    /// Makes all records safe; does nothing if they are.
    pub fn sync(&mut self, disk: &mut dyn Disk) -> Result<(), Fault> {
        if self.synced < self.len {
            disk.sync(&self.name)?;
            self.synced = self.len;
        }
        Ok(())
    }
    /// The payload at an offset that [`RecordFile::open`] or [`RecordFile::append`] gave.
    pub(crate) fn read(&self, disk: &dyn Disk, offset: u64) -> Result<Vec<u8>, Fault> {
        match Reader::new(disk, &self.name, 0).record(offset)? {
            Some((_, payload)) => Ok(payload.to_vec()),
            None => Err(Fault::Corrupt {
                file: self.name.clone(),
                offset,
            }),
        }
    }
    /// Bytes in the file.
    pub fn bytes(&self) -> u64 {
        self.len
    }
    /// Gives a synced file another name, replacing what had it; safe on return.
    pub fn rename(&mut self, disk: &mut dyn Disk, name: &str) -> Result<(), Fault> {
        self.sync(disk)?;
        disk.rename(&self.name, name)?;
        name.clone_into(&mut self.name);
        Ok(())
    }
    /// Replaces the file by an empty one under the same name; safe on return once `first` is in it.
    pub(crate) fn restart(&mut self, disk: &mut dyn Disk, first: &[u8]) -> Result<(), Fault> {
        let mut fresh = RecordFile::create(disk, &format!("{}.new", self.name))?;
        fresh.append(disk, first)?;
        fresh.rename(disk, &self.name)?;
        *self = fresh;
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
            seen.push(p.to_vec());
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

    /// A disk that says how many bytes are asked for at once.
    #[derive(Debug)]
    struct Metered(MemDisk, std::sync::atomic::AtomicUsize);

    impl Disk for Metered {
        fn list(&self) -> Result<Vec<String>, crate::disk::DiskError> {
            self.0.list()
        }
        fn len(&self, file: &str) -> Result<u64, crate::disk::DiskError> {
            self.0.len(file)
        }
        fn read(&self, f: &str, at: u64, len: usize) -> Result<Vec<u8>, crate::disk::DiskError> {
            self.1.fetch_max(len, std::sync::atomic::Ordering::Relaxed);
            self.0.read(f, at, len)
        }
        fn append(&mut self, file: &str, bytes: &[u8]) -> Result<(), crate::disk::DiskError> {
            self.0.append(file, bytes)
        }
        fn rewrite(&mut self, f: &str, at: u64, b: &[u8]) -> Result<(), crate::disk::DiskError> {
            self.0.rewrite(f, at, b)
        }
        fn sync(&mut self, file: &str) -> Result<(), crate::disk::DiskError> {
            self.0.sync(file)
        }
        fn rename(&mut self, from: &str, to: &str) -> Result<(), crate::disk::DiskError> {
            self.0.rename(from, to)
        }
        fn truncate(&mut self, file: &str, len: u64) -> Result<(), crate::disk::DiskError> {
            self.0.truncate(file, len)
        }
        fn remove(&mut self, file: &str) -> Result<(), crate::disk::DiskError> {
            self.0.remove(file)
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_neither_read_nor_written() {
        let mut disk = Metered(MemDisk::new(), 0.into());
        let mut file = RecordFile::open(&mut disk, "f", |_, _| Ok(())).unwrap();
        file.append(&mut disk, b"good").unwrap();
        for len in [0, limits::RECORD_BYTES as u32 + 1, u32::MAX] {
            let head = [&MAGIC[..], &len.to_le_bytes(), &[0; 12], &[7; 100]].concat();
            disk.append("f", &head).unwrap();
            assert_eq!(contents(&disk.0.clone()).unwrap(), [b"good"], "{len}");
            RecordFile::open(&mut disk, "f", |_, _| Ok(())).unwrap();
            assert_eq!(disk.len("f").unwrap(), 24);
        }
        assert!(disk.1.into_inner() <= AHEAD);
        let long = vec![0; limits::RECORD_BYTES + 1];
        assert!(file.append(&mut disk.0, &long).is_err());
        assert!(file.append(&mut disk.0, &[]).is_err());
    }

    #[test]
    fn whatever_sectors_survive_all_that_was_synced_is_there_and_nothing_is_refused() {
        for seed in 0..400u64 {
            let mut draw = seed;
            let mut below = |n: u64| {
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (draw >> 33) % n
            };
            let mut disk = MemDisk::new();
            let (mut written, mut safe) = (Vec::new(), 0);
            for _ in 0..4 {
                let mut file = RecordFile::open(&mut disk, "f", |_, _| Ok(())).unwrap();
                for _ in 0..below(8) {
                    let payload = vec![below(250) as u8; 1 + below(1_500) as usize];
                    file.append(&mut disk, &payload).unwrap();
                    written.push(payload);
                    if below(3) == 0 {
                        file.sync(&mut disk).unwrap();
                        safe = written.len();
                    }
                }
                disk.crash_torn(&mut below);
                let found = contents(&disk).expect("a torn end is no damage");
                assert!(found.len() >= safe, "seed {seed}");
                assert_eq!(found, written[..found.len()], "seed {seed}");
                (safe, written) = (found.len(), found);
            }
        }
    }

    #[test]
    fn a_reopened_file_does_not_rest_on_bytes_that_a_failed_sync_forgot() {
        let mut disk = MemDisk::new();
        let mut file = RecordFile::open(&mut disk, "f", |_, _| Ok(())).unwrap();
        file.append(&mut disk, &[1; 2_000]).unwrap();
        file.sync(&mut disk).unwrap();
        file.append(&mut disk, &[2; 2_000]).unwrap();
        disk.fail(crate::disk::FaultPlan::forgetful_sync(0));
        file.sync(&mut disk).unwrap_err();
        // The second record looks present; the next is acknowledged on top of it.
        let mut file = RecordFile::open(&mut disk, "f", |_, _| Ok(())).unwrap();
        file.append(&mut disk, &[3; 2_000]).unwrap();
        file.sync(&mut disk).unwrap();
        disk.crash(|_| 0);
        assert_eq!(
            contents(&disk).unwrap(),
            [[1; 2_000], [2; 2_000], [3; 2_000]]
        );
    }
}
