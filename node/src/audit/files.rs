//! The files of the log: `audit/` in the data folder, a file for so many bytes of lines, named by
//! the number of its first line.
//!
//! 1. Lines that come together are added one after the other and made safe with one sync.
//! 2. `head` names the last line. It is written after that is safe, so after a power cut the log
//!    can be ahead of it, never behind, unless lines were taken away.
//! 3. Where a write or a sync fails, no line since the last sync counts as safe: the kernel tells a
//!    failed sync once, so a later one that succeeds says nothing about them. The next line tells
//!    how many are missing.

use super::chain::{self, Break, Head};
use super::line::{Line, Outcome, Who};
use crate::store::orders::private_folder;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes of a file, after which the next one begins.
const FILE_BYTES: u64 = 1 << 20;
/// Files kept.
const FILES: usize = 16;
/// Name of the file that names the last line.
const HEAD: &str = "head";
/// End of the names of the others.
const END: &str = ".jsonl";

/// An action that is to be a line.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    /// The one that acts.
    pub(crate) who: Who,
    /// The action.
    pub(crate) what: String,
    /// Its address.
    pub(crate) place: Option<String>,
    /// Named fields.
    pub(crate) detail: BTreeMap<String, String>,
    /// Its outcome.
    pub(crate) outcome: Outcome,
    /// The status of the answer.
    pub(crate) status: Option<u16>,
}

/// The files, which one thread writes.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    last: Option<Head>,
    /// The file that takes lines, and its bytes.
    open: Option<(File, u64)>,
    /// Lines that were added since the last sync.
    added: u64,
    /// Lines since the last one of which nobody knows whether they are on disk.
    lost: u64,
    /// Those of which a line tells that is not safe yet.
    telling: u64,
    file_bytes: u64,
}

/// A log that was read.
#[derive(Debug)]
pub(crate) struct Read {
    /// Its lines up to the break, ascending.
    pub(crate) lines: Vec<Line>,
    /// Where it stops being whole.
    pub(crate) broken: Option<Break>,
}

impl Files {
    /// The log in a data folder. A line tells that the node begins, and whether the log was whole.
    ///
    /// # Errors
    /// The disk failed.
    pub(super) fn open(home: &Path) -> io::Result<Files> {
        Files::with_bytes(home, FILE_BYTES)
    }

    fn with_bytes(home: &Path, file_bytes: u64) -> io::Result<Files> {
        let folder = home.join("audit");
        private_folder(&folder)?;
        mend(&folder)?;
        let read = read(&folder, |_| ())?;
        // What cannot be followed stays where it is; the chain goes on from the head if there is
        // one, so that the break remains a break.
        let last = head(&folder)?.max(read.last);
        let mut files = Files {
            folder,
            last,
            open: None,
            added: 0,
            lost: 0,
            telling: 0,
            file_bytes,
        };
        let version = ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        let whole = match read.broken {
            None => "whole".to_owned(),
            Some(broken) => format!("{broken:?}").to_ascii_lowercase(),
        };
        files.write([Action {
            who: Who::Node,
            what: "node begins".to_owned(),
            place: None,
            detail: [version, ("log".to_owned(), whole)].into(),
            outcome: Outcome::Done,
            status: None,
        }]);
        Ok(files)
    }

    /// Writes lines, onto the disk. Where that fails, the log of the node says so, and the next
    /// line that can be written tells how many are missing.
    pub(super) fn write(&mut self, actions: impl IntoIterator<Item = Action>) {
        for action in actions {
            if let Err(error) = self.add(action) {
                self.lost += 1;
                tracing::error!(%error, "an action is missing in the audit log");
            }
        }
        if self.added == 0 {
            // The last line may be one that is not safe.
            return;
        }
        if let Err(error) = self.make_safe() {
            tracing::error!(%error, "actions are missing in the audit log");
            return;
        }
        // A full disk leaves the old head. No sync of its own: every action would wait for it.
        if let Err(error) = self.name_last() {
            tracing::warn!(%error, "the last line of the audit log is not named");
        }
    }

    /// Makes safe all that was added.
    fn make_safe(&mut self) -> io::Result<()> {
        if self.added > 0 {
            let file = self.open.as_ref().map(|(file, _)| file);
            let safe = file.map_or_else(|| Err(given_up()), File::sync_data);
            safe.inspect_err(|_| self.give_up())?;
        }
        (self.added, self.telling) = (0, 0);
        Ok(())
    }

    fn name_last(&self) -> io::Result<()> {
        if let Some((last, hash)) = &self.last {
            let new = self.folder.join(HEAD).with_extension("new");
            fs::write(&new, format!("{last} {hash}\n"))?;
            fs::rename(&new, self.folder.join(HEAD))?;
        }
        Ok(())
    }

    /// No line that was added since the last sync can become safe any more. Where the next one goes
    /// is found out anew.
    fn give_up(&mut self) {
        self.open = None;
        self.lost += std::mem::take(&mut self.added) + std::mem::take(&mut self.telling);
    }

