//! Files of a node beside the ledger: contents by hash, orders, their output and checkpoints,
//! transfers by their keys, marks on peers, offers held back.

pub mod checkpoints;
pub mod content;
pub mod copies;
pub mod marks;
pub mod orders;
pub mod snapshot;
pub mod transfers;
pub mod withheld;

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

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
