//! Copies of the checkpoints of others' jobs: their contents in the folder `copies`, as those of
//! own orders lie in `checkpoints`, and what is known of them in the file `copied`.

use super::checkpoints::CheckpointStore;
use super::replace_file;
use gridbay_core::keeper::Held;
use gridbay_core::key::OrderKey;
use std::fs;
use std::io;
use std::path::Path;

/// Name of the file.
const FILE: &str = "copied";
/// Stands for an order in the store: a copy has a slot instead of a task.
pub const KEY: OrderKey = OrderKey(0);

/// The copies that an earlier run kept. A file that cannot be read holds none.
pub fn load(home: &Path) -> Vec<Held> {
    let read = fs::read(home.join(FILE)).map(|bytes| Held::decode_all(&bytes));
    match read {
        Ok(Ok(held)) => held,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Ok(Err(error)) => lost(&error),
        Err(error) => lost(&error),
    }
}

fn lost(error: &dyn std::error::Error) -> Vec<Held> {
    tracing::warn!(%error, "which copies of checkpoints were kept cannot be read");
    Vec::new()
}

/// Keeps what is known of the copies, durably.
///
/// # Errors
/// It cannot be written.
pub fn save(home: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_file(&home.join(FILE), bytes)
}

/// Opens their contents. What no known copy needs is removed.
///
/// # Errors
/// The folder cannot be made or read.
pub fn open(home: &Path) -> io::Result<CheckpointStore> {
    let held = load(home);
    let needed = |key, slot| key == KEY && held.iter().any(|copy| copy.slot == slot);
    CheckpointStore::open(home.join("copies"), needed)
}
