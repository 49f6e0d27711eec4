//! Removes a folder that a job has filled, whatever its depth, its names or its modes.
//!
//! A job can nest folders until no path reaches the innermost and no table of descriptors holds the
//! way to it, and it can close its folders to their owner. So nothing here recurses or follows a
//! path of the job's:
//!
//! 1. two folders are open at a time, the top one and one right below it;
//! 2. of the one below, files are removed and folders are moved up into the top one, where their
//!    turn comes;
//! 3. a folder that does not let its owner in is opened up first. Links are removed and never
//!    followed.
//!
//! A file system of its own below the folder cannot be removed like this: a mount, or a subvolume
//! of btrfs. No job can make one; where there is one, the error says so.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Beginning of the names that folders have in the top one once they were moved there.
const MOVED: &str = ".moved-";

/// Removes a folder with all that is in it. No error if it is gone. No process may be at work in
/// it.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match empty(path) {
        Ok(()) => fs::remove_dir(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Removes what is in a folder. No process may be at work in it.
pub(super) fn empty(path: &Path) -> io::Result<()> {
    clear(path).map_err(explained)
}

/// Says what has to be done where a file system refuses.
fn explained(error: io::Error) -> io::Error {
    let what = match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem => "a read-only mount or snapshot lies in it",
        io::ErrorKind::CrossesDevices => "a mount or subvolume lies in it",
        _ => return error,
    };
    let how = "it has to be removed by hand (umount, btrfs subvolume delete)";
    io::Error::new(error.kind(), format!("{what}; {how}: {error}"))
}

fn clear(path: &Path) -> io::Result<()> {
    let top = Open::at(path)?;
    let mut moved = 0;
    // Each pass leaves to the next what it adds or passes over.
    loop {
        let mut clean = true;
        for entry in fs::read_dir(top.path())? {
            let entry = entry?;
            clean = false;
            let here = top.inside(&entry.file_name());
            if entry.file_type()?.is_dir() {
                flatten(&Open::at(&here)?, &top, &mut moved)?;
                // One that was added to while it was read is not empty yet.
                let gone = fs::remove_dir(&here);
                gone.or_else(|error| tolerate(error, io::ErrorKind::DirectoryNotEmpty))?;
            } else {
                fs::remove_file(&here)?;
            }
        }
        if clean {
            return Ok(());
        }
    }
}

/// Removes the files of a folder and moves its folders up.
fn flatten(folder: &Open, top: &Open, moved: &mut u64) -> io::Result<()> {
    for entry in fs::read_dir(folder.path())? {
        let entry = entry?;
        let here = folder.inside(&entry.file_name());
        if entry.file_type()?.is_dir() {
            // Moving changes what it says of its parent, so it must let its owner write.
            Open::at(&here)?;
            lift(&here, top, moved)?;
        } else {
            fs::remove_file(&here)?;
        }
    }
    Ok(())
}

/// Moves a folder into the top one under a name that is free there.
fn lift(here: &Path, top: &Open, moved: &mut u64) -> io::Result<()> {
    loop {
        *moved += 1;
        match fs::rename(here, top.inside(OsStr::new(&format!("{MOVED}{moved}")))) {
            // Left by a removal that was cut short, or the job's own.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::DirectoryNotEmpty
                        | io::ErrorKind::AlreadyExists
                        | io::ErrorKind::NotADirectory
                ) => {}
            done => return done,
        }
    }
}

fn tolerate(error: io::Error, kind: io::ErrorKind) -> io::Result<()> {
    if error.kind() == kind {
        Ok(())
    } else {
        Err(error)
    }
}

/// A held folder: names in it are reached by its descriptor, however long the way to it is.
pub(super) struct Open(File);

impl Open {
    /// Opens a folder, never a link to one. One that does not let its owner in is opened up for
    /// good.
    pub(super) fn at(path: &Path) -> io::Result<Open> {
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let held = Open(
            OpenOptions::new()
                .read(true)
                .custom_flags(flags)
                .open(path)?,
        );
        let mode = held.0.metadata()?.permissions().mode();
        if mode & 0o700 != 0o700 {
            fs::set_permissions(held.path(), Permissions::from_mode(0o700))?;
        }
        Ok(held)
    }

    /// A path to the folder, short and bound to the descriptor.
    pub(super) fn path(&self) -> PathBuf {
        Open::path_of(&self.0)
    }

    /// Such a path to any open folder.
    pub(super) fn path_of(folder: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
    }

    /// A path to a name in it.
    pub(super) fn inside(&self, name: &OsStr) -> PathBuf {
        self.path().join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Nests folders as a job does: one below the other, far beyond the longest path.
    fn nest(base: &Path, depth: usize, name: &str, mode: u32) {
        let mut at = Open::at(base).unwrap();
        for _ in 0..depth {
            let next = at.inside(OsStr::new(name));
            fs::create_dir(&next).unwrap();
            fs::write(at.inside(OsStr::new("file")), "x").unwrap();
            let inner = Open::at(&next).unwrap();
            fs::set_permissions(at.path(), Permissions::from_mode(mode)).unwrap();
            at = inner;
        }
    }

    #[test]
    fn trees_deeper_than_any_path_and_any_table_of_descriptors_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        for (depth, name, mode) in [
            (5_000, "d".to_owned(), 0o700),
            (200, "n".repeat(255), 0o000),
        ] {
            let top = dir.path().join("top");
            fs::create_dir(&top).unwrap();
            nest(&top, depth, &name, mode);
            remove(&top).unwrap();
            assert!(!top.exists());
            remove(&top).unwrap();
        }
    }

    #[test]
    fn what_only_the_owner_of_the_machine_can_remove_is_named() {
        for (code, what) in [(libc::EROFS, "snapshot"), (libc::EXDEV, "subvolume")] {
            let said = explained(io::Error::from_raw_os_error(code)).to_string();
            assert!(said.contains(what) && said.contains("by hand"), "{said}");
        }
        let other = explained(io::Error::from_raw_os_error(libc::EACCES));
        assert_eq!(other.raw_os_error(), Some(libc::EACCES));
    }

    #[test]
    fn names_that_removal_itself_uses_are_no_hindrance_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (top, kept) = (dir.path().join("top"), dir.path().join("kept"));
        for name in [".moved-1/x/y", ".moved-2/x", "a/b/c"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        fs::write(top.join(".moved-3"), "a file").unwrap();
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "x").unwrap();
        symlink(&kept, top.join("a/link")).unwrap();
        symlink(&kept, top.join("link")).unwrap();
        empty(&top).unwrap();
        assert_eq!(fs::read_dir(&top).unwrap().count(), 0);
        assert!(kept.join("file").exists());
        let linked = dir.path().join("linked");
        symlink(&kept, &linked).unwrap();
        assert!(remove(&linked).is_err(), "a link is no folder");
        assert!(kept.join("file").exists());
    }
}
