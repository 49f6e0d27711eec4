//! A buyer's orders on disk: one folder each, with the record, the output of every task and the
//! files brought back.
//!
//! ```text
//! orders/<key>/record          canonical bytes, replaced atomically
//! orders/<key>/<task>/stdout   written at the offsets the agent names
//! orders/<key>/<task>/stderr
//! orders/<key>/<task>/stdout.2 what attempt 2 put out, until the job ends
//! orders/<key>/<task>/files/…  output files
//! ```

use gridbay_core::buyer::Record;
use gridbay_core::key::OrderKey;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

/// Earlier attempts at a task whose output is kept until the job ends.
pub const OUTPUTS: u32 = 8;

/// The store: a folder.
#[derive(Clone, Debug)]
pub struct OrderStore {
    folder: PathBuf,
    output_bytes: u64,
}

impl OrderStore {
    /// Opens (and makes) the folder; keeps at most `output_bytes` of each stream of a task.
    pub fn open(folder: PathBuf, output_bytes: u64) -> io::Result<OrderStore> {
        private_folder(&folder)?;
        Ok(OrderStore {
            folder,
            output_bytes,
        })
    }

    /// Bytes of each stream of a task that it keeps.
    pub fn output_bytes(&self) -> u64 {
        self.output_bytes
    }

