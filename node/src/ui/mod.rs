//! The terminal: the only module that writes to standard output and standard error.
//!
//! Data goes to standard output, all else to standard error. Text that came from elsewhere is
//! stripped of control characters by [`clean`], so that no peer's name can move the cursor.

mod table;

pub use table::{Column, Table};

use std::io::{self, Write};

/// Standard output or error cannot be written to.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the output")]
pub struct WriteError(#[from] io::Error);

impl WriteError {
    /// Whether the reader went away, as `head` does when it has enough.
    pub fn is_closed(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

/// Writes bytes to standard output at once.
pub fn out(bytes: &[u8]) -> Result<(), WriteError> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    Ok(stdout.flush()?)
}

/// Writes bytes to standard error.
pub fn err(bytes: &[u8]) -> Result<(), WriteError> {
    Ok(io::stderr().lock().write_all(bytes)?)
}

/// A line to the user on standard error. Without anybody to read it, there is nobody to tell.
pub fn note(line: &str) {
    let _ = err(format!("{}\n", clean(line)).as_bytes());
}

/// The text without control characters.
pub fn clean(text: &str) -> String {
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}
