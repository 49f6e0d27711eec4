//! Transfers of the owner by their idempotency keys. A repeated request finds its transfer again,
//! even if the node was killed between sending the money and answering.
//!
//! 1. A transfer's entry is signed and on disk before it is sent; many become safe with one sync
//!    (see `book`).
//! 2. A key has one entry that can have an effect, and no other key has the same one: the entry
//!    names its key (see `ledger::transfer`). The ledger takes an entry once, so a request repeated
//!    under its key moves the money once, however often nodes and clients fail in between. It gets
//!    another entry only after the one before can be in no block any more.
//! 3. An entry *waits* until it is known to be in a block, or can be in none any more.
//! 4. Keys are kept for [`KEPT_FOR`] after a request has found them or their entry has ended to
//!    wait, and the last [`KEPT`] for as long as they are the last; those whose entry waits are
//!    never forgotten. Beyond [`MOST`] keys no more transfers are made until some are old enough: a
//!    request that is repeated after a minute's silence must find its key, or it would move the
//!    money again. After a restart all keys are as good as new.
//! 5. The key of an entry that was refused is freed, but not where another request under the key
//!    has found the entry meanwhile, and may have sent it again.
//! 6. A key that nobody can repeat is kept in memory alone, while its entry waits.
//! 7. Whoever asks what is kept never waits for the disk: the file has a lock of its own, under
//!    which alone keys of the file come and go.

mod book;

use book::Book;
use gridbay_host::disk::{Disk, RealDisk};
use gridbay_host::{Fault, Sought};
use gridbay_protocol::codec;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{EntryId, Hash32};
use gridbay_protocol::limits::ENTRY_BYTES;
use gridbay_protocol::units::Credits;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Keys remembered whatever their age.
pub const KEPT: usize = 32_768;
/// For how long a key is remembered at least: three times as long as a request waits for its block.
pub const KEPT_FOR: Duration = Duration::from_secs(180);
/// Keys at the most: those of [`KEPT_FOR`] at 1,400 a second.
pub const MOST: usize = 262_144;
/// Places in the order of keys beyond twice those that are kept.
const SLACK: usize = 1_024;
/// Transfers that may wait for their inclusion: as many as validators keep of one account.
pub const WAITING: usize = gridbay_host::limits::MEMPOOL_PER_ACCOUNT;

/// A key of the store: hash of the owner's idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
        // A request asks for hundreds.
        static ITEM: LazyLock<blake3::Hasher> =
            LazyLock::new(|| blake3::Hasher::new_derive_key("gridbay/transfer-item/1"));
        let mut item = ITEM.clone();
        item.update(&place.to_be_bytes()).update(text.as_bytes());
        TransferKey(Hash32(*item.finalize().as_bytes()))
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
    entry: Arc<SignedEntry>,
    id: EntryId,
    since: Instant,
    /// Whether another request has found it.
    found: bool,
}

#[derive(Debug, Default)]
struct Known {
    /// A request that makes a list looks for hundreds.
    entries: HashMap<TransferKey, Kept>,
    /// In the order in which they came; some may be forgotten already.
    order: VecDeque<(Instant, TransferKey)>,
    /// The keys whose entries wait.
    waiting: BTreeSet<End>,
    /// Keys under which no request comes again.
    passing: BTreeSet<TransferKey>,
}

struct Inner {
    /// Taken before `known`.
    book: Mutex<Book>,
    known: Mutex<Known>,
}

