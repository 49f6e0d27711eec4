//! The files of the log: `audit/` in the data folder, a file for so many bytes of lines, named by
//! the number of its first line.
//!
//! `head` names the last line. It is written after it, so after a power cut the log can be ahead of
//! it, never behind, unless lines were taken away.
//!
//! Actions that end at the same time share one sync of the file: each adds its line, and one of
//! them makes safe whatever is there by then.

use super::chain::{self, Break, Head};
use super::line::{Line, Outcome, Who};
use crate::store::orders::private_folder;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

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

/// The log of one node. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Book {
    folder: PathBuf,
    inner: Arc<Mutex<Inner>>,
    /// Number of the last line that is safe. Held while more are made safe.
    safe: Arc<Mutex<u64>>,
    /// Is heard by lines that other threads are about to write.
    late: Arc<watch::Sender<()>>,
}

#[derive(Debug)]
struct Inner {
    last: Option<Head>,
    /// The file that takes lines, and its bytes.
    open: Option<(Arc<File>, u64)>,
    /// Number of the last line of which nobody knows whether it is on disk, because its write or
    /// sync, or one after it, failed. The kernel tells a failed sync once, so no later one that
    /// succeeds says anything about the lines up to here.
    given_up_to: u64,
    /// Lines that could not be written since the last one.
    lost: u64,
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

impl Book {
    /// The log in a data folder. A line tells that the node begins, and whether the log was whole.
    ///
    /// # Errors
    /// The disk failed.
    pub fn open(home: &Path) -> io::Result<Book> {
        Book::with_bytes(home, FILE_BYTES)
    }

    fn with_bytes(home: &Path, file_bytes: u64) -> io::Result<Book> {
        let folder = home.join("audit");
        private_folder(&folder)?;
        mend(&folder)?;
        let read = read(&folder, |_| ())?;
        // What cannot be followed stays where it is; the chain goes on from the head if there is
        // one, so that the break remains a break.
        let last = head(&folder)?.max(read.last);
        let book = Book {
            folder,
            safe: Arc::default(),
            late: Arc::new(watch::Sender::new(())),
            inner: Arc::new(Mutex::new(Inner {
                last,
                open: None,
                given_up_to: 0,
                lost: 0,
                file_bytes,
            })),
        };
        let version = ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        let whole = match read.broken {
            None => "whole".to_owned(),
            Some(broken) => format!("{broken:?}").to_ascii_lowercase(),
        };
        book.write(Action {
            who: Who::Node,
            what: "node begins".to_owned(),
            place: None,
            detail: [version, ("log".to_owned(), whole)].into(),
            outcome: Outcome::Done,
            status: None,
        });
        Ok(book)
    }

    /// Writes a line, onto the disk. Where that fails, the log of the node says so, and the next
    /// line that can be written tells how many are missing.
    pub(crate) fn write(&self, action: Action) {
        let added = self.inner().add(&self.folder, action);
        if let Err(error) = added.and_then(|seq| self.make_safe(seq)) {
            self.inner().lost += 1;
            tracing::error!(%error, "an action is missing in the audit log");
        }
    }

    /// Held by a line that another thread is about to write.
    pub(super) fn late(&self) -> watch::Receiver<()> {
        self.late.subscribe()
    }

    /// Is ready when other threads have written what they were about to.
    pub(crate) async fn settled(&self) {
        self.late.closed().await;
    }

    /// Makes safe what was written up to a line at least, then names the last of it.
    fn make_safe(&self, seq: u64) -> io::Result<()> {
        let mut safe = self.safe.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, file) = {
            let inner = self.inner();
            inner.check(seq)?;
            if *safe >= seq {
                return Ok(());
            }
            let file = inner.open.as_ref().map(|(file, _)| Arc::clone(file));
            (inner.last.clone(), file)
        };
        let file = file.ok_or_else(given_up)?;
        // `safe` is held until the failure is noted, so nobody syncs the same file in between.
        file.sync_data().inspect_err(|_| self.inner().give_up())?;
        // The next file may have begun meanwhile, and its action been told of the failure.
        self.inner().check(seq)?;
        if let Some((last, hash)) = last {
            // A full disk leaves the old head. No sync of its own: every action would wait for it.
            let new = self.folder.join(HEAD).with_extension("new");
            fs::write(&new, format!("{last} {hash}\n"))?;
            fs::rename(&new, self.folder.join(HEAD))?;
            *safe = last;
        }
        Ok(())
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn given_up() -> io::Error {
    io::Error::other("the file of the line was given up")
}

impl Inner {
    /// No line so far that is not known to be safe can become so. Where the next one goes is found
    /// out anew.
    fn give_up(&mut self) {
        self.open = None;
        self.given_up_to = self.last.as_ref().map_or(0, |(last, _)| *last);
    }

    /// Whether a line can still become safe. Others' failures may hit one that is safe already:
    /// better told as missing than the reverse.
    fn check(&self, seq: u64) -> io::Result<()> {
        match seq <= self.given_up_to {
            true => Err(given_up()),
            false => Ok(()),
        }
    }

    /// Adds a line, which is not safe yet, and returns its number.
    fn add(&mut self, folder: &Path, action: Action) -> io::Result<u64> {
        let (seq, prev) = self.last.clone().unwrap_or_default();
        let mut detail = action.detail;
        if self.lost > 0 {
            detail.insert("lines_lost_before".to_owned(), self.lost.to_string());
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let line = Line {
            seq: seq + 1,
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
        let (file, bytes) = self.file(folder, line.seq)?;
        append(&file, bytes, || (&*file).write_all(text.as_bytes()))
            .inspect_err(|_| self.give_up())?;
        self.open = Some((file, bytes.saturating_add(text.len() as u64)));
        (self.last, self.lost) = (Some((line.seq, hash)), 0);
        Ok(line.seq)
    }

    /// The file that takes the line of a number, and its bytes.
    fn file(&mut self, folder: &Path, seq: u64) -> io::Result<(Arc<File>, u64)> {
        if let Some((file, bytes)) = self.open.take() {
            if bytes < self.file_bytes {
                return Ok((file, bytes));
            }
            // From now on the next file is the one that is made safe.
            file.sync_data().inspect_err(|_| self.give_up())?;
        } else {
            // What a failed write left may still be there.
            mend(folder)?;
        }
        let mut files = files(folder)?;
        let newest = files.last().filter(|(first, path)| {
            *first <= seq && fs::metadata(path).is_ok_and(|m| m.len() < self.file_bytes)
        });
        let path = match newest {
            Some((_, path)) => path.clone(),
            None => {
                let path = folder.join(format!("{seq:012}{END}"));
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
        Ok((Arc::new(file), bytes))
    }
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
