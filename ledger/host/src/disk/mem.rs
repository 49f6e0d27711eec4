//! A disk in memory that can lose power: for simulation and tests.

use super::{Disk, DiskError};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// A shared disk in memory. Clones are handles to the same disk, as a directory is to its users.
#[derive(Clone, Debug, Default)]
pub struct MemDisk(Arc<Mutex<Files>>);

#[derive(Debug, Default)]
struct Files {
    /// What a running node sees.
    live: BTreeMap<String, Vec<u8>>,
    /// What a power loss leaves.
    safe: BTreeMap<String, Vec<u8>>,
    syncs: u64,
}

impl MemDisk {
    /// An empty disk.
    pub fn new() -> MemDisk {
        MemDisk::default()
    }
    /// Loses power: of the bytes appended to a file since its last sync only a prefix stays,
    /// which `kept` chooses (from the number of bytes at stake to the number that survive).
    pub fn crash(&self, mut kept: impl FnMut(u64) -> u64) {
        let mut files = self.files();
        let Files { live, safe, .. } = &mut *files;
        let mut after = BTreeMap::new();
        for (name, safe_bytes) in safe.iter() {
            let mut bytes = safe_bytes.clone();
            if let Some(seen) = live.get(name).filter(|l| l.starts_with(safe_bytes)) {
                let at_stake = (seen.len() - bytes.len()) as u64;
                let keep = kept(at_stake).min(at_stake) as usize;
                let start = bytes.len();
                bytes.extend_from_slice(&seen[start..start + keep]);
            }
            after.insert(name.clone(), bytes);
        }
        *safe = after.clone();
        *live = after;
    }
    /// How often any file was synced.
    pub fn syncs(&self) -> u64 {
        self.files().syncs
    }
    /// Flips all bits of one byte, also in what is safe: damage that no crash causes.
    pub fn damage(&self, file: &str, offset: u64) {
        let mut files = self.files();
        let Files { live, safe, .. } = &mut *files;
        for side in [live, safe] {
            if let Some(byte) = side
                .get_mut(file)
                .and_then(|b| b.get_mut(usize::try_from(offset).ok()?))
            {
                *byte = !*byte;
            }
        }
    }
    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

fn missing(operation: &'static str, file: &str) -> DiskError {
    DiskError {
        operation,
        file: file.to_owned(),
        source: io::ErrorKind::NotFound.into(),
    }
}

impl Disk for MemDisk {
    fn list(&self) -> Result<Vec<String>, DiskError> {
        Ok(self.files().live.keys().cloned().collect())
    }
    fn len(&self, file: &str) -> Result<u64, DiskError> {
        Ok(self.files().live.get(file).map_or(0, |b| b.len() as u64))
    }
    fn read(&self, file: &str, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        let files = self.files();
        let bytes = files.live.get(file).ok_or_else(|| missing("read", file))?;
        let start = bytes
            .len()
            .min(usize::try_from(offset).unwrap_or(usize::MAX));
        let end = bytes.len().min(start.saturating_add(len));
        Ok(bytes[start..end].to_vec())
    }
    fn append(&mut self, file: &str, bytes: &[u8]) -> Result<(), DiskError> {
        let mut files = self.files();
        files.live.entry(file.to_owned()).or_default().extend(bytes);
        Ok(())
    }
    fn sync(&mut self, file: &str) -> Result<(), DiskError> {
        let mut files = self.files();
        let Files { live, safe, syncs } = &mut *files;
        let bytes = live.get(file).ok_or_else(|| missing("sync", file))?;
        let copy = safe.entry(file.to_owned()).or_default();
        match bytes.strip_prefix(copy.as_slice()) {
            Some(rest) => copy.extend_from_slice(rest),
            None => *copy = bytes.clone(),
        }
        *syncs += 1;
        Ok(())
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        let mut files = self.files();
        let bytes = files
            .live
            .remove(from)
            .ok_or_else(|| missing("rename", from))?;
        files.live.insert(to.to_owned(), bytes);
        let safe = files.safe.remove(from).unwrap_or_default();
        files.safe.insert(to.to_owned(), safe);
        Ok(())
    }
    fn truncate(&mut self, file: &str, len: u64) -> Result<(), DiskError> {
        let mut files = self.files();
        let bytes = files
            .live
            .get_mut(file)
            .ok_or_else(|| missing("truncate", file))?;
        bytes.truncate(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(())
    }
    fn remove(&mut self, file: &str) -> Result<(), DiskError> {
        let mut files = self.files();
        files.live.remove(file);
        files.safe.remove(file);
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
}
