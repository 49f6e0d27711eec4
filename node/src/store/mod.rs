//! Files of a node beside the ledger: contents by hash, those granted to one node, orders, their
//! output and checkpoints, transfers by their keys, marks on peers, offers held back, tokens,
//! users and projects.

pub mod checkpoints;
pub mod content;
pub mod copies;
pub mod granted;
pub mod marks;
pub mod orders;
pub mod projects;
pub mod snapshot;
pub mod tokens;
pub mod transfers;
pub mod withheld;

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The first `most` bytes of a file as text; empty if there is no file.
///
/// # Errors
/// If it is there and cannot be read, or is no text.
fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    match File::open(path).and_then(|file| file.take(most).read_to_string(&mut text)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(text),
    }
}

/// Replaces a file by `bytes` so that after a crash either the old or the new content is there:
/// temporary file, fsync, rename, fsync of the folder. Mode 0600.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let temporary = path.with_extension("new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    std::fs::rename(&temporary, path)?;
    File::open(folder)?.sync_all()
}
