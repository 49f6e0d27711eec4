//! Rows in one file of redb. The only place that names redb.
//!
//! redb asserts where its file contradicts itself. The index is not worth a node: such a panic is
//! caught here and counts as an error of the file.

use super::Row;
use redb::{AccessGuard, Database, Durability, ReadOnlyTable, ReadableDatabase, TableDefinition};
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Bytes of pages kept in memory.
const CACHE_BYTES: usize = 8 * 1024 * 1024;
/// The file in the index's directory.
pub(super) const FILE: &str = "index.redb";
/// All rows are in one table.
const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("rows");

/// That table as it is at a moment.
type Rows = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// A failure of the file.
pub(crate) type Error = Box<redb::Error>;

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
pub(super) struct File(Option<Database>);

impl Drop for File {
    fn drop(&mut self) {
        let db = self.0.take();
        if let Err(error) = guarded(|| {
            drop(db);
            Ok(())
        }) {
            tracing::warn!(%error, "cannot close the index");
        }
    }
}

fn row((key, value): (AccessGuard<'_, &[u8]>, AccessGuard<'_, &[u8]>)) -> Row {
    (key.value().to_vec(), value.value().to_vec())
}

impl File {
    pub(super) fn open(directory: &Path) -> Result<File, Error> {
        std::fs::create_dir_all(directory).map_err(|e| wrong(redb::Error::Io(e)))?;
        let path = directory.join(FILE);
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        let file = File(Some(guarded(|| builder.create(path).map_err(wrong))?));
        // Makes the table, so that reading never misses it.
        file.write_safely(iter::empty())?;
        Ok(file)
    }
    fn with<T>(&self, deed: impl FnOnce(&Database) -> Result<T, Error>) -> Result<T, Error> {
        let Some(db) = &self.0 else {
            return Err(wrong(redb::Error::DatabaseAlreadyOpen));
        };
        guarded(|| deed(db))
    }
    fn read<T>(&self, deed: impl FnOnce(&Rows) -> Result<T, Error>) -> Result<T, Error> {
        self.with(|db| {
            let reading = db.begin_read().map_err(wrong)?;
            deed(&reading.open_table(TABLE).map_err(wrong)?)
        })
    }
    /// The values of keys, in their order.
    pub(super) fn get(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        self.read(|rows| {
            let value = |key: &&[u8]| {
                let value = rows.get(*key).map_err(wrong)?;
                Ok(value.map(|value| value.value().to_vec()))
            };
            keys.iter().map(value).collect()
        })
    }
    /// The last rows from `start` on and before `end`, descending.
    pub(super) fn last(&self, start: &[u8], end: &[u8], limit: usize) -> Result<Vec<Row>, Error> {
        self.read(|rows| {
            let found = rows.range(start..end).map_err(wrong)?.rev().take(limit);
            let found = found.map(|found| found.map(row));
            found.collect::<Result<_, _>>().map_err(wrong)
        })
    }
    /// All rows from `start` on and before `end`, ascending.
    pub(super) fn all(&self, start: &[u8], end: &[u8]) -> Result<Vec<Row>, Error> {
        self.read(|rows| {
            let found = rows.range(start..end).map_err(wrong)?;
            let found = found.map(|found| found.map(row));
            found.collect::<Result<_, _>>().map_err(wrong)
        })
    }
    /// Writes rows, all or none. They are safe after the next [`File::write_safely`].
    pub(super) fn write<'r>(
        &self,
        rows: impl Iterator<Item = (&'r Vec<u8>, &'r Vec<u8>)>,
    ) -> Result<(), Error> {
        self.commit(rows, Durability::None)
    }
    /// The same; they and all that was written before are safe on return.
    pub(super) fn write_safely<'r>(
        &self,
        rows: impl Iterator<Item = (&'r Vec<u8>, &'r Vec<u8>)>,
    ) -> Result<(), Error> {
        self.commit(rows, Durability::Immediate)
    }
    fn commit<'r>(
        &self,
        rows: impl Iterator<Item = (&'r Vec<u8>, &'r Vec<u8>)>,
        durability: Durability,
    ) -> Result<(), Error> {
        self.with(|db| {
            let mut batch = db.begin_write().map_err(wrong)?;
            batch.set_durability(durability).map_err(wrong)?;
            // Writes down which pages are free: after a kill it opens without being read.
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
}
