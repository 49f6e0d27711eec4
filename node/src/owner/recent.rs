//! The last lines of the log of this process, for its owner.
//!
//! There is one log in a process, and so one memory of it. A node cannot read the journal of its
//! machine, which belongs to another user; what it has said itself since it started, it knows.

use super::limits::{LINE_CHARS, LINES};
use crate::ui::clean;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

static RECENT: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// Takes a line at each write.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent;

impl Write for Recent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        for line in String::from_utf8_lossy(bytes).lines() {
            keep(&mut recent, line);
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn keep(lines: &mut VecDeque<String>, line: &str) {
    if lines.len() >= LINES {
        lines.pop_front();
    }
    let short: String = line.chars().take(LINE_CHARS).collect();
    lines.push_back(clean(&short));
}

/// The last lines, oldest first.
pub(super) fn last(count: usize) -> Vec<String> {
    let recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    let skipped = recent.len().saturating_sub(count);
    recent.iter().skip(skipped).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_in_number_and_length() {
        let mut lines = VecDeque::new();
        for n in 0..=LINES {
            keep(&mut lines, &format!("{n} \u{1b}[2J{}", "x".repeat(9_999)));
        }
        assert_eq!(lines.len(), LINES);
        assert!(lines[0].starts_with("1 \u{fffd}[2J"));
        assert!(lines.iter().all(|line| line.chars().count() <= LINE_CHARS));
        Recent.write_all(b"one\ntwo\n").unwrap();
        assert!(last(LINES).contains(&"one".to_owned()));
        assert_eq!(last(0), Vec::<String>::new());
    }
}