    /// All records that can be read. A folder without a record is an order that was never
    /// acknowledged.
    pub fn load(&self) -> io::Result<Vec<Record>> {
        let mut records = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path().join("record");
            let Ok(bytes) = fs::read(&path) else { continue };
            match Record::decode(&bytes) {
                Ok(record) => records.push(record),
                // One bad record must not keep the node from serving the others.
                Err(error) => {
                    tracing::error!(path = %path.display(), %error, "an order is left aside");
                }
            }
        }
        Ok(records)
    }

    /// Whether an order was kept.
    pub fn holds(&self, order: &OrderKey) -> bool {
        self.order(order).join("record").exists()
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

    /// Writes output at its offset, as far as it is kept.
    pub fn append(
        &self,
        order: &OrderKey,
        task: u32,
        stderr: bool,
        from: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        let room = self.output_bytes.saturating_sub(from);
        let kept = usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len()));
        if kept == 0 {
            return Ok(());
        }
        private_folder(&self.task(order, task))?;
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.output(order, task, stderr))?;
        file.write_all_at(&bytes[..kept], from)
    }

    /// A task starts anew as this attempt: its output so far is that of the one before. If that is
    /// kept already, the node was restarted and the output is this attempt's own, which comes
    /// again: the files stay, emptied.
    pub fn reset(&self, order: &OrderKey, task: u32, attempt: u32) -> io::Result<()> {
        for stderr in [false, true] {
            let before = self.earlier_output(order, task, stderr, attempt.saturating_sub(1));
            if !before.exists() && self.output(order, task, stderr).exists() {
                fs::rename(self.output(order, task, stderr), before)?;
            }
            let old = attempt.checked_sub(1 + OUTPUTS);
            if let Some(old) = old.map(|old| self.earlier_output(order, task, stderr, old)) {
                removed(fs::remove_file(old))?;
            }
            match OpenOptions::new()
                .write(true)
                .open(self.output(order, task, stderr))
            {
                Ok(file) => file.set_len(0)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Forgets the output of earlier attempts at a task, before this one.
    pub fn forget_earlier(&self, order: &OrderKey, task: u32) -> io::Result<()> {
        let entries = match fs::read_dir(self.task(order, task)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let stream = name.split_once('.').map(|(stream, _)| stream);
            if matches!(stream, Some("stdout" | "stderr")) {
                removed(fs::remove_file(entry.path()))?;
            }
        }
        Ok(())
    }

    /// Where the output of an earlier attempt at a task is, if it is kept.
    pub fn earlier_output(
        &self,
        order: &OrderKey,
        task: u32,
        stderr: bool,
        attempt: u32,
    ) -> PathBuf {
        let stream = if stderr { "stderr" } else { "stdout" };
        self.task(order, task).join(format!("{stream}.{attempt}"))
    }

    /// Where the output of a task is.
    pub fn output(&self, order: &OrderKey, task: u32, stderr: bool) -> PathBuf {
        self.task(order, task)
            .join(if stderr { "stderr" } else { "stdout" })
    }

    /// Where files are brought before it is known that they count: by attempt, because a seller
    /// that has lost the lease may still be sending.
    pub fn fetched_files(&self, order: &OrderKey, task: u32, attempt: u32) -> PathBuf {
        self.task(order, task).join(format!("files.{attempt}"))
    }

    /// The files fetched for this attempt are the task's.
    pub fn keep_files(&self, order: &OrderKey, task: u32, attempt: u32) -> io::Result<()> {
        let (from, to) = (
            self.fetched_files(order, task, attempt),
            self.files(order, task),
        );
        if !from.exists() {
            return Ok(());
        }
        let old = self.task(order, task).join("files.old");
        if to.exists() {
            fs::rename(&to, &old)?;
        }
        fs::rename(&from, &to)?;
        // The rest of an earlier attempt only takes room.
        let _stays = fs::remove_dir_all(&old);
        Ok(())
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

/// What is gone already is removed.
fn removed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
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

    const CAP: u64 = 64 << 20;

    #[test]
    fn output_lands_at_its_offset_and_can_be_reset() {
        let dir = tempfile::tempdir().unwrap();
        let store = OrderStore::open(dir.path().join("orders"), CAP).unwrap();
        let key = OrderKey(7);
        store.append(&key, 0, false, 0, b"hello ").unwrap();
        store.append(&key, 0, false, 6, b"world").unwrap();
        store.append(&key, 0, false, 0, b"hello ").unwrap();
        assert_eq!(
            fs::read(store.output(&key, 0, false)).unwrap(),
            b"hello world"
        );
        store.append(&key, 0, false, CAP, b"x").unwrap();
        assert_eq!(
            fs::metadata(store.output(&key, 0, false)).unwrap().len(),
            11,
            "capped"
        );
        store.append(&key, 1, false, CAP - 2, b"xyz").unwrap();
        let last = fs::metadata(store.output(&key, 1, false)).unwrap();
        assert_eq!(last.len(), CAP, "at the byte");
        store.reset(&key, 0, 1).unwrap();
        let earlier = |attempt| fs::read(store.earlier_output(&key, 0, false, attempt)).ok();
        assert_eq!(earlier(0).as_deref(), Some(&b"hello world"[..]));
        store.append(&key, 0, false, 0, b"again").unwrap();
        // After a restart the same attempt is read from its beginning.
        store.reset(&key, 0, 1).unwrap();
        assert_eq!(fs::metadata(store.output(&key, 0, false)).unwrap().len(), 0);
        assert_eq!(earlier(0).as_deref(), Some(&b"hello world"[..]));
        for attempt in 2..12 {
            store.append(&key, 0, false, 0, b"more").unwrap();
            store.reset(&key, 0, attempt).unwrap();
        }
        let kept: Vec<u32> = (0..12).filter(|n| earlier(*n).is_some()).collect();
        assert_eq!(kept, Vec::from_iter(3..11));
        store.append(&key, 0, false, 0, b"last").unwrap();
        store.forget_earlier(&key, 0).unwrap();
        assert!((0..12).all(|n| earlier(n).is_none()));
        assert_eq!(fs::read(store.output(&key, 0, false)).unwrap(), b"last");
        assert!(store.load().unwrap().is_empty(), "no record, no order");
    }

    #[test]
    fn files_of_the_attempt_that_counts_take_the_place_of_others() {
        let dir = tempfile::tempdir().unwrap();
        let store = OrderStore::open(dir.path().to_path_buf(), CAP).unwrap();
        let key = OrderKey(1);
        store.keep_files(&key, 0, 0).unwrap();
        for attempt in [0, 2] {
            let folder = store.fetched_files(&key, 0, attempt);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("out"), attempt.to_string()).unwrap();
            store.keep_files(&key, 0, attempt).unwrap();
            let kept = fs::read_to_string(store.files(&key, 0).join("out")).unwrap();
            assert_eq!(kept, attempt.to_string());
        }
    }

    #[test]
    fn a_damaged_record_is_left_aside() {
        let dir = tempfile::tempdir().unwrap();
        let store = OrderStore::open(dir.path().to_path_buf(), CAP).unwrap();
        store.save(&OrderKey(9), b"junk").unwrap();
        assert!(store.load().unwrap().is_empty());
        assert!(
            dir.path().join("0000000000000009/record").exists(),
            "for whoever repairs it"
        );
    }
}
