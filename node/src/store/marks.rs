//! The owner's marks on peers: a text file in the data folder, a line each, as in `blocked
//! 12D3KooW..`.
//!
//! 1. The file is read at the start; a line that makes no sense is passed over with a warning. One
//!    that cannot be read at all keeps the node from starting: it may hold those whom the owner
//!    never wants to meet again.
//! 2. A change is in the file, whole, before anybody acts on it.
//! 3. There are [`MOST`] marks at the most.

use super::{read_text, replace_file};
use crate::overlay::{Mark, PeerId};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Marks at the most.
pub const MOST: usize = 1_024;
/// Bytes read at the most.
const BYTES: u64 = 256 << 10;

/// Why a mark was not set.
#[derive(Debug, thiserror::Error)]
pub enum MarkError {
    /// There are too many.
    #[error("{MOST} peers are marked already")]
    Full,
    /// The disk failed.
    #[error("cannot write down whom you block and trust")]
    Disk(#[source] io::Error),
}

/// The marks of one data folder.
#[derive(Debug)]
pub struct MarkBook {
    path: PathBuf,
    marks: Mutex<BTreeMap<PeerId, Mark>>,
}

impl MarkBook {
    /// Those in a file; none if there is no file.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<MarkBook> {
        let path = path.into();
        let text = read_text(&path, BYTES)?;
        let mut marks = BTreeMap::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match parse(line) {
                Some((peer, mark)) if marks.len() < MOST => {
                    marks.insert(peer, mark);
                }
                _ => tracing::warn!(line, path = %path.display(), "a mark that makes no sense"),
            }
        }
        Ok(MarkBook {
            path,
            marks: Mutex::new(marks),
        })
    }

    /// Peers with a mark.
    pub fn with(&self, mark: Mark) -> Vec<PeerId> {
        let marks = self.marks();
        let with = marks.iter().filter(|(_, m)| **m == mark);
        with.map(|(peer, _)| *peer).collect()
    }

    /// The mark of a peer.
    pub fn of(&self, peer: &PeerId) -> Option<Mark> {
        self.marks().get(peer).copied()
    }

    /// Sets a mark in place of the other, or takes it back if it is set; on disk before this
    /// returns. Returns whether that changed anything.
    ///
    /// # Errors
    /// If there is no room or the disk fails; then nothing has changed.
    pub fn change(&self, peer: PeerId, mark: Mark, set: bool) -> Result<bool, MarkError> {
        let mut marks = self.marks();
        if (marks.get(&peer) == Some(&mark)) == set {
            return Ok(false);
        }
        if set && !marks.contains_key(&peer) && marks.len() >= MOST {
            return Err(MarkError::Full);
        }
        let mut changed = marks.clone();
        if set {
            changed.insert(peer, mark);
        } else {
            changed.remove(&peer);
        }
        let line = |(peer, mark): (&PeerId, &Mark)| format!("{} {peer}\n", mark.name());
        let text: String = changed.iter().map(line).collect();
        replace_file(&self.path, text.as_bytes()).map_err(MarkError::Disk)?;
        *marks = changed;
        Ok(true)
    }

    fn marks(&self) -> MutexGuard<'_, BTreeMap<PeerId, Mark>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn parse(line: &str) -> Option<(PeerId, Mark)> {
    let (first, peer) = line.trim().split_once(' ')?;
    let mark = Mark::ALL.into_iter().find(|mark| mark.name() == first)?;
    Some((peer.trim().parse().ok()?, mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_again_and_a_broken_line_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("marks");
        let (one, other) = (PeerId::random(), PeerId::random());
        let book = MarkBook::open(&path).unwrap();
        assert!(book.change(one, Mark::Blocked, true).unwrap());
        assert!(!book.change(one, Mark::Blocked, true).unwrap());
        assert!(book.change(other, Mark::Trusted, true).unwrap());
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("loved 12D3\n\nblocked\n");
        std::fs::write(&path, text).unwrap();
        let again = MarkBook::open(&path).unwrap();
        assert_eq!(again.with(Mark::Blocked), [one]);
        assert_eq!(again.with(Mark::Trusted), [other]);
        assert!(again.change(one, Mark::Trusted, true).unwrap(), "replaces");
        assert!(!again.change(other, Mark::Blocked, false).unwrap());
        assert!(again.change(other, Mark::Trusted, false).unwrap());
        assert_eq!(again.of(&one), Some(Mark::Trusted));
        let last = MarkBook::open(&path).unwrap();
        assert_eq!(last.with(Mark::Blocked), []);
        assert_eq!(last.with(Mark::Trusted), [one]);
    }

    #[test]
    fn nothing_changes_without_room_or_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("marks");
        let lines = |n: usize| -> String {
            let line = |_| format!("blocked {}\n", PeerId::random());
            (0..n).map(line).collect()
        };
        std::fs::write(&path, lines(MOST + 1)).unwrap();
        let book = MarkBook::open(&path).unwrap();
        assert_eq!(book.with(Mark::Blocked).len(), MOST);
        let full = book.change(PeerId::random(), Mark::Trusted, true);
        assert!(matches!(full, Err(MarkError::Full)));
        let nowhere = MarkBook::open(folder.path().join("none/marks")).unwrap();
        let failed = nowhere.change(PeerId::random(), Mark::Blocked, true);
        assert!(matches!(failed, Err(MarkError::Disk(_))));
        assert_eq!(nowhere.with(Mark::Blocked), []);
        assert!(
            MarkBook::open(folder.path()).is_err(),
            "a folder is no file"
        );
    }
}
