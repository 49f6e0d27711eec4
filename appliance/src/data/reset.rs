//! Erasing an appliance: asked for by its owner now, done at the next boot.
//!
//! 1. `reset --yes` writes a marker to the data partition. Only root can: the folder is root's.
//! 2. The next boot erases the node's folder, its keys first, and the agent's, before anything uses
//!    them.
//! 3. The marker goes last, so that a power cut in between only repeats the erasing.

use crate::shell::command::Command;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Longest time to remove a folder: with millions of files on a slow disk.
const LONG: Duration = Duration::from_secs(3_600);

/// Name of the marker in the agent's folder.
pub const MARKER: &str = "reset";
/// What it must hold.
pub const WORDS: &[u8] = b"erase all keys\n";

/// Whether a reset was asked for.
pub fn is_asked(state: &Path) -> bool {
    let marker = state.join(MARKER);
    let whole = fs::symlink_metadata(&marker).is_ok_and(|about| about.is_file());
    whole && crate::shell::files::read_bounded(&marker, 1024).is_ok_and(|text| text == WORDS)
}

/// Steps 2 and 3.
pub fn erase(node: &Path, state: &Path) -> io::Result<()> {
    remove(&node.join("keys"))?;
    remove(node)?;
    for entry in fs::read_dir(state)? {
        let entry = entry?;
        if entry.file_name() != MARKER {
            remove(&entry.path())?;
        }
    }
    fs::File::open(state)?.sync_all()?;
    remove(&state.join(MARKER))
}

/// Removes a file or a folder, which may be gone already. A link is removed, not followed. A job
/// may have left folders within folders so deep that the standard library runs out of descriptors;
/// `rm` does not.
fn remove(path: &Path) -> io::Result<()> {
    let about = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        about => about?,
    };
    match about.is_dir() {
        true => {
            let command = Command::new("rm").args(["-rf", "--one-file-system", "--"]);
            let ended = command.path(path).run(LONG)?;
            match ended.code {
                Some(0) => Ok(()),
                _ => Err(io::Error::other(ended.failure().why)),
            }
        }
        false => fs::remove_file(path),
    }
}
