//! A disk in memory that can lose power and fail: for simulation and tests.

use super::faulty::{FaultPlan, Operation, Strike};
use super::pages::Pages;
use super::{Disk, DiskError};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// A shared disk in memory. Clones are handles to the same disk, as a directory is to its users.
#[derive(Clone, Debug, Default)]
pub struct MemDisk(Arc<Mutex<Files>>);

#[derive(Debug, Default)]
struct Files {
    files: BTreeMap<String, Pages>,
    plan: FaultPlan,
    syncs: u64,
    operations: u64,
    bytes_read: u64,
    faults: u64,
}

impl Files {
    /// Counts an operation; says how it fails if it does.
    fn strike(&mut self, operation: Operation, bytes: usize) -> Option<Strike> {
        self.operations += u64::from(operation != Operation::Read);
        let strike = self.plan.strike(operation, bytes)?;
        self.faults += 1;
        Some(strike)
    }
    fn find(&mut self, operation: &'static str, file: &str) -> Result<&mut Pages, DiskError> {
        self.files.get_mut(file).ok_or_else(|| DiskError {
            operation,
            file: file.to_owned(),
            source: io::ErrorKind::NotFound.into(),
        })
    }
}

impl MemDisk {
    /// An empty disk.
    pub fn new() -> MemDisk {
        MemDisk::default()
    }
    /// Loses power: of the bytes written to a file since its last sync only the first stay; how
    /// many, `kept` chooses (from the number of bytes at stake). Files never synced are gone. The
    /// power is back at once; the plan of faults stays.
    pub fn crash(&self, mut kept: impl FnMut(u64) -> u64) {
        self.lose(|pages| pages.cut(&mut kept));
    }
    /// Loses power as badly as it may: of what was written since the last sync any selection of
    /// 512-byte sectors stays, a longer file may have zeros where they are lost, and a file never
    /// synced may be gone. `below(n)` draws a number below `n` (at least 1).
    pub fn crash_torn(&self, mut below: impl FnMut(u64) -> u64) {
        self.lose(|pages| pages.tear(&mut below));
    }
    fn lose(&self, mut after: impl FnMut(&Pages) -> Option<Pages>) {
        let mut files = self.files();
        let left = files.files.iter();
        let left = left.filter_map(|(name, pages)| Some((name.clone(), after(pages)?)));
        files.files = left.collect();
        files.plan.power = None;
    }
    /// Makes operations fail from now on, as planned. Replaces the plan before.
    pub fn fail(&self, plan: FaultPlan) {
        self.files().plan = plan;
    }
    /// Ends all faults. Bytes that a failed sync forgot stay forgotten.
    pub fn cure(&self) {
        self.fail(FaultPlan::default());
    }
    /// How many operations failed by plan.
    pub fn faults(&self) -> u64 {
        self.files().faults
    }
    /// How often any file was synced.
    pub fn syncs(&self) -> u64 {
        self.files().syncs
    }
    /// How many operations were tried, reading not counted.
    pub fn operations(&self) -> u64 {
        self.files().operations
    }
    /// How many bytes were read.
    pub fn bytes_read(&self) -> u64 {
        self.files().bytes_read
    }
    /// Flips all bits of one byte, also in what is safe: damage that no crash causes.
    pub fn damage(&self, file: &str, offset: u64) {
        let mut files = self.files();
        if let (Some(pages), Ok(offset)) = (files.files.get_mut(file), usize::try_from(offset)) {
            pages.damage(offset);
        }
    }
    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// Counts an operation; the error if it fails by plan.
    fn begin(&self, operation: Operation, word: &'static str, file: &str) -> Result<(), DiskError> {
        match self.files().strike(operation, 0) {
            Some(strike) => Err(strike.on(word, file)),
            None => Ok(()),
        }
    }
}

