//! The real disk: one directory, handles kept open, `fdatasync`.

use super::{Disk, DiskError};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Files in a directory of the operating system.
#[derive(Debug)]
pub struct RealDisk {
    root: PathBuf,
    /// Open handles by name.
    open: Mutex<BTreeMap<String, File>>,
    /// Files whose names this handle has made safe. The process that created the others may have
    /// failed to.
    named: BTreeSet<String>,
}

fn failed(operation: &'static str, file: &str) -> impl FnOnce(io::Error) -> DiskError {
    let file = file.to_owned();
    move |source| DiskError {
        operation,
        file,
        source,
    }
}

impl RealDisk {
    /// Opens a directory, creating it (accessible to its owner alone) if there is none.
    pub fn open(root: &Path) -> Result<RealDisk, DiskError> {
        let name = root.to_string_lossy();
        if !root.is_dir() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(root)
                .map_err(failed("create", &name))?;
        }
        Ok(RealDisk {
            root: root.to_owned(),
            open: Mutex::new(BTreeMap::new()),
            named: BTreeSet::new(),
        })
    }
    /// Runs `work` on the handle of a file, opening it first if need be.
    fn with<T>(
        &self,
        file: &str,
        create: bool,
        work: impl FnOnce(&mut File) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut open = self.open.lock().unwrap_or_else(|e| e.into_inner());
        if !open.contains_key(file) {
            let handle = OpenOptions::new()
                .read(true)
                .append(true)
                .create(create)
                .mode(0o600)
                .open(self.root.join(file))?;
            open.insert(file.to_owned(), handle);
        }
        let handle = open.get_mut(file).expect("the handle was just inserted");
        work(handle)
    }
    fn forget(&mut self, file: &str) {
        let open = self.open.get_mut().unwrap_or_else(|e| e.into_inner());
        open.remove(file);
    }
    fn sync_directory(&self) -> io::Result<()> {
        File::open(&self.root)?.sync_all()
    }
}

impl Disk for RealDisk {
    fn list(&self) -> Result<Vec<String>, DiskError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(failed("list", "the directory"))? {
            let entry = entry.map_err(failed("list", "the directory"))?;
            let is_file = entry.file_type().is_ok_and(|t| t.is_file());
            if let (true, Ok(name)) = (is_file, entry.file_name().into_string()) {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }
    fn len(&self, file: &str) -> Result<u64, DiskError> {
        match fs::metadata(self.root.join(file)) {
            Ok(meta) => Ok(meta.len()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(e) => Err(failed("measure", file)(e)),
        }
    }
    fn read(&self, file: &str, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        let read = |handle: &mut File| {
            let mut bytes = vec![0; len];
            let mut got = 0;
            while got < len {
                match handle.read_at(&mut bytes[got..], offset + got as u64)? {
                    0 => break,
                    n => got += n,
                }
            }
            bytes.truncate(got);
            Ok(bytes)
        };
        self.with(file, false, read).map_err(failed("read", file))
    }
    fn append(&mut self, file: &str, bytes: &[u8]) -> Result<(), DiskError> {
        self.with(file, true, |handle| handle.write_all(bytes))
            .map_err(failed("append to", file))
    }
    fn rewrite(&mut self, file: &str, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        // A handle of its own: one that appends would append here, too.
        OpenOptions::new()
            .write(true)
            .open(self.root.join(file))
            .and_then(|handle| handle.write_all_at(bytes, offset))
            .map_err(failed("rewrite", file))
    }
    fn sync(&mut self, file: &str) -> Result<(), DiskError> {
        self.with(file, false, |handle| handle.sync_data())
            .map_err(failed("sync", file))?;
        if !self.named.contains(file) {
            self.sync_directory().map_err(failed("sync", file))?;
            self.named.insert(file.to_owned());
        }
        Ok(())
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        self.forget(from);
        self.forget(to);
        self.named.remove(from);
        fs::rename(self.root.join(from), self.root.join(to))
            .and_then(|()| self.sync_directory())
            .map_err(failed("rename", from))?;
        self.named.insert(to.to_owned());
        Ok(())
    }
    fn truncate(&mut self, file: &str, len: u64) -> Result<(), DiskError> {
        self.with(file, false, |handle| handle.set_len(len))
            .map_err(failed("truncate", file))
    }
    fn remove(&mut self, file: &str) -> Result<(), DiskError> {
        self.forget(file);
        self.named.remove(file);
        match fs::remove_file(self.root.join(file)) {
            Ok(()) => self.sync_directory().map_err(failed("remove", file)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(failed("remove", file)(e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn files_are_private_and_survive_a_new_handle() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("node");
        let mut disk = RealDisk::open(&root).unwrap();
        assert_eq!(disk.len("a").unwrap(), 0);
        disk.append("a", b"hello").unwrap();
        disk.append("a", b" xorld").unwrap();
        disk.rewrite("a", 6, b"w").unwrap();
        disk.sync("a").unwrap();
        let mode = |p: &Path| fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&root), mode(&root.join("a"))), (0o700, 0o600));
        disk.rename("a", "b").unwrap();
        disk.truncate("b", 7).unwrap();
        disk.append("b", b"!").unwrap();
        let disk = RealDisk::open(&root).unwrap();
        assert_eq!(disk.list().unwrap(), ["b"]);
        assert_eq!(disk.read("b", 0, 100).unwrap(), b"hello w!");
        assert_eq!(disk.read("b", 6, 1).unwrap(), b"w");
    }
}
