//! The terminal: the only module that writes to standard output and standard error.
//!
//! Data goes to standard output, all else to standard error. Text that came from elsewhere is
//! stripped of control characters by [`clean`], so that no peer's name can move the cursor.

pub mod csv;
mod layout;
mod shell;
mod table;

pub use layout::Layout;
pub use shell::quoted;
pub use table::{Column, Table};

use crate::terminal::Size;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Whether the last line on the terminal is a passing one.
static PASSING: AtomicBool = AtomicBool::new(false);
/// Back to the beginning of the line, which is made empty.
const EMPTIED: &[u8] = b"\r\x1b[K";

/// A line on the terminal of standard error whose place is taken by whatever is written next. What
/// does not fit into it is cut.
pub fn passing(line: &str) {
    let room = columns().saturating_sub(1);
    let line: String = clean(line).chars().take(room).collect();
    let _ = err(line.as_bytes());
    PASSING.store(true, Ordering::Relaxed);
}

/// Columns of the terminal of standard error.
pub fn columns() -> usize {
    Size::of(&io::stderr()).map_or(80, |size| usize::from(size.columns))
}

/// Takes a passing line away.
fn pass() {
    if PASSING.swap(false, Ordering::Relaxed) {
        let _ = io::stderr().lock().write_all(EMPTIED);
    }
}

/// Writes bytes to standard output at once.
pub fn out(bytes: &[u8]) -> Result<(), WriteError> {
    pass();
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    Ok(stdout.flush()?)
}

/// Writes bytes to standard error.
pub fn err(bytes: &[u8]) -> Result<(), WriteError> {
    pass();
    Ok(io::stderr().lock().write_all(bytes)?)
}

/// A line to the user on standard error. Without anybody to read it, there is nobody to tell.
pub fn note(line: &str) {
    let _ = err(format!("{}\n", clean(line)).as_bytes());
}

/// The same while the terminal is raw: there a line does not begin at the left by itself.
pub fn raw_note(line: &str) {
    let _ = err(format!("\r{}\r\n", clean(line)).as_bytes());
}

/// Text beside a table, which belongs to neither ids alone nor values between commas.
pub fn prose(text: String) -> String {
    match Layout::chosen() {
        Layout::Within(_) | Layout::Whole => text,
        Layout::Ids | Layout::Csv => String::new(),
    }
}

/// The text without characters that are not seen.
pub fn clean(text: &str) -> String {
    let shown = |c: char| if is_unseen(c) { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// JSON of the same value, in which texts have escapes in place of characters that are not seen.
pub fn seen_json(json: &str) -> String {
    let mut seen = String::with_capacity(json.len());
    for c in json.chars() {
        // Within texts JSON has escaped line ends already; those outside are its layout.
        match c != '\n' && is_unseen(c) {
            false => seen.push(c),
            true => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    seen += &format!("\\u{unit:04x}");
                }
            }
        }
    }
    seen
}

/// Whether a character steers a terminal, or the direction or breaks of lines, instead of showing:
/// with one of those a name could look like another.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}'
        )
        || matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_marked() {
        let texts = [
            ("plain ünïcödé 日本", "plain ünïcödé 日本"),
            ("a\x1b[2Jb\n", "a\u{fffd}[2Jb\u{fffd}"),
            ("exe\u{202e}fdp.", "exe\u{fffd}fdp."),
            ("a\u{200b}b\u{feff}", "a\u{fffd}b\u{fffd}"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
        ];
        for (text, shown) in texts {
            assert_eq!(clean(text), shown);
        }
    }

    #[test]
    fn json_says_the_same_without_what_is_not_seen() {
        let value = serde_json::json!({"a\u{7f}": ["\u{9b}2J\u{202e}\n\u{e0041}\\", "ünï"]});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let seen = seen_json(&text);
        assert!(seen.chars().all(|c| c == '\n' || !is_unseen(c)), "{seen}");
        assert_eq!(seen.lines().count(), text.lines().count());
        assert!(seen.contains("\\u009b2J\\u202e\\n\\udb40\\udc41\\\\") && seen.contains("ünï"));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&seen).unwrap(),
            value
        );
    }
}
