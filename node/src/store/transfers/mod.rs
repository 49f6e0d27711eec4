//! Transfers of the owner by their idempotency keys. A repeated request finds its transfer again,
//! even if the node was killed between sending the money and answering.
//!
//! 1. A transfer's entry is signed and on disk before it is sent; many become safe with one sync
//!    (see `book`).
//! 2. A key has one entry, ever, and no other key has the same one: the entry names its key (see
//!    `ledger::transfer`). The ledger takes an entry once, so a request repeated under its key
//!    moves the money once, however often nodes and clients fail in between.
//! 3. An entry *waits* until it is known to be in a block, or can be in none any more.
//! 4. The last [`KEPT`] keys are kept; those whose entry waits are never forgotten. A key that
//!    nobody can repeat is kept in memory alone, while its entry waits.

mod book;

use book::Book;
use gridbay_host::Fault;
use gridbay_host::disk::{Disk, RealDisk};
use gridbay_protocol::codec;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{EntryId, Hash32};
use gridbay_protocol::limits::ENTRY_BYTES;
use gridbay_protocol::units::Credits;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keys remembered: those of a minute at some five hundred a second.
pub const KEPT: usize = 32_768;
/// Transfers that may wait for their inclusion: as many as validators keep of one account.
pub const WAITING: usize = gridbay_host::limits::MEMPOOL_PER_ACCOUNT;

/// A key of the store: hash of the owner's idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferKey(pub Hash32);

impl TransferKey {
    /// Of an idempotency key.
    pub fn of(text: &str) -> TransferKey {
        let hash = blake3::derive_key("gridbay/transfer-key/1", text.as_bytes());
        TransferKey(Hash32(hash))
    }

    /// Of a place in the list that a request under an idempotency key names: no request of a single
    /// transfer has it, whatever its key.
    pub fn of_item(text: &str, place: u64) -> TransferKey {
        let item = [&place.to_be_bytes(), text.as_bytes()].concat();
        let hash = blake3::derive_key("gridbay/transfer-item/1", &item);
        TransferKey(Hash32(hash))
    }
}

/// A transfer to keep.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Its key.
    pub key: TransferKey,
    /// Whether the request can come again under this key.
    pub repeats: bool,
    /// Its entry.
    pub entry: SignedEntry,
}

/// A key by the last height of its entry.
type End = (u64, TransferKey);

/// An entry that is kept.
#[derive(Debug)]
struct Kept {
    entry: SignedEntry,
    id: EntryId,
}

#[derive(Debug, Default)]
struct Known {
    entries: BTreeMap<TransferKey, Kept>,
    ends: BTreeSet<End>,
    /// Those of `ends` whose entries wait.
    waiting: BTreeSet<End>,
    /// Keys under which no request comes again.
    passing: BTreeSet<TransferKey>,
}

struct Inner {
    book: Book,
    known: Known,
}

/// The store: a folder, read once. Cheap to clone.
#[derive(Clone)]
pub struct TransferStore(Arc<Mutex<Inner>>);

impl std::fmt::Debug for TransferStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TransferStore").finish_non_exhaustive()
    }
}

impl TransferStore {
    /// Opens (and makes) the folder and reads what it holds.
    ///
    /// # Errors
    /// The disk fails, or the file was damaged where it once was safe.
    pub fn open(folder: &Path) -> Result<TransferStore, Fault> {
        let store = TransferStore::on(Box::new(RealDisk::open(folder)?))?;
        store.take_over(folder)?;
        Ok(store)
    }

    fn on(disk: Box<dyn Disk>) -> Result<TransferStore, Fault> {
        let mut known = Known::default();
        let book = Book::open(disk, |key, entry| {
            known.remove(&key);
            if let Some(entry) = entry {
                known.insert(key, entry);
            }
        })?;
        Ok(TransferStore(Arc::new(Mutex::new(Inner { book, known }))))
    }

