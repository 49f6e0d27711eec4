//! Contents by hash: input files of this node's own orders, served to the sellers that run them
//! ([`gridbay_core::buyer::Share`]).
//!
//! A content is written to a temporary name, hashed, and renamed to its id, so a file named by an
//! id is whole. Reading checks nothing again: the node that fetches a content checks its hash.

use gridbay_protocol::ids::ContentId;
use gridbay_protocol::job::content_id;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of one content at the most.
pub const CONTENT_BYTES: u64 = 1 << 30;

/// Beginning of the names of files that are being written.
const UPLOAD: &str = ".upload-";

/// The store: a folder.
#[derive(Clone, Debug)]
pub struct ContentStore {
    folder: PathBuf,
}

impl ContentStore {
    /// Opens (and makes) the folder. Uploads that were under way when the node ended are removed.
    pub fn open(folder: PathBuf) -> io::Result<ContentStore> {
        fs::create_dir_all(&folder)?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(UPLOAD.as_bytes())
            {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(ContentStore { folder })
    }

    /// Keeps bytes under their hash.
    pub fn put(&self, bytes: &[u8]) -> io::Result<ContentId> {
        let id = content_id(bytes);
        let path = self.path(&id);
        if !path.exists() {
            super::replace_file(&path, bytes)?;
        }
        Ok(id)
    }

    /// A fresh name for a file that is being written, to be given to [`ContentStore::adopt`].
    pub fn temporary(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!("{UPLOAD}{number}"))
    }

    /// Keeps a written and synced file of the store under its hash, which the caller has computed.
    pub fn adopt(&self, temporary: &Path, id: &ContentId) -> io::Result<()> {
        fs::rename(temporary, self.path(id))?;
        File::open(&self.folder)?.sync_all()
    }

    /// Removes a content, if it is here.
    pub fn remove(&self, id: &ContentId) -> io::Result<()> {
        match fs::remove_file(self.path(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Bytes of all contents; files that are being written do not count.
    pub fn used(&self) -> io::Result<u64> {
        let mut sum = 0u64;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if !entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(UPLOAD.as_bytes())
            {
                // One that was removed meanwhile takes no room.
                sum = sum.saturating_add(entry.metadata().map_or(0, |meta| meta.len()));
            }
        }
        Ok(sum)
    }

    /// Size of a content in bytes, if it is here.
    pub fn size(&self, id: &ContentId) -> Option<u64> {
        fs::metadata(self.path(id)).ok().map(|m| m.len())
    }

    /// At most `most` bytes from an offset, and the size of the whole. `None` if it is not here.
    pub fn chunk(&self, id: &ContentId, from: u64, most: usize) -> Option<(u64, Vec<u8>)> {
        read_chunk(&self.folder, Path::new(&id.to_hex()), from, most).ok()
    }

    fn path(&self, id: &ContentId) -> PathBuf {
        self.folder.join(id.to_hex())
    }
}

/// At most `most` bytes of a regular file below `folder`, from an offset, and its size.
///
/// The folder may be a job's own. Nothing outside it is opened, whatever links the job planted,
/// because the kernel resolves the path without following any link.
pub fn read_chunk(
    folder: &Path,
    path: &Path,
    from: u64,
    most: usize,
) -> io::Result<(u64, Vec<u8>)> {
    let how = OpenHow::new()
        .flags(OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS);
    let mut file = File::from(openat2(File::open(folder)?, path, how)?);
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    let total = meta.len();
    file.seek(SeekFrom::Start(from.min(total)))?;
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok((total, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_found_by_hash_and_read_in_chunks() {
        let dir = tempfile::tempdir().unwrap();
        let store = ContentStore::open(dir.path().join("content")).unwrap();
        let id = store.put(b"hello world").unwrap();
        assert_eq!(store.put(b"hello world").unwrap(), id, "twice is once");
        assert_eq!(store.size(&id), Some(11));
        assert_eq!(store.chunk(&id, 6, 3), Some((11, b"wor".to_vec())));
        assert_eq!(store.chunk(&id, 99, 3), Some((11, Vec::new())));
        assert_eq!(store.chunk(&ContentId([0; 32]), 0, 3), None);
    }

    #[test]
    fn what_was_being_written_is_gone_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let store = ContentStore::open(dir.path().to_path_buf()).unwrap();
        let id = store.put(b"hello").unwrap();
        let (half, whole) = (store.temporary(), store.temporary());
        fs::write(&half, b"hal").unwrap();
        fs::write(&whole, b"whole").unwrap();
        store.adopt(&whole, &content_id(b"whole")).unwrap();
        assert_eq!(store.used().unwrap(), 10);
        let store = ContentStore::open(dir.path().to_path_buf()).unwrap();
        assert!(!half.exists());
        assert_eq!(store.size(&id), Some(5));
        assert_eq!(store.size(&content_id(b"whole")), Some(5));
    }

    #[test]
    fn no_link_leads_out_of_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        fs::create_dir_all(work.join("sub")).unwrap();
        fs::write(dir.path().join("secret"), "s").unwrap();
        fs::write(work.join("sub/fine"), "f").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), work.join("link")).unwrap();
        std::os::unix::fs::symlink(dir.path(), work.join("up")).unwrap();
        let read = |path: &str| read_chunk(&work, Path::new(path), 0, 9);
        assert_eq!(read("sub/fine").unwrap(), (1, b"f".to_vec()));
        for path in ["link", "up/secret", "../secret", "sub", "/etc/hostname"] {
            assert!(read(path).is_err(), "{path}");
        }
    }
}