    /// Adds a line, which is not safe yet.
    fn add(&mut self, action: Action) -> io::Result<()> {
        let (seq, prev) = self.last.clone().unwrap_or_default();
        let seq = seq + 1;
        let (file, bytes) = self.file(seq)?;
        let mut detail = action.detail;
        if self.lost > 0 {
            detail.insert("lines_lost_before".to_owned(), self.lost.to_string());
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let line = Line {
            seq,
            time_ms: u64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(u64::MAX),
            who: action.who,
            what: action.what,
            place: action.place,
            detail,
            outcome: action.outcome,
            status: action.status,
            prev,
        };
        let (mut text, hash) = chain::seal(&line)?;
        text.push('\n');
        append(&file, bytes, || (&file).write_all(text.as_bytes()))
            .inspect_err(|_| self.give_up())?;
        self.open = Some((file, bytes.saturating_add(text.len() as u64)));
        self.last = Some((seq, hash));
        self.telling += std::mem::take(&mut self.lost);
        self.added += 1;
        Ok(())
    }

    /// The file that takes the line of a number, and its bytes.
    fn file(&mut self, seq: u64) -> io::Result<(File, u64)> {
        match self.open.take_if(|(_, bytes)| *bytes < self.file_bytes) {
            Some(open) => return Ok(open),
            // From now on the next file is the one that is made safe.
            None if self.open.is_some() => self.make_safe()?,
            // What a failed write left may still be there.
            None => mend(&self.folder)?,
        }
        let mut files = files(&self.folder)?;
        let newest = files.last().filter(|(first, path)| {
            *first <= seq && fs::metadata(path).is_ok_and(|m| m.len() < self.file_bytes)
        });
        let path = match newest {
            Some((_, path)) => path.clone(),
            None => {
                let path = self.folder.join(format!("{seq:012}{END}"));
                files.push((seq, path.clone()));
                path
            }
        };
        for (_, old) in files.iter().rev().skip(FILES) {
            fs::remove_file(old)?;
        }
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).mode(0o600).open(path)?;
        let bytes = file.metadata()?.len();
        Ok((file, bytes))
    }
}

fn given_up() -> io::Error {
    io::Error::other("the file of the line was given up")
}

/// Appends to a file of so many bytes. Where that fails, what came of it goes: nobody can read on
/// behind half a line.
fn append(file: &File, bytes: u64, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    write().inspect_err(|_| {
        // If this fails, too, the folder is mended before the next line.
        let _cut = file.set_len(bytes);
    })
}

/// The files of a log, by the numbers of their first lines.
fn files(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let first = name.to_str().and_then(|name| name.strip_suffix(END));
        if let Some(first) = first.and_then(|first| first.parse().ok()) {
            found.push((first, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

/// Takes away a line that a power cut or a failed write left half: `head` does not name it.
fn mend(folder: &Path) -> io::Result<()> {
    let Some((_, path)) = files(folder)?.pop() else {
        return Ok(());
    };
    let bytes = fs::read(&path)?;
    let whole = bytes
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |at| at + 1);
    if whole < bytes.len() {
        let file = OpenOptions::new().write(true).open(&path)?;
        file.set_len(whole as u64)?;
        file.sync_data()?;
    }
    Ok(())
}

/// The last line, by the file that names it.
fn head(folder: &Path) -> io::Result<Option<Head>> {
    let text = match fs::read_to_string(folder.join(HEAD)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let read = text.trim_end().split_once(' ');
    Ok(read.and_then(|(seq, hash)| Some((seq.parse().ok()?, hash.to_owned()))))
}

/// A log as far as it is whole.
struct Followed {
    last: Option<Head>,
    broken: Option<Break>,
}

fn read(folder: &Path, mut take: impl FnMut(Line)) -> io::Result<Followed> {
    let mut last = None;
    for (_, path) in files(folder)? {
        let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
        if let Err(broken) = chain::follow(&text, &mut last, &mut take) {
            let broken = Some(broken);
            return Ok(Followed { last, broken });
        }
    }
    let at = last.as_ref().map_or(0, |(seq, _)| *seq);
    let broken = match head(folder)? {
        Some((named, _)) if named > at => Some(Break::End(at, named)),
        Some((named, hash)) if named == at && last.as_ref().is_some_and(|(_, l)| *l != hash) => {
            Some(Break::Gap(at.saturating_sub(1)))
        }
        _ => None,
    };
    Ok(Followed { last, broken })
}

/// Reads the log in a data folder, whether its node runs or not; `None` if there is none.
pub(crate) fn read_log(home: &Path, from_ms: u64) -> io::Result<Option<Read>> {
    let folder = home.join("audit");
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut lines = Vec::new();
    let followed = read(&folder, |line| {
        if line.time_ms >= from_ms {
            lines.push(line);
        }
    })?;
    let broken = followed.broken;
    Ok(Some(Read { lines, broken }))
}

#[cfg(test)]
mod tests;
