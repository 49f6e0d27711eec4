//! A disk whose work counts as a stage of the ledger's.

use gridbay_host::disk::{Disk, DiskError, RealDisk};
use gridbay_host::{Stage, Stages};

/// See the module. Looking for names and lengths is not counted.
pub(super) struct Timed {
    pub(super) disk: RealDisk,
    pub(super) stages: Stages,
}

impl Timed {
    fn time<T>(&mut self, work: impl FnOnce(&mut RealDisk) -> T) -> T {
        self.stages.time(Stage::Disk, || work(&mut self.disk))
    }
}

impl Disk for Timed {
    fn list(&self) -> Result<Vec<String>, DiskError> {
        self.disk.list()
    }
    fn len(&self, file: &str) -> Result<u64, DiskError> {
        self.disk.len(file)
    }
    fn read(&self, file: &str, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        let read = || self.disk.read(file, offset, len);
        self.stages.time(Stage::Disk, read)
    }
    fn append(&mut self, file: &str, bytes: &[u8]) -> Result<(), DiskError> {
        self.time(|disk| disk.append(file, bytes))
    }
    fn rewrite(&mut self, file: &str, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        self.time(|disk| disk.rewrite(file, offset, bytes))
    }
    fn sync(&mut self, file: &str) -> Result<(), DiskError> {
        self.time(|disk| disk.sync(file))
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        self.time(|disk| disk.rename(from, to))
    }
    fn truncate(&mut self, file: &str, len: u64) -> Result<(), DiskError> {
        self.time(|disk| disk.truncate(file, len))
    }
    fn remove(&mut self, file: &str) -> Result<(), DiskError> {
        self.time(|disk| disk.remove(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_host::Stopwatch;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    #[derive(Default)]
    struct Count(AtomicU64);

    impl Stopwatch for Count {
        fn used(&self) -> u64 {
            0
        }
        fn spent(&self, stage: Stage, _nanos: u64) {
            assert_eq!(stage, Stage::Disk);
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn all_that_moves_bytes_is_counted_and_done() {
        let dir = tempfile::tempdir().unwrap();
        let count = Arc::new(Count::default());
        let mut disk = Timed {
            disk: RealDisk::open(dir.path()).unwrap(),
            stages: Stages::by(Arc::clone(&count) as Arc<dyn Stopwatch>),
        };
        disk.append("a", b"hello").unwrap();
        disk.rewrite("a", 0, b"j").unwrap();
        disk.sync("a").unwrap();
        disk.rename("a", "b").unwrap();
        disk.truncate("b", 4).unwrap();
        assert_eq!(disk.read("b", 0, 9).unwrap(), b"jell");
        assert_eq!(
            (disk.list().unwrap(), disk.len("b").unwrap()),
            (vec!["b".to_owned()], 4)
        );
        disk.remove("b").unwrap();
        assert_eq!(disk.list().unwrap(), [""; 0]);
        assert_eq!(count.0.load(Relaxed), 7);
    }
}
