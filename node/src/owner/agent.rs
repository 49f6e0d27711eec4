//! What the agent of an appliance tells of itself, in a file that everybody on the machine may
//! read.
//!
//! The file is the agent's or, where none runs, whoever's the folder is: it is bounded, read
//! without following a link or waiting, and its texts are cut and cleaned.

use super::limits::{AGENT_LINES, LINE_CHARS, NOTES, STATUS_BYTES, TEXT_CHARS};
use super::types::AgentStatus;
use crate::ui::clean;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Name of the file, in the agent's folder.
const NAME: &str = "status.json";

/// The agent's status; `None` if no agent runs here.
pub(super) fn status(folder: &Path) -> Option<AgentStatus> {
    let bytes = match read(&folder.join(NAME)) {
        Ok(bytes) => bytes,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(%error, "the agent's status cannot be read");
            }
            return None;
        }
    };
    parse(&bytes)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    let mut bytes = Vec::new();
    file.take(STATUS_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> Option<AgentStatus> {
    let mut status: AgentStatus = serde_json::from_slice(bytes).ok()?;
    let cut = |text: &mut String| {
        let short: String = text.chars().take(TEXT_CHARS).collect();
        *text = clean(&short);
    };
    let surplus = status.log.len().saturating_sub(AGENT_LINES);
    status.log.drain(..surplus);
    for line in &mut status.log {
        let short: String = line.chars().take(LINE_CHARS).collect();
        *line = clean(&short);
    }
    status.notes.truncate(NOTES);
    let notes = status
        .notes
        .iter_mut()
        .flat_map(|note| [&mut note.reason, &mut note.hint]);
    notes.for_each(cut);
    for text in [
        &mut status.state,
        &mut status.reason,
        &mut status.hint,
        &mut status.version,
        &mut status.trial,
    ] {
        cut(text);
    }
    Some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_cut_and_cleaned_and_nothing_else_is_one() {
        let long = "x".repeat(9_999);
        let notes = vec![r#"{"reason":"a\u001bb"}"#; 20].join(",");
        let lines = vec![format!(r#""a\u001b{long}""#); 70].join(",");
        let text = format!(
            r#"{{"state":"ready","reason":"{long}","orders":3,"notes":[{notes}],"log":[{lines}]}}"#
        );
        let status = parse(text.as_bytes()).unwrap();
        assert_eq!((status.state.as_str(), status.orders), ("ready", 3));
        assert_eq!(status.reason.len(), TEXT_CHARS);
        assert_eq!(status.notes.len(), NOTES);
        assert_eq!(status.log.len(), AGENT_LINES);
        assert_eq!(status.log[0].chars().count(), LINE_CHARS);
        assert!(!status.log[0].contains('\u{1b}'));
        assert!(!status.notes[0].reason.contains('\u{1b}'));
        assert_eq!(parse(b"nonsense"), None);
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(super::status(dir.path()), None, "no agent");
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join(NAME)).unwrap();
        assert_eq!(super::status(dir.path()), None, "a link");
    }
}
