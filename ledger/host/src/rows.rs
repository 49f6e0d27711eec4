//! The rows of the index: a sorted map from bytes to bytes, in one file of redb or in memory. The
//! only place that names redb.
//!
//! A batch is visible at once and safe after the next [`Rows::flush`]; after a kill or a power cut
//! the file holds the rows of the last flush, and opens without being read from end to end: the
//! flush writes down which pages are free (redb calls it quick repair).
//!
//! redb asserts where its file contradicts itself. The index is not worth a node: such a panic is
//! caught here and counts as an error of the file.

use redb::{Database, Durability, ReadableDatabase, TableDefinition};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of pages kept in memory.
const CACHE_BYTES: usize = 8 * 1024 * 1024;
/// The file in the index's directory.
const FILE: &str = "index.redb";
/// All rows are in one table.
const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("rows");

/// A key and its value.
pub(crate) type Row = (Vec<u8>, Vec<u8>);
/// A failure of the file.
type Error = Box<redb::Error>;

fn wrong(error: impl Into<redb::Error>) -> Error {
    Box::new(error.into())
}

/// Does something with a file that may be damaged.
fn guarded<T>(deed: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let done = catch_unwind(AssertUnwindSafe(deed));
    done.unwrap_or_else(|_| {
        Err(wrong(redb::Error::Corrupted(
            "it contradicts itself".into(),
        )))
    })
}

/// An open file.
#[derive(Debug)]
pub(crate) struct File {
    db: Option<Database>,
    /// Whether rows could not be read: what seems to be missing may be there.
    failed: AtomicBool,
}

impl Drop for File {
    fn drop(&mut self) {
        let db = self.db.take();
        if let Err(error) = guarded(|| {
            drop(db);
            Ok(())
        }) {
            tracing::warn!(%error, "cannot close the index");
        }
    }
}

/// Where rows are.
#[derive(Debug)]
pub(crate) enum Rows {
    /// In a file.
    File(File),
    /// In memory.
    Memory(BTreeMap<Vec<u8>, Vec<u8>>),
}

impl File {
    fn open(directory: &Path) -> Result<File, Error> {
        std::fs::create_dir_all(directory).map_err(|e| wrong(redb::Error::Io(e)))?;
        let path = directory.join(FILE);
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        let file = File {
            db: Some(guarded(|| builder.create(path).map_err(wrong))?),
            failed: AtomicBool::new(false),
        };
        // Makes the table, so that reading never misses it.
        file.commit(&[], Durability::Immediate)?;
        Ok(file)
    }
    fn with<T>(&self, deed: impl FnOnce(&Database) -> Result<T, Error>) -> Result<T, Error> {
        let Some(db) = &self.db else {
            return Err(wrong(redb::Error::DatabaseAlreadyOpen));
        };
        guarded(|| deed(db))
    }
    fn get(&self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        self.with(|db| {
            let reading = db.begin_read().map_err(wrong)?;
            let table = reading.open_table(TABLE).map_err(wrong)?;
            let value = |key: &_| {
                let value = table.get(AsRef::<[u8]>::as_ref(key)).map_err(wrong)?;
                Ok(value.map(|value| value.value().to_vec()))
            };
            keys.iter().map(value).collect()
        })
    }
    /// The rows read; none, with a warning, if the file failed.
    fn read<T: Default>(&self, answer: Result<T, Error>) -> T {
        answer.unwrap_or_else(|error| {
            self.failed.store(true, Ordering::Relaxed);
            tracing::warn!(%error, "cannot read the index");
            T::default()
        })
    }
    fn commit(&self, rows: &[Row], durability: Durability) -> Result<(), Error> {
        self.with(|db| {
            let mut batch = db.begin_write().map_err(wrong)?;
            batch.set_durability(durability).map_err(wrong)?;
            batch.set_quick_repair(matches!(durability, Durability::Immediate));
            let mut table = batch.open_table(TABLE).map_err(wrong)?;
            for (key, value) in rows {
                let row = table.insert(key.as_slice(), value.as_slice());
                row.map_err(wrong)?;
            }
            drop(table);
            batch.commit().map_err(wrong)
        })
    }
    fn last(&self, start: &[u8], end: &[u8], limit: usize) -> Result<Vec<Row>, Error> {
        self.with(|db| {
            let reading = db.begin_read().map_err(wrong)?;
            let table = reading.open_table(TABLE).map_err(wrong)?;
            let rows = table.range(start..end).map_err(wrong)?.rev().take(limit);
            let row =
                |(key, value): (redb::AccessGuard<'_, &[u8]>, redb::AccessGuard<'_, &[u8]>)| {
                    (key.value().to_vec(), value.value().to_vec())
                };
            let rows = rows.map(|found| found.map(row));
            rows.collect::<Result<_, _>>().map_err(wrong)
        })
    }
    fn values(&self, start: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        self.with(|db| {
            let reading = db.begin_read().map_err(wrong)?;
            let table = reading.open_table(TABLE).map_err(wrong)?;
            let rows = table.range(start..end).map_err(wrong)?;
            let values = rows.map(|row| row.map(|(_, value)| value.value().to_vec()));
            values.collect::<Result<_, _>>().map_err(wrong)
        })
    }
}

