//! The checkpoints of this node's own orders: contents by hash, served to the sellers that go on
//! from them.
//!
//! ```text
//! checkpoints/contents/<hash>      each content once
//! checkpoints/<key>.<task>/<hash>  hard links to those that a task needs
//! ```
//!
//! A content that no task names any more has one link left and is removed.

use super::content::read_chunk;
use gridbay_core::key::OrderKey;
use gridbay_protocol::ids::ContentId;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Beginning of the names of files that are being written.
const FRESH: &str = ".fresh-";

/// The store. Its clones are one.
#[derive(Clone, Debug)]
pub struct CheckpointStore {
    folder: PathBuf,
    /// Held while links change.
    links: Arc<Mutex<()>>,
}

impl CheckpointStore {
    /// Opens (and makes) the folder. Of tasks that need no checkpoint any more, and of files that
    /// were being written, nothing stays.
    pub fn open(
        folder: PathBuf,
        needed: impl Fn(OrderKey, u32) -> bool,
    ) -> io::Result<CheckpointStore> {
        let store = CheckpointStore {
            folder,
            links: Arc::default(),
        };
        super::orders::private_folder(&store.contents())?;
        for entry in fs::read_dir(&store.folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|n| n.to_str());
            let task = name.and_then(|n| n.split_once('.'));
            let task = task.and_then(|(k, t)| Some((k.parse().ok()?, t.parse().ok()?)));
            if task.is_some_and(|(order, task)| !needed(order, task)) {
                fs::remove_dir_all(path)?;
            }
        }
        for entry in fs::read_dir(store.contents())? {
            let entry = entry?;
            let alone = entry.metadata()?.nlink() < 2;
            let fresh = entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(FRESH.as_bytes());
            if alone || fresh {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(store)
    }

    /// Names a content for a task, if it is here.
    pub fn has(&self, order: &OrderKey, task: u32, id: &ContentId) -> io::Result<bool> {
        let _held = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        self.link(order, task, id)
    }

    fn link(&self, order: &OrderKey, task: u32, id: &ContentId) -> io::Result<bool> {
        let folder = self.task(order, task);
        super::orders::private_folder(&folder)?;
        let linked = fs::hard_link(self.content(id), folder.join(id.to_hex()));
        match linked.map_err(|error| error.kind()) {
            Ok(()) | Err(io::ErrorKind::AlreadyExists) => Ok(true),
            Err(io::ErrorKind::NotFound) => Ok(false),
            Err(kind) => Err(kind.into()),
        }
    }

    /// A fresh name for a file that is being written, to be given to [`CheckpointStore::adopt`].
    pub fn temporary(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.contents().join(format!("{FRESH}{number}"))
    }

    /// Keeps a written file for a task under its hash, which the caller has checked.
    pub fn adopt(
        &self,
        temporary: &Path,
        order: &OrderKey,
        task: u32,
        id: &ContentId,
    ) -> io::Result<()> {
        File::open(temporary)?.sync_data()?;
        let _held = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        fs::rename(temporary, self.content(id))?;
        let there = self.link(order, task, id)?;
        File::open(self.contents())?.sync_all()?;
        File::open(self.task(order, task))?.sync_all()?;
        there.then_some(()).ok_or(io::ErrorKind::NotFound.into())
    }

    /// At most `most` bytes from an offset, and the size of the whole. `None` if it is not here.
    pub fn chunk(&self, id: &ContentId, from: u64, most: usize) -> Option<(u64, Vec<u8>)> {
        read_chunk(&self.contents(), Path::new(&id.to_hex()), from, most).ok()
    }

    /// The same of a content that a task names.
    pub fn chunk_of(
        &self,
        order: &OrderKey,
        task: u32,
        id: &ContentId,
        from: u64,
        most: usize,
    ) -> Option<(u64, Vec<u8>)> {
        let folder = self.task(order, task);
        read_chunk(&folder, Path::new(&id.to_hex()), from, most).ok()
    }

    /// Forgets all that a task had named but for these.
    pub fn keep(
        &self,
        order: &OrderKey,
        task: u32,
        needed: &BTreeSet<ContentId>,
    ) -> io::Result<()> {
        let folder = self.task(order, task);
        let _held = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        let needed: BTreeSet<String> = needed.iter().map(|id| id.to_hex()).collect();
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if needed.contains(&name) {
                continue;
            }
            fs::remove_file(folder.join(&name))?;
            let content = self.contents().join(&name);
            if fs::metadata(&content).is_ok_and(|meta| meta.nlink() < 2) {
                fs::remove_file(content)?;
            }
        }
        if needed.is_empty() {
            fs::remove_dir(folder)?;
        }
        Ok(())
    }

    fn contents(&self) -> PathBuf {
        self.folder.join("contents")
    }
    fn content(&self, id: &ContentId) -> PathBuf {
        self.contents().join(id.to_hex())
    }
    fn task(&self, order: &OrderKey, task: u32) -> PathBuf {
        self.folder.join(format!("{order}.{task}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::job::content_id;

    fn put(store: &CheckpointStore, task: u32, bytes: &[u8]) -> ContentId {
        let (id, fresh) = (content_id(bytes), store.temporary());
        fs::write(&fresh, bytes).unwrap();
        store.adopt(&fresh, &OrderKey(7), task, &id).unwrap();
        id
    }

    #[test]
    fn a_content_stays_while_a_task_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let open = || CheckpointStore::open(dir.path().join("c"), |_, task| task < 2).unwrap();
        let (store, key) = (open(), OrderKey(7));
        let (one, both) = (put(&store, 0, b"one"), put(&store, 0, b"both"));
        assert!(store.has(&key, 1, &both).unwrap());
        assert!(!store.has(&key, 1, &content_id(b"none")).unwrap());
        assert_eq!(store.chunk(&one, 1, 9), Some((3, b"ne".to_vec())));
        store.keep(&key, 0, &BTreeSet::from([one])).unwrap();
        assert!(store.chunk(&both, 0, 9).is_some(), "task 1 names it");
        store.keep(&key, 1, &BTreeSet::new()).unwrap();
        assert!(store.chunk(&both, 0, 9).is_none());
        assert!(store.chunk(&one, 0, 9).is_some());
        store.keep(&key, 9, &BTreeSet::new()).unwrap();
        // A restart forgets tasks that are over, and what was being written.
        let over = put(&store, 2, b"over");
        fs::write(store.temporary(), "half").unwrap();
        let store = open();
        assert_eq!(store.chunk(&over, 0, 9), None);
        assert!(store.chunk(&one, 0, 9).is_some());
        assert_eq!(fs::read_dir(store.contents()).unwrap().count(), 1);
    }
}
