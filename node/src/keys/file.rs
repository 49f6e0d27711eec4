//! Secret files, which only their owner can read, and their creation.
//!
//! 1. A secret file is made beside its place with `create_new` and mode 0600 in a folder of mode
//!    0700, written and synced; then it gets its name, unless that is taken, and the folder is
//!    synced before anybody uses the secret. A power cut leaves the whole secret or none.
//! 2. It is read through one handle that follows no symbolic link, after its owner and mode were
//!    checked on that same handle. A file that others may read is refused, not repaired: its secret
//!    may be known already.

use super::KeyFileError;
use nix::unistd::geteuid;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Bytes of a secret file at the most.
const SECRET_BYTES: u64 = 64 * 1024;
/// Mode bits that let others in.
const OTHERS: u32 = 0o077;

/// Makes `folder` with mode 0700 unless it exists, and refuses one that others can enter.
pub fn private_folder(folder: &Path) -> Result<(), KeyFileError> {
    let failed = |source| KeyFileError::Io {
        path: folder.to_owned(),
        source,
    };
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(folder).map_err(failed)?;
    let meta = fs::metadata(folder).map_err(failed)?;
    check(folder, meta.mode(), meta.uid())
}

/// Creates `path` with `contents`; fails if it exists.
pub fn write_secret(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), KeyFileError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => KeyFileError::Exists(path.to_owned()),
        _ => KeyFileError::Io {
            path: path.to_owned(),
            source,
        },
    };
    let beside = beside(path);
    // Half a secret of an earlier try.
    let _ = fs::remove_file(&beside);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(&beside).map_err(failed)?;
    let written = file
        .write_all(contents.as_ref())
        .and_then(|()| file.sync_all())
        .and_then(|()| name(&beside, path));
    let _ = fs::remove_file(&beside);
    written.map_err(failed)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))
        .and_then(|f| f.sync_all())
        .map_err(failed)
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Gives a file its name if that is free.
fn name(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        // FAT, as on a stick for an invitation, has no links.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            match fs::symlink_metadata(to) {
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
                _ => Err(error),
            }
        }
        done => done,
    }
}

/// Reads a secret file whole.
pub fn read_secret(path: &Path) -> Result<String, KeyFileError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => KeyFileError::Missing(path.to_owned()),
        _ => KeyFileError::Io {
            path: path.to_owned(),
            source,
        },
    };
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if !meta.is_file() {
        return Err(KeyFileError::Broken(path.to_owned()));
    }
    check(path, meta.mode(), meta.uid())?;
    let mut text = String::new();
    file.take(SECRET_BYTES)
        .read_to_string(&mut text)
        .map_err(failed)?;
    Ok(text)
}

fn check(path: &Path, mode: u32, owner: u32) -> Result<(), KeyFileError> {
    if owner != geteuid().as_raw() {
        return Err(KeyFileError::Foreign {
            path: path.to_owned(),
            owner,
        });
    }
    if mode & OTHERS != 0 {
        return Err(KeyFileError::Loose {
            path: path.to_owned(),
            mode: mode & 0o7777,
        });
    }
    Ok(())
}