/// The store: a folder, read once. Cheap to clone.
#[derive(Clone)]
pub struct TransferStore(Arc<Inner>);

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
        let (mut known, now) = (Known::default(), Instant::now());
        let book = Book::open(disk, |key, entry| {
            known.remove(&key);
            if let Some(entry) = entry {
                known.insert(key, Arc::new(entry), now);
            }
        })?;
        let (book, known) = (Mutex::new(book), Mutex::new(known));
        Ok(TransferStore(Arc::new(Inner { book, known })))
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
        let known = self.known();
        known.entries.get(key).map(|kept| (*kept.entry).clone())
    }

    /// The entry of a key, for a request that has come again: it may send the entry once more.
    pub fn find(&self, key: &TransferKey) -> Option<SignedEntry> {
        self.find_all(std::slice::from_ref(key)).pop().flatten()
    }

    /// The same of many keys, in their order.
    pub fn find_all(&self, keys: &[TransferKey]) -> Vec<Option<SignedEntry>> {
        let (mut known, now) = (self.known(), Instant::now());
        let find = |key| {
            let kept = known.entries.get_mut(key)?;
            kept.found = true;
            let entry = (*kept.entry).clone();
            known.renew(key, now);
            Some(entry)
        };
        keys.iter().map(find).collect()
    }

    /// Keeps transfers, durably and together; a key that has an entry keeps that. Blocks.
    ///
    /// # Errors
    /// The disk fails: none is kept, and nothing may be sent then.
    pub fn keep(&self, transfers: Vec<Transfer>) -> Result<(), Fault> {
        self.keep_at(transfers, Instant::now())
    }

    fn keep_at(&self, mut transfers: Vec<Transfer>, now: Instant) -> Result<(), Fault> {
        let mut book = self.book();
        {
            let known = self.known();
            transfers.retain(|transfer| !known.entries.contains_key(&transfer.key));
        }
        let with_entry = |t: Transfer| (t.key, t.repeats, Arc::new(t.entry));
        let transfers: Vec<_> = transfers.into_iter().map(with_entry).collect();
        let repeat = transfers.iter().filter(|(_, repeats, _)| *repeats);
        let mut lines = repeat
            .map(|(key, _, entry)| (*key, Some(&**entry)))
            .peekable();
        if lines.peek().is_some() {
            book.add(lines)?;
        }
        let long = {
            let mut known = self.known();
            for (key, repeats, entry) in transfers {
                if !repeats {
                    known.passing.insert(key);
                }
                known.insert(key, entry, now);
            }
            known.make_room(now);
            book.is_long(known.entries.len()).then(|| known.lines())
        };
        if let Some(lines) = long {
            let lines = lines.iter().map(|(key, entry)| (*key, Some(&**entry)));
            if let Err(error) = book.rewrite(lines) {
                tracing::warn!(%error, "the file of transfers is not made shorter");
            }
        }
        Ok(())
    }

    /// How many more entries may wait at a height.
    pub fn room(&self, height: u64) -> usize {
        self.room_at(height, Instant::now())
    }

    fn room_at(&self, height: u64, now: Instant) -> usize {
        let mut known = self.known();
        known.lapse(height, now);
        known.make_room(now);
        let places = WAITING.saturating_sub(known.waiting.len());
        places.min(MOST.saturating_sub(known.entries.len()))
    }

    /// The entries that wait, in the order in which they lapse, with what they move.
    pub fn waiting(&self) -> Vec<(TransferKey, Sought, Credits)> {
        let known = self.known();
        let waiting = known.waiting.iter();
        let entry = |(valid_until, key): &End| {
            let kept = known.entries.get(key)?;
            let sought = Sought {
                valid_until: *valid_until,
                id: kept.id,
            };
            let amount = match &kept.entry.entry.body {
                EntryBody::Transfer { amount, .. } => *amount,
                _ => Credits::ZERO,
            };
            Some((*key, sought, amount))
        };
        waiting.filter_map(entry).collect()
    }

    /// The entry of a key is in a block: it waits no longer.
    pub fn decided(&self, key: &TransferKey) {
        self.decided_at(key, Instant::now());
    }

    fn decided_at(&self, key: &TransferKey, now: Instant) {
        let mut known = self.known();
        if let Some(end) = known.end(key) {
            known.over(end, now);
        }
    }

    /// Forgets keys whose entries were refused, with one sync; not those that another request has
    /// found, or that have another entry by now. Blocks.
    ///
    /// # Errors
    /// The disk fails.
    pub fn forget_refused(&self, keys: &[(TransferKey, EntryId)]) -> Result<(), Fault> {
        self.forget(keys, |kept| !kept.found)
    }

    /// Forgets keys whose entries can be in no block any more, with one sync; not those that have
    /// another entry by now. Blocks.
    ///
    /// # Errors
    /// The disk fails.
    pub fn forget_lapsed(&self, keys: &[(TransferKey, EntryId)]) -> Result<(), Fault> {
        self.forget(keys, |_| true)
    }

    fn forget(
        &self,
        keys: &[(TransferKey, EntryId)],
        may: impl Fn(&Kept) -> bool,
    ) -> Result<(), Fault> {
        let mut book = self.book();
        let mut known = self.known();
        let is_kept = |(key, id): &&(TransferKey, EntryId)| {
            let kept = known.entries.get(key);
            kept.is_some_and(|kept| kept.id == *id && may(kept))
        };
        let keys: Vec<TransferKey> = keys.iter().filter(is_kept).map(|(key, _)| *key).collect();
        let mut in_file = keys.clone();
        in_file.retain(|key| !known.passing.contains(key));
        keys.iter().for_each(|key| known.remove(key));
        drop(known);
        match in_file.is_empty() {
            true => Ok(()),
            false => book.add(in_file.into_iter().map(|key| (key, None))),
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // After a failure it looks at its file anew.
        self.0.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Every change below leaves the maps consistent at every step.
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
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

impl Known {
    fn end(&self, key: &TransferKey) -> Option<End> {
        let kept = self.entries.get(key)?;
        Some((kept.entry.entry.valid_until, *key))
    }
    fn insert(&mut self, key: TransferKey, entry: Arc<SignedEntry>, since: Instant) {
        self.waiting.insert((entry.entry.valid_until, key));
        self.order.push_back((since, key));
        let id = entry.id();
        let kept = Kept {
            entry,
            id,
            since,
            found: false,
        };
        self.entries.insert(key, kept);
    }
    fn remove(&mut self, key: &TransferKey) {
        if let Some(end) = self.end(key) {
            self.waiting.remove(&end);
            self.entries.remove(key);
            self.passing.remove(key);
        }
    }
    /// Somebody may come again for a key, from now on.
    fn renew(&mut self, key: &TransferKey, now: Instant) {
        if let Some(kept) = self.entries.get_mut(key)
            && kept.since < now
        {
            kept.since = now;
            self.order.push_back((now, *key));
        }
    }
    /// Whether a key is still kept as it came then.
    fn is_kept(&self, (since, key): &(Instant, TransferKey)) -> bool {
        let kept = self.entries.get(key);
        kept.is_some_and(|kept| kept.since == *since)
    }
    /// Forgets the oldest keys, up to one that waits or is young.
    fn make_room(&mut self, now: Instant) {
        // Of keys that were forgotten for other reasons behind one that stays.
        if self.order.len() > 2 * self.entries.len() + SLACK {
            let mut order = std::mem::take(&mut self.order);
            order.retain(|came| self.is_kept(came));
            self.order = order;
        }
        while let Some(oldest @ (since, key)) = self.order.front().copied() {
            if self.is_kept(&oldest) {
                let is_old = now.saturating_duration_since(since) >= KEPT_FOR;
                let end = self.end(&key);
                let waits = end.is_some_and(|end| self.waiting.contains(&end));
                if self.entries.len() <= KEPT || !is_old || waits {
                    return;
                }
                self.remove(&key);
            }
            self.order.pop_front();
        }
    }
    /// The lines of a file of what is known now.
    fn lines(&self) -> Vec<(TransferKey, Arc<SignedEntry>)> {
        let lasting = self.entries.iter();
        let lasting = lasting.filter(|(key, _)| !self.passing.contains(key));
        let line = |(key, kept): (&TransferKey, &Kept)| (*key, Arc::clone(&kept.entry));
        lasting.map(line).collect()
    }
    /// An entry waits no longer.
    fn over(&mut self, end: End, now: Instant) {
        if !self.waiting.remove(&end) {
            return;
        }
        match self.passing.contains(&end.1) {
            true => self.remove(&end.1),
            false => self.renew(&end.1, now),
        }
    }
    /// Transfers that can be in no block after `height` wait no longer.
    fn lapse(&mut self, height: u64, now: Instant) {
        while let Some(end) = self.waiting.first().copied()
            && end.0 <= height
        {
            self.over(end, now);
        }
    }
}

#[cfg(test)]
mod tests;
