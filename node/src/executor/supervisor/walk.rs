//! All that lies below a folder of a job's, one after the other.
//!
//! Folders are held by their descriptors, a way of at most [`DEPTH`]. One that is closed to its
//! owner is opened up, and has its mode again once all in it was looked at: a name in it cannot be
//! looked at else. Nothing that cannot be looked at is taken for gone.

use std::fs::{self, File, Metadata, Permissions, ReadDir};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use super::super::removal::Open;

/// Folders inside one another that are looked at. People and programs nest far fewer.
pub(super) const DEPTH: usize = 128;
/// The mode that a folder's owner needs to see its contents.
const SEEN: u32 = 0o500;

/// A way through a folder.
#[derive(Debug)]
pub(super) struct Walk {
    way: Vec<Level>,
    /// Whether something lies deeper than is looked at.
    pub(super) too_deep: bool,
    /// Whether something could not be looked at.
    pub(super) hidden: bool,
}

impl Walk {
    /// Below a folder.
    pub(super) fn of(root: &Path) -> io::Result<Walk> {
        Ok(Walk {
            way: vec![Level::enter(root)?],
            too_deep: false,
            hidden: false,
        })
    }

    /// The next file, folder or link. The job is at work in them: one that is gone when its turn
    /// comes is passed over.
    pub(super) fn next(&mut self) -> io::Result<Option<Metadata>> {
        while let Some(level) = self.way.last_mut() {
            let Some(entry) = level.entries.next() else {
                self.way.pop();
                continue;
            };
            let Some(entry) = self.unless_gone(entry)? else {
                continue;
            };
            let Some(level) = self.way.last_mut() else {
                break;
            };
            let here = Open::path_of(&level.folder).join(entry.file_name());
            let found = level.look(&here);
            let Some(meta) = self.unless_gone(found)? else {
                continue;
            };
            if meta.is_dir() {
                self.go_down(&here)?;
            }
            return Ok(Some(meta));
        }
        Ok(None)
    }

    fn go_down(&mut self, here: &Path) -> io::Result<()> {
        if self.way.len() >= DEPTH {
            self.too_deep = true;
            return Ok(());
        }
        let level = Level::enter(here);
        let level = self.unless_gone(level)?;
        self.way.extend(level);
        Ok(())
    }

    /// `None` for what the job removed, or replaced, in the meantime, and for what it hides.
    fn unless_gone<T>(&mut self, result: io::Result<T>) -> io::Result<Option<T>> {
        let error = match result {
            Ok(found) => return Ok(Some(found)),
            Err(error) => error,
        };
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ if error.raw_os_error() == Some(libc::ELOOP) => Ok(None),
            io::ErrorKind::PermissionDenied => {
                self.hidden = true;
                Ok(None)
            }
            _ => Err(error),
        }
    }
}

/// An entered folder.
#[derive(Debug)]
struct Level {
    folder: File,
    entries: ReadDir,
    /// Its mode, if it had to be opened up.
    closed: Option<Permissions>,
}

impl Level {
    fn enter(path: &Path) -> io::Result<Level> {
        let folder = File::options()
            .read(true)
            .custom_flags(libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW)
            .open(path)?;
        let closed = open_up(&folder)?;
        let entries = fs::read_dir(Open::path_of(&folder));
        if let (Err(_), Some(mode)) = (&entries, &closed) {
            let _ = fs::set_permissions(Open::path_of(&folder), mode.clone());
        }
        Ok(Level {
            entries: entries?,
            folder,
            closed,
        })
    }

    fn look(&mut self, here: &Path) -> io::Result<Metadata> {
        match fs::symlink_metadata(here) {
            // The job has closed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let closed = open_up(&self.folder)?;
                self.closed = closed.or(self.closed.take());
                fs::symlink_metadata(here)
            }
            found => found,
        }
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        if let Some(mode) = self.closed.take() {
            let _ = fs::set_permissions(Open::path_of(&self.folder), mode);
        }
    }
}

/// Lets a folder's owner in; its mode, if it did not.
fn open_up(folder: &File) -> io::Result<Option<Permissions>> {
    let mode = folder.metadata()?.permissions();
    if mode.mode() & SEEN == SEEN {
        return Ok(None);
    }
    let open = Permissions::from_mode(mode.mode() | SEEN);
    fs::set_permissions(Open::path_of(folder), open)?;
    Ok(Some(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_closed_folder_holds_is_seen_and_it_is_closed_again() {
        let dir = tempfile::tempdir().unwrap();
        for mode in [0o000, 0o200, 0o400, 0o600, 0o100, 0o300, 0o500] {
            let folder = dir.path().join(format!("{mode:o}"));
            fs::create_dir_all(folder.join("inner")).unwrap();
            fs::write(folder.join("inner/file"), "x").unwrap();
            for path in [folder.join("inner"), folder] {
                fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            }
        }
        let mut walk = Walk::of(dir.path()).unwrap();
        let (mut files, mut folders) = (0, 0);
        while let Some(meta) = walk.next().unwrap() {
            files += usize::from(meta.is_file());
            folders += usize::from(meta.is_dir());
        }
        assert_eq!((files, folders), (7, 14));
        assert!(!walk.hidden && !walk.too_deep);
        for entry in fs::read_dir(dir.path()).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(format!("{mode:o}"), entry.file_name().to_str().unwrap());
            let open = Permissions::from_mode(0o700);
            fs::set_permissions(entry.path(), open.clone()).unwrap();
            fs::set_permissions(entry.path().join("inner"), open).unwrap();
        }
    }
}