impl Rows {
    /// No rows, in memory.
    pub(crate) fn none() -> Rows {
        Rows::Memory(BTreeMap::new())
    }
    /// Opens the rows of a directory; a file that cannot be read is made anew, and where none can
    /// be made the rows are in memory. Without a directory they are from the start.
    pub(crate) fn open(directory: Option<&Path>) -> Rows {
        let Some(directory) = directory else {
            return Rows::none();
        };
        let opened = File::open(directory).or_else(|error| {
            tracing::warn!(%error, "the index is torn and made anew");
            wipe(directory);
            File::open(directory)
        });
        opened.map_or_else(
            |error| {
                tracing::warn!(%error, "no index on disk, it is kept in memory");
                Rows::none()
            },
            Rows::File,
        )
    }
    /// Whether an answer was empty because the file could not be read.
    pub(crate) fn failed(&self) -> bool {
        match self {
            Rows::File(file) => file.failed.load(Ordering::Relaxed),
            Rows::Memory(_) => false,
        }
    }
    /// Fails as a file does that cannot be read.
    #[cfg(test)]
    pub(crate) fn fail(&self) {
        if let Rows::File(file) = self {
            file.failed.store(true, Ordering::Relaxed);
        }
    }
    pub(crate) fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.get_all(&[key]).pop().flatten()
    }
    /// The values of keys, in their order; none at all if the file failed.
    pub(crate) fn get_all(&self, keys: &[impl AsRef<[u8]>]) -> Vec<Option<Vec<u8>>> {
        match self {
            Rows::File(file) => file.read(file.get(keys)),
            Rows::Memory(map) => {
                let value = |key: &_| map.get(AsRef::<[u8]>::as_ref(key)).cloned();
                keys.iter().map(value).collect()
            }
        }
    }
    /// Adds rows, all or none.
    pub(crate) fn write(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        match self {
            Rows::File(file) => file.commit(&rows, Durability::None),
            Rows::Memory(map) => {
                map.extend(rows);
                Ok(())
            }
        }
    }
    /// Makes all rows safe.
    pub(crate) fn flush(&self) -> Result<(), Error> {
        match self {
            Rows::File(file) => file.commit(&[], Durability::Immediate),
            Rows::Memory(_) => Ok(()),
        }
    }
    /// The last `limit` rows from `start` on and before `end`, descending.
    pub(crate) fn last(&self, start: &[u8], end: &[u8], limit: usize) -> Vec<Row> {
        if start >= end {
            return Vec::new();
        }
        match self {
            Rows::File(file) => file.read(file.last(start, end, limit)),
            Rows::Memory(map) => map
                .range::<[u8], _>((Bound::Included(start), Bound::Excluded(end)))
                .rev()
                .take(limit)
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        }
    }
    /// The values of all keys from `start` on and before `end`, ascending.
    pub(crate) fn values(&self, start: &[u8], end: &[u8]) -> Vec<Vec<u8>> {
        if start >= end {
            return Vec::new();
        }
        match self {
            Rows::File(file) => file.read(file.values(start, end)),
            Rows::Memory(map) => map
                .range::<[u8], _>((Bound::Included(start), Bound::Excluded(end)))
                .map(|(_, value)| value.clone())
                .collect(),
        }
    }
}

/// Removes a directory of rows that nobody has open.
pub(crate) fn wipe(directory: &Path) {
    if let Err(error) = std::fs::remove_dir_all(directory) {
        tracing::warn!(%error, "cannot remove the index");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: u8) -> Row {
        (vec![b'k', n], vec![n; 100])
    }

    /// The same rows in a file and in memory.
    fn both(place: &Path) -> [Rows; 2] {
        let mut both = [Rows::open(Some(place)), Rows::none()];
        for rows in &mut both {
            rows.write((0..100).map(row).collect()).unwrap();
            rows.write(vec![row(100), (b"k\x07".to_vec(), b"new".to_vec())])
                .unwrap();
        }
        both
    }

    #[test]
    fn file_and_memory_answer_alike() {
        let place = tempfile::tempdir().unwrap();
        for rows in both(place.path()) {
            assert_eq!(rows.get(b"k\x05"), Some(vec![5; 100]));
            assert_eq!(rows.get(b"k\x07"), Some(b"new".to_vec()));
            assert_eq!(rows.get(b"absent"), None);
            let last = rows.last(b"k", b"k\x0a", 3);
            assert_eq!(last, [row(9), row(8), (b"k\x07".to_vec(), b"new".to_vec())]);
            let all = rows.get_all(&[b"k\x05", b"no", b"k\x07"]);
            assert_eq!(all, [Some(vec![5; 100]), None, Some(b"new".to_vec())]);
            assert_eq!(rows.last(b"k\x63", b"l", 9).len(), 2);
            assert!(rows.last(b"l", b"k", 9).is_empty());
            let values = rows.values(b"k\x06", b"k\x08");
            assert_eq!(values, [vec![6; 100], b"new".to_vec()]);
            assert!(rows.values(b"l", b"k").is_empty());
        }
    }

    #[test]
    fn a_kill_leaves_what_was_flushed() {
        let (place, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [mut rows, _] = both(place.path());
        rows.flush().unwrap();
        rows.write(vec![row(200)]).unwrap();
        // The file of a process that is still running is what a kill leaves of it.
        std::fs::copy(place.path().join(FILE), copy.path().join(FILE)).unwrap();
        let left = Rows::open(Some(copy.path()));
        assert!(matches!(left, Rows::File(_)));
        assert_eq!(left.get(b"k\x64"), Some(vec![100; 100]));
        assert_eq!(left.get(b"k\xc8"), None);
        assert_eq!(rows.get(b"k\xc8"), Some(vec![200; 100]));
    }
}