    /// Takes over what earlier versions kept, a file for each key.
    fn take_over(&self, folder: &Path) -> Result<(), Fault> {
        let (mut found, mut files) = (Vec::new(), Vec::new());
        for (key, path) in single_files(folder).unwrap_or_default() {
            let bytes = fs::read(&path).unwrap_or_default();
            match codec::decode::<SignedEntry>(&bytes, ENTRY_BYTES) {
                Ok(entry) => {
                    found.push(Transfer {
                        key,
                        repeats: true,
                        entry,
                    });
                    files.push(path);
                }
                Err(error) => {
                    tracing::error!(path = %path.display(), %error, "a transfer is left aside");
                }
            }
        }
        self.keep(found)?;
        for path in files {
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(path = %path.display(), %error, "an old transfer's file stays");
            }
        }
        Ok(())
    }

    /// The entry of a key.
    pub fn get(&self, key: &TransferKey) -> Option<SignedEntry> {
        let known = &self.lock().known;
        known.entries.get(key).map(|kept| kept.entry.clone())
    }

    /// Keeps transfers, durably and together; a key that has an entry keeps that. Blocks.
    ///
    /// # Errors
    /// The disk fails: none is kept, and nothing may be sent then.
    pub fn keep(&self, mut transfers: Vec<Transfer>) -> Result<(), Fault> {
        let inner = &mut *self.lock();
        transfers.retain(|transfer| !inner.known.entries.contains_key(&transfer.key));
        let repeat = transfers.iter().filter(|transfer| transfer.repeats);
        let mut lines = repeat.map(|t| (t.key, Some(&t.entry))).peekable();
        if lines.peek().is_some() {
            inner.book.add(lines)?;
        }
        for transfer in transfers {
            if !transfer.repeats {
                inner.known.passing.insert(transfer.key);
            }
            inner.known.insert(transfer.key, transfer.entry);
        }
        inner.make_room();
        Ok(())
    }

    /// How many more entries may wait at a height.
    pub fn room(&self, height: u64) -> usize {
        let known = &mut self.lock().known;
        known.lapse(height);
        WAITING.saturating_sub(known.waiting.len())
    }

    /// The entries that wait, in the order in which they lapse, with what they move.
    pub fn waiting(&self) -> Vec<(TransferKey, EntryId, Credits)> {
        let known = &self.lock().known;
        let waiting = known.waiting.iter();
        let entry = |(_, key): &End| {
            let kept = known.entries.get(key)?;
            let amount = match &kept.entry.entry.body {
                EntryBody::Transfer { amount, .. } => *amount,
                _ => Credits::ZERO,
            };
            Some((*key, kept.id, amount))
        };
        waiting.filter_map(entry).collect()
    }

    /// The entry of a key is in a block: it waits no longer.
    pub fn decided(&self, key: &TransferKey) {
        let known = &mut self.lock().known;
        if let Some(end) = known.end(key) {
            known.over(end);
        }
    }

    /// Forgets a key whose entry was never sent.
    ///
    /// # Errors
    /// The disk fails.
    pub fn forget(&self, key: &TransferKey) -> Result<(), Fault> {
        let inner = &mut *self.lock();
        let repeats = !inner.known.passing.contains(key);
        inner.known.remove(key);
        match repeats {
            true => inner.book.add([(*key, None)].into_iter()),
            false => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change below leaves the maps consistent at every step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files of earlier versions, named by their keys.
fn single_files(folder: &Path) -> io::Result<Vec<(TransferKey, PathBuf)>> {
    let mut found = Vec::new();
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(key) = name.and_then(|name| name.parse().ok()) {
            found.push((TransferKey(key), path));
        }
    }
    Ok(found)
}

impl Inner {
    /// Forgets the keys whose entries ended first, of those that wait no longer.
    fn make_room(&mut self) {
        while self.known.entries.len() > KEPT {
            let over = |end: &&End| !self.known.waiting.contains(end);
            let Some((_, key)) = self.known.ends.iter().find(over).copied() else {
                break;
            };
            self.known.remove(&key);
        }
        let known = &self.known;
        if self.book.is_long(known.entries.len()) {
            let lasting = known.entries.iter();
            let lasting = lasting.filter(|(key, _)| !known.passing.contains(key));
            let lines = lasting.map(|(key, kept)| (*key, Some(&kept.entry)));
            if let Err(error) = self.book.rewrite(lines) {
                tracing::warn!(%error, "the file of transfers is not made shorter");
            }
        }
    }
}

impl Known {
    fn end(&self, key: &TransferKey) -> Option<End> {
        let kept = self.entries.get(key)?;
        Some((kept.entry.entry.valid_until, *key))
    }
    fn insert(&mut self, key: TransferKey, entry: SignedEntry) {
        let end = (entry.entry.valid_until, key);
        self.ends.insert(end);
        self.waiting.insert(end);
        let id = entry.id();
        self.entries.insert(key, Kept { entry, id });
    }
    fn remove(&mut self, key: &TransferKey) {
        if let Some(end) = self.end(key) {
            self.ends.remove(&end);
            self.waiting.remove(&end);
            self.entries.remove(key);
            self.passing.remove(key);
        }
    }
    /// An entry waits no longer.
    fn over(&mut self, end: End) {
        self.waiting.remove(&end);
        if self.passing.contains(&end.1) {
            self.remove(&end.1);
        }
    }
    /// Transfers that can be in no block after `height` wait no longer.
    fn lapse(&mut self, height: u64) {
        while let Some(end) = self.waiting.first().copied()
            && end.0 <= height
        {
            self.over(end);
        }
    }
}

#[cfg(test)]
mod tests;
