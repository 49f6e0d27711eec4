//! The rows of the index: a sorted map from bytes to bytes, in one file or in memory.
//!
//! Rows are visible at once, and safe once the flush after them is over: at the latest when the
//! next one begins ([`Rows::begin_flush`]). After a kill or a power cut the file holds the rows of
//! the last flush that was over, and opens without being read from end to end.

mod behind;
mod file;

use behind::Behind;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;

/// A key and its value.
pub(crate) type Row = (Vec<u8>, Vec<u8>);

/// Where rows are.
#[derive(Debug)]
pub(crate) enum Rows {
    /// In a file.
    File(Behind),
    /// In memory.
    Memory(BTreeMap<Vec<u8>, Vec<u8>>),
}

/// The last of some rows, descending.
fn last_of<'r>(
    rows: impl DoubleEndedIterator<Item = (&'r Vec<u8>, &'r Vec<u8>)>,
    limit: usize,
) -> impl Iterator<Item = Row> {
    let rows = rows.rev().take(limit);
    rows.map(|(key, value)| (key.clone(), value.clone()))
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
        let opened = Behind::open(directory).or_else(|error| {
            tracing::warn!(%error, "the index is torn and made anew");
            wipe(directory);
            Behind::open(directory)
        });
        opened.map_or_else(
            |error| {
                tracing::warn!(%error, "no index on disk, it is kept in memory");
                Rows::none()
            },
            Rows::File,
        )
    }
    /// Whether the file failed: an answer may have been empty because of that, and what was added
    /// since is not in it.
    pub(crate) fn failed(&self) -> bool {
        match self {
            Rows::File(file) => file.failed(),
            Rows::Memory(_) => false,
        }
    }
    /// Fails as a file does that cannot be read.
    #[cfg(test)]
    pub(crate) fn fail(&self) {
        if let Rows::File(file) = self {
            file.fail();
        }
    }
    pub(crate) fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.get_all(&[key]).pop().flatten()
    }
    /// The values of keys, in their order; none at all if the file failed.
    pub(crate) fn get_all(&self, keys: &[impl AsRef<[u8]>]) -> Vec<Option<Vec<u8>>> {
        match self {
            Rows::File(file) => {
                let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
                file.get(&keys)
            }
            Rows::Memory(map) => {
                let value = |key: &_| map.get(AsRef::<[u8]>::as_ref(key)).cloned();
                keys.iter().map(value).collect()
            }
        }
    }
    /// Adds rows, all or none. Whether the file takes them is known later: [`Rows::failed`].
    pub(crate) fn write(&mut self, rows: Vec<Row>) {
        match self {
            Rows::File(file) => file.write(rows),
            Rows::Memory(map) => map.extend(rows),
        }
    }
    /// Has all rows made safe, and does not wait for it; but for those of the call before, if they
    /// are not yet.
    pub(crate) fn begin_flush(&self) {
        if let Rows::File(file) = self {
            file.begin_flush();
        }
    }
    /// The last `limit` rows from `start` on and before `end`, descending.
    pub(crate) fn last(&self, start: &[u8], end: &[u8], limit: usize) -> Vec<Row> {
        if start >= end {
            return Vec::new();
        }
        let bounds = (Bound::Included(start), Bound::Excluded(end));
        match self {
            Rows::File(file) => file.last(start, end, limit),
            Rows::Memory(map) => last_of(map.range::<[u8], _>(bounds), limit).collect(),
        }
    }
    /// The values of all keys from `start` on and before `end`, ascending.
    pub(crate) fn values(&self, start: &[u8], end: &[u8]) -> Vec<Vec<u8>> {
        if start >= end {
            return Vec::new();
        }
        let bounds = (Bound::Included(start), Bound::Excluded(end));
        match self {
            Rows::File(file) => file.values(start, end),
            Rows::Memory(map) => {
                let values = map.range::<[u8], _>(bounds);
                values.map(|(_, value)| value.clone()).collect()
            }
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
    use super::file::FILE;
    use super::*;

    fn row(n: u8) -> Row {
        (vec![b'k', n], vec![n; 100])
    }

    /// The same rows in a file and in memory.
    fn both(place: &Path) -> [Rows; 2] {
        let mut both = [Rows::open(Some(place)), Rows::none()];
        for rows in &mut both {
            rows.write((0..100).map(row).collect());
            rows.write(vec![row(100), (b"k\x07".to_vec(), b"new".to_vec())]);
        }
        both
    }

    #[test]
    fn file_and_memory_answer_alike() {
        let place = tempfile::tempdir().unwrap();
        // The file's answers come from what waits, what is written, or both.
        for (n, rows) in (0..40).flat_map(|_| both(place.path())).enumerate() {
            if let (Rows::File(file), true) = (&rows, n > 40) {
                file.drain();
            }
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
        let Rows::File(file) = &rows else {
            panic!("no file");
        };
        file.begin_flush();
        file.end_flush();
        rows.write(vec![row(200)]);
        if let Rows::File(file) = &rows {
            file.drain();
        }
        // The file of a process that is still running is what a kill leaves of it.
        std::fs::copy(place.path().join(FILE), copy.path().join(FILE)).unwrap();
        let left = Rows::open(Some(copy.path()));
        assert!(matches!(left, Rows::File(_)));
        assert_eq!(left.get(b"k\x64"), Some(vec![100; 100]));
        assert_eq!(left.get(b"k\xc8"), None);
        assert_eq!(rows.get(b"k\xc8"), Some(vec![200; 100]));
    }

    #[test]
    fn what_waits_is_in_the_file_when_it_is_opened_again() {
        let place = tempfile::tempdir().unwrap();
        let mut rows = Rows::open(Some(place.path()));
        for n in 0..50 {
            let of = |m: u8| (vec![b'k', n, m], vec![m]);
            rows.write((0..200).map(of).collect());
            let newest = rows.last(&[b'k', 0], b"l", 150);
            let wanted: Vec<Row> = (50..200).rev().map(of).collect();
            assert_eq!(newest, wanted, "batch {n}");
        }
        drop(rows);
        let rows = Rows::open(Some(place.path()));
        assert_eq!(rows.last(b"k", b"l", 20_000).len(), 10_000);
    }
}
