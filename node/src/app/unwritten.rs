//! A disk that is only read: nothing is written to it.
//!
//! Opening a ledger writes: torn ends are cut, and bytes that no sync is known to cover are written
//! again. While a disk refuses writes, its contents can still be shown. A ledger that was opened in
//! this way must not be stepped.

use gridbay_host::disk::{Disk, DiskError, RealDisk};

/// See the module.
pub(super) struct Unwritten(pub(super) RealDisk);

impl Disk for Unwritten {
    fn list(&self) -> Result<Vec<String>, DiskError> {
        self.0.list()
    }
    fn len(&self, file: &str) -> Result<u64, DiskError> {
        self.0.len(file)
    }
    fn read(&self, file: &str, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        self.0.read(file, offset, len)
    }
    fn append(&mut self, _file: &str, _bytes: &[u8]) -> Result<(), DiskError> {
        Ok(())
    }
    fn rewrite(&mut self, _file: &str, _offset: u64, _bytes: &[u8]) -> Result<(), DiskError> {
        Ok(())
    }
    fn sync(&mut self, _file: &str) -> Result<(), DiskError> {
        Ok(())
    }
    fn rename(&mut self, _from: &str, _to: &str) -> Result<(), DiskError> {
        Ok(())
    }
    fn truncate(&mut self, _file: &str, _len: u64) -> Result<(), DiskError> {
        Ok(())
    }
    fn remove(&mut self, _file: &str) -> Result<(), DiskError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_read_and_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let mut real = RealDisk::open(dir.path()).unwrap();
        real.append("blocks", b"decided").unwrap();
        let mut disk = Unwritten(real);
        disk.append("blocks", b"more").unwrap();
        disk.rewrite("blocks", 0, b"other").unwrap();
        disk.truncate("blocks", 1).unwrap();
        disk.rename("blocks", "gone").unwrap();
        disk.remove("blocks").unwrap();
        disk.sync("blocks").unwrap();
        assert_eq!(disk.read("blocks", 0, 99).unwrap(), b"decided");
        assert_eq!(disk.list().unwrap(), ["blocks"]);
        assert_eq!(disk.len("blocks").unwrap(), 7);
    }
}
