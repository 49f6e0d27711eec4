//! A buyer's orders on disk: one folder each, with the record, the output of every task and the files
//! brought back.
//!
//! ```text
//! orders/<key>/record          canonical bytes, replaced atomically
//! orders/<key>/<task>/stdout   written at the offsets the agent names
//! orders/<key>/<task>/stderr
//! orders/<key>/<task>/files/…  output files
//! ```

use gridbay_core::buyer::{OrderKey, Record};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

/// Bytes of output kept per stream of a task.
pub const OUTPUT_BYTES: u64 = 64 << 20;

/// The store: a folder.
#[derive(Clone, Debug)]
pub struct OrderStore {
    folder: PathBuf,
}

impl OrderStore {
    /// Opens (and makes) the folder.
    pub fn open(folder: PathBuf) -> io::Result<OrderStore> {
        private_folder(&folder)?;
        Ok(OrderStore { folder })
    }

    /// All records. A folder without a record is an order that was never acknowledged.
    pub fn load(&self) -> io::Result<Vec<Record>> {
        let mut records = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path().join("record");
            let Ok(bytes) = fs::read(&path) else { continue };
            let record = Record::decode(&bytes).map_err(|error| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("{}: {error}", path.display()),
                )
            })?;
            records.push(record);
        }
        Ok(records)
    }

    /// Keeps a record durably.
    pub fn save(&self, order: &OrderKey, record: &[u8]) -> io::Result<()> {
        let folder = self.order(order);
        if !folder.exists() {
            private_folder(&folder)?;
            fs::File::open(&self.folder)?.sync_all()?;
        }
        super::replace_file(&folder.join("record"), record)
    }

    /// Writes output at its offset.
    pub fn append(
        &self,
        order: &OrderKey,
        task: u32,
        stderr: bool,
        from: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        if from.saturating_add(bytes.len() as u64) > OUTPUT_BYTES {
            return Ok(());
        }
        private_folder(&self.task(order, task))?;
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.output(order, task, stderr))?;
        file.write_all_at(bytes, from)
    }

    /// Forgets the output of a task.
    pub fn reset(&self, order: &OrderKey, task: u32) -> io::Result<()> {
        match fs::remove_dir_all(self.task(order, task)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Where the output of a task is.
    pub fn output(&self, order: &OrderKey, task: u32, stderr: bool) -> PathBuf {
        self.task(order, task)
            .join(if stderr { "stderr" } else { "stdout" })
    }

    /// Where the files of a task are.
    pub fn files(&self, order: &OrderKey, task: u32) -> PathBuf {
        self.task(order, task).join("files")
    }

    fn order(&self, order: &OrderKey) -> PathBuf {
        self.folder.join(order.to_string())
    }
    fn task(&self, order: &OrderKey, task: u32) -> PathBuf {
        self.order(order).join(task.to_string())
    }
}

/// Makes a folder and its parents, mode 0700.
pub fn private_folder(path: &std::path::Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_lands_at_its_offset_and_can_be_reset() {
        let dir = tempfile::tempdir().unwrap();
        let store = OrderStore::open(dir.path().join("orders")).unwrap();
        let key = OrderKey(7);
        store.append(&key, 0, false, 0, b"hello ").unwrap();
        store.append(&key, 0, false, 6, b"world").unwrap();
        store.append(&key, 0, false, 0, b"hello ").unwrap();
        assert_eq!(
            fs::read(store.output(&key, 0, false)).unwrap(),
            b"hello world"
        );
        store.append(&key, 0, false, OUTPUT_BYTES, b"x").unwrap();
        assert_eq!(
            fs::metadata(store.output(&key, 0, false)).unwrap().len(),
            11,
            "capped"
        );
        store.reset(&key, 0).unwrap();
        store.reset(&key, 0).unwrap();
        assert!(!store.output(&key, 0, false).exists());
        assert!(store.load().unwrap().is_empty(), "no record, no order");
    }

    #[test]
    fn a_damaged_record_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let store = OrderStore::open(dir.path().to_path_buf()).unwrap();
        store.save(&OrderKey(9), b"junk").unwrap();
        let error = store.load().unwrap_err().to_string();
        assert!(error.contains("0000000000000009/record"), "{error}");
    }
}
