//! A file of mail, which a mail program or a script reads.

use super::super::outbox::Outcome;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Bytes above which the file is put aside, in place of the one before.
const BYTES: u64 = 1 << 20;

/// Appends a mail, durably.
pub(super) async fn append(path: &Path, mail: String) -> Outcome {
    let path = path.to_owned();
    let written = tokio::task::spawn_blocking(move || write(&path, &mail));
    match written.await {
        Ok(Ok(())) => Outcome::Done,
        Ok(Err(error)) => Outcome::Failed(error.to_string()),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

fn write(path: &Path, mail: &str) -> io::Result<()> {
    let size = fs::symlink_metadata(path).map_or(0, |meta| meta.len());
    if size >= BYTES {
        fs::rename(path, aside(path))?;
    }
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    file.write_all(mail.as_bytes())?;
    file.sync_data()
}

fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".old");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_are_appended_and_a_full_file_is_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("alerts.mbox");
        write(&path, "one\n").unwrap();
        write(&path, "two\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        fs::write(&path, vec![b'x'; BYTES as usize]).unwrap();
        write(&path, "three\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three\n");
        assert_eq!(fs::metadata(aside(&path)).unwrap().len(), BYTES);
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(write(&path, "x").is_err() && !other.exists());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(write(&path, "x").is_err());
    }
}