fn place(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

impl Disk for MemDisk {
    fn list(&self) -> Result<Vec<String>, DiskError> {
        self.begin(Operation::Read, "list", "the directory")?;
        Ok(self.files().files.keys().cloned().collect())
    }
    fn len(&self, file: &str) -> Result<u64, DiskError> {
        self.begin(Operation::Read, "measure", file)?;
        let files = self.files();
        Ok(files.files.get(file).map_or(0, |p| p.live().len() as u64))
    }
    fn read(&self, file: &str, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        self.begin(Operation::Read, "read", file)?;
        let mut files = self.files();
        let bytes = files.find("read", file)?.live();
        let start = bytes.len().min(place(offset));
        let end = bytes.len().min(start.saturating_add(len));
        let read = bytes[start..end].to_vec();
        files.bytes_read += read.len() as u64;
        Ok(read)
    }
    fn append(&mut self, file: &str, bytes: &[u8]) -> Result<(), DiskError> {
        let mut files = self.files();
        let strike = files.strike(Operation::Append, bytes.len());
        let written = strike.as_ref().map_or(bytes.len(), |s| s.written);
        if strike.is_none() || written > 0 {
            let pages = files.files.entry(file.to_owned()).or_default();
            pages.append(&bytes[..written]);
        }
        strike.map_or(Ok(()), |s| Err(s.on("append to", file)))
    }
    fn rewrite(&mut self, file: &str, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        self.begin(Operation::Rewrite, "rewrite", file)?;
        let mut files = self.files();
        files.find("rewrite", file)?.rewrite(place(offset), bytes);
        Ok(())
    }
    fn sync(&mut self, file: &str) -> Result<(), DiskError> {
        let mut files = self.files();
        let strike = files.strike(Operation::Sync, 0);
        let pages = files.find("sync", file)?;
        if let Some(strike) = strike {
            if strike.forgets {
                pages.forget();
            }
            return Err(strike.on("sync", file));
        }
        pages.sync();
        files.syncs += 1;
        Ok(())
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        self.begin(Operation::Rename, "rename", from)?;
        let mut files = self.files();
        files.find("rename", from)?.name();
        if let Some(pages) = files.files.remove(from) {
            files.files.insert(to.to_owned(), pages);
        }
        Ok(())
    }
    fn truncate(&mut self, file: &str, len: u64) -> Result<(), DiskError> {
        self.begin(Operation::Truncate, "truncate", file)?;
        self.files().find("truncate", file)?.truncate(place(len));
        Ok(())
    }
    fn remove(&mut self, file: &str) -> Result<(), DiskError> {
        self.begin(Operation::Remove, "remove", file)?;
        self.files().files.remove(file);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_keeps_what_was_synced_and_a_prefix_of_the_rest() {
        let disk = MemDisk::new();
        let mut handle = disk.clone();
        handle.append("a", b"safe").unwrap();
        handle.sync("a").unwrap();
        handle.append("a", b"-lost").unwrap();
        handle.append("b", b"never synced").unwrap();
        disk.crash(|at_stake| at_stake / 2);
        assert_eq!(disk.read("a", 0, 99).unwrap(), b"safe-l");
        assert_eq!(disk.list().unwrap(), ["a"]);
    }

    #[test]
    fn a_torn_crash_keeps_any_sectors_and_zeros_for_the_others() {
        let disk = MemDisk::new();
        let mut handle = disk.clone();
        handle.append("a", &[1; 512]).unwrap();
        handle.sync("a").unwrap();
        handle.append("a", &[2; 1_024]).unwrap();
        handle.append("b", &[3; 9]).unwrap();
        // In "a" the first sector at stake is lost, the second stays; the name of "b" is lost.
        let mut draws = [1, 0, 1, 0].into_iter();
        disk.crash_torn(|_| draws.next().unwrap());
        assert_eq!(disk.list().unwrap(), ["a"]);
        let expected = [[1; 512], [0; 512], [2; 512]].concat();
        assert_eq!(disk.read("a", 0, 9_999).unwrap(), expected);
    }

    #[test]
    fn a_forgetful_sync_loses_bytes_that_still_look_present_until_they_are_rewritten() {
        for rewritten in [false, true] {
            let mut disk = MemDisk::new();
            disk.append("a", &[1; 1_024]).unwrap();
            disk.fail(FaultPlan::forgetful_sync(0));
            assert!(disk.sync("a").is_err());
            assert_eq!(disk.read("a", 0, 9_999).unwrap(), [1; 1_024]);
            if rewritten {
                disk.rewrite("a", 0, &[1; 1_024]).unwrap();
            }
            disk.append("a", &[2; 512]).unwrap();
            disk.sync("a").unwrap();
            disk.crash(|_| 0);
            let first = [u8::from(rewritten); 1_024];
            assert_eq!(disk.read("a", 0, 1_024).unwrap(), first);
            assert_eq!(disk.read("a", 1_024, 512).unwrap(), [2; 512]);
        }
    }

    #[test]
    fn a_full_disk_takes_what_fits_and_a_plan_strikes_once_or_for_good() {
        let mut disk = MemDisk::new();
        disk.fail(FaultPlan::full_after(5));
        disk.append("a", b"123").unwrap();
        let full = disk.append("a", b"456").unwrap_err();
        assert_eq!(full.source.kind(), io::ErrorKind::StorageFull);
        assert_eq!(disk.read("a", 0, 9).unwrap(), b"12345");
        disk.fail(FaultPlan::once(Operation::Rename, 0));
        assert!(disk.rename("a", "b").is_err());
        disk.rename("a", "b").unwrap();
        disk.fail(FaultPlan {
            lasting: true,
            ..FaultPlan::once(Operation::Read, 1)
        });
        assert!(disk.len("b").is_ok());
        assert!(disk.read("b", 0, 1).is_err() && disk.len("b").is_err());
        disk.cure();
        assert_eq!((disk.len("b").unwrap(), disk.faults()), (5, 4));
    }
}
