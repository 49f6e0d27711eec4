//! Files: read up to a bound, written whole or not at all.
//!
//! 1. A read follows no link at the last step, never waits on a pipe, and takes plain files only:
//!    the node's folder belongs to the node's user, who may be hostile.
//! 2. A write goes to a new file beside, which takes the old one's place once it is on the disk.
//!    What lies at the new file's name, a folder even, is removed first.

use super::places::Account;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::Path;

/// Opens a plain file to be read.
pub fn open_plain(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no plain file")),
    }
}

/// The first bytes of a file, so many of them or all.
pub fn first_bytes(file: &File, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A plain file of at most so many bytes.
pub fn read_bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_plain(path)?;
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// The same for a file that may not be there.
pub fn read_if_there(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    match read_bounded(path, most) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A file that everybody may read.
pub fn write_public(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, bytes, 0o644, None)
}

/// A file that only its owner may read.
pub fn write_private(path: &Path, bytes: &[u8], owner: Option<Account>) -> io::Result<()> {
    write(path, bytes, 0o600, owner)
}

fn write(path: &Path, bytes: &[u8], mode: u32, owner: Option<Account>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.new"));
    let cleared = match fs::remove_file(&beside) {
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => fs::remove_dir_all(&beside),
        cleared => cleared,
    };
    match cleared {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    file.write_all(bytes)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    if let Some(account) = owner {
        fchown(&file, Some(account.uid), Some(account.gid))?;
    }
    file.sync_all()?;
    fs::rename(&beside, path)?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    #[test]
    fn only_plain_files_of_a_bounded_size_are_read() {
        let dir = TempDir::new().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        write_public(&file, b"12345").unwrap();
        assert_eq!(read_bounded(&file, 5).unwrap(), b"12345");
        assert!(read_bounded(&file, 4).is_err());
        symlink(&file, &link).unwrap();
        assert!(read_bounded(&link, 5).is_err());
        assert!(read_bounded(dir.path(), 5).is_err());
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert!(read_bounded(&pipe, 5).is_err());
        let gone = dir.path().join("gone");
        assert_eq!(read_if_there(&gone, 5).unwrap(), None);
        assert!(read_if_there(&link, 5).is_err());
    }

    #[test]
    fn a_written_file_replaces_a_link_and_not_what_it_leads_to() {
        let dir = TempDir::new().unwrap();
        let (victim, path) = (dir.path().join("victim"), dir.path().join("file"));
        fs::write(&victim, "kept").unwrap();
        symlink(&victim, &path).unwrap();
        symlink(&victim, dir.path().join(".file.new")).unwrap();
        write_private(&path, b"new", None).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"kept");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let about = fs::symlink_metadata(&path).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_folder_at_the_new_files_name_does_not_block_a_write() {
        let dir = TempDir::new().unwrap();
        let (path, beside) = (dir.path().join("file"), dir.path().join(".file.new"));
        fs::create_dir_all(beside.join("deep")).unwrap();
        write_public(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(!beside.exists());
    }
}
