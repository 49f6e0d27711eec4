//! Transfers of the owner by their idempotency keys. A repeated request finds its transfer again,
//! even if the node was killed between sending the money and answering.
//!
//! ```text
//! transfers/<key>   the signed entry, canonical bytes, replaced atomically
//! ```
//!
//! 1. A transfer's entry is signed and on disk before it is sent.
//! 2. A key has one entry, ever, and no other key has the same one: the entry names its key (see
//!    `backend::transfer`). The ledger takes an entry once, so a request repeated under its key
//!    moves the money once, however often nodes and clients fail in between.
//! 3. An entry *waits* until it is known to be in a block, or can be in none any more.
//! 4. The last [`KEPT`] keys are kept; those whose entry waits are never forgotten.

use gridbay_protocol::codec;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::{EntryId, Hash32};
use gridbay_protocol::limits::ENTRY_BYTES;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keys remembered.
pub const KEPT: usize = 4_096;
/// Transfers that may wait for their inclusion: as many as validators keep of one account.
pub const WAITING: usize = gridbay_host::limits::MEMPOOL_PER_ACCOUNT;

/// Why a transfer was not kept, and so not sent.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// Too many of them wait for their inclusion.
    #[error("{WAITING} transfers of this account wait for their inclusion")]
    TooMany,
    /// The disk failed.
    #[error("cannot keep the transfer")]
    Disk(#[from] io::Error),
}

/// A key of the store: hash of the owner's idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferKey(pub Hash32);

impl TransferKey {
    /// Of an idempotency key.
    pub fn of(text: &str) -> TransferKey {
        let hash = blake3::derive_key("gridbay/transfer-key/1", text.as_bytes());
        TransferKey(Hash32(hash))
    }
}

/// A key by the last height of its entry.
type End = (u64, TransferKey);

#[derive(Debug, Default)]
struct Known {
    entries: BTreeMap<TransferKey, SignedEntry>,
    ends: BTreeSet<End>,
    /// Those of `ends` whose entries wait.
    waiting: BTreeSet<End>,
}

/// The store: a folder, read once. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TransferStore {
    folder: PathBuf,
    known: Arc<Mutex<Known>>,
}

impl TransferStore {
    /// Opens (and makes) the folder and reads what it holds.
    pub fn open(folder: PathBuf) -> io::Result<TransferStore> {
        super::orders::private_folder(&folder)?;
        let mut known = Known::default();
        for file in fs::read_dir(&folder)? {
            let path = file?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            // The rest of a write that was broken off has another name.
            let Some(key) = name.and_then(|name| name.parse().ok()) else {
                continue;
            };
            match codec::decode::<SignedEntry>(&fs::read(&path)?, ENTRY_BYTES) {
                Ok(entry) => known.insert(TransferKey(key), entry),
                Err(error) => {
                    tracing::error!(path = %path.display(), %error, "a transfer is left aside");
                }
            }
        }
        Ok(TransferStore {
            folder,
            known: Arc::new(Mutex::new(known)),
        })
    }

    /// The entry of a key.
    pub fn get(&self, key: &TransferKey) -> Option<SignedEntry> {
        self.lock().entries.get(key).cloned()
    }

    /// Keeps the entry that `sign` makes for the key, durably, and returns it; or what the key has
    /// already. `height` is the ledger's. Blocks.
    ///
    /// # Errors
    /// Too many wait, or the disk fails: nothing may be sent then.
    pub fn keep(
        &self,
        key: TransferKey,
        height: u64,
        sign: impl FnOnce() -> SignedEntry,
    ) -> Result<SignedEntry, KeepError> {
        let mut known = self.lock();
        if let Some(entry) = known.entries.get(&key) {
            return Ok(entry.clone());
        }
        known.lapse(height);
        if known.waiting.len() >= WAITING {
            return Err(KeepError::TooMany);
        }
        let entry = sign();
        super::replace_file(&self.path(&key), &codec::encode(&entry))?;
        known.insert(key, entry.clone());
        self.make_room(&mut known);
        Ok(entry)
    }

    /// How many entries wait at a height.
    pub fn waits(&self, height: u64) -> usize {
        let mut known = self.lock();
        known.lapse(height);
        known.waiting.len()
    }

    /// The entries that wait, in the order in which they lapse.
    pub fn waiting(&self) -> Vec<(TransferKey, EntryId)> {
        let known = self.lock();
        let waiting = known.waiting.iter();
        let entry = |(_, key): &End| Some((*key, known.entries.get(key)?.id()));
        waiting.filter_map(entry).collect()
    }

    /// The entry of a key is in a block: it waits no longer.
    pub fn decided(&self, key: &TransferKey) {
        let mut known = self.lock();
        if let Some(end) = known.end(key) {
            known.waiting.remove(&end);
        }
    }

    /// Forgets a key whose entry was never sent.
    pub fn forget(&self, key: &TransferKey) -> io::Result<()> {
        let mut known = self.lock();
        known.remove(key);
        fs::remove_file(self.path(key))
    }

    /// Forgets the keys whose entries ended first, of those that wait no longer.
    fn make_room(&self, known: &mut Known) {
        while known.entries.len() > KEPT {
            let over = |end: &&End| !known.waiting.contains(end);
            let Some((_, key)) = known.ends.iter().find(over).copied() else {
                return;
            };
            known.remove(&key);
            if let Err(error) = fs::remove_file(self.path(&key)) {
                tracing::warn!(%error, "an old transfer's file stays");
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Every change below leaves the maps consistent at every step.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn path(&self, key: &TransferKey) -> PathBuf {
        self.folder.join(key.0.to_hex())
    }
}

impl Known {
    fn end(&self, key: &TransferKey) -> Option<End> {
        let entry = self.entries.get(key)?;
        Some((entry.entry.valid_until, *key))
    }
    fn insert(&mut self, key: TransferKey, entry: SignedEntry) {
        let end = (entry.entry.valid_until, key);
        self.ends.insert(end);
        self.waiting.insert(end);
        self.entries.insert(key, entry);
    }
    fn remove(&mut self, key: &TransferKey) {
        if let Some(end) = self.end(key) {
            self.ends.remove(&end);
            self.waiting.remove(&end);
            self.entries.remove(key);
        }
    }
    /// Transfers that can be in no block after `height` wait no longer.
    fn lapse(&mut self, height: u64) {
        let later = (height.saturating_add(1), TransferKey(Hash32([0; 32])));
        self.waiting = self.waiting.split_off(&later);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::entry::{Entry, EntryBody};
    use gridbay_protocol::ids::{AccountId, NetworkId};
    use gridbay_protocol::keys::SecretKey;

    fn entry(valid_until: u64) -> SignedEntry {
        let key = SecretKey::from_seed(&[7; 32]);
        let entry = Entry {
            network: NetworkId([1; 32]),
            account: AccountId([2; 32]),
            key: key.public(),
            valid_until,
            body: EntryBody::Transfer {
                to: AccountId([3; 32]),
                amount: "1".parse().unwrap(),
                memo: Hash32::default(),
            },
        };
        SignedEntry::new(entry, &key)
    }

    fn key(n: usize) -> TransferKey {
        TransferKey::of(&format!("key {n}"))
    }

    #[test]
    fn a_key_has_one_entry_signed_once_also_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let open = || TransferStore::open(dir.path().join("transfers")).unwrap();
        let store = open();
        let first = store.keep(key(1), 0, || entry(40)).unwrap();
        let again = store.keep(key(1), 9, || panic!("signed again")).unwrap();
        assert_eq!(first, again);
        store.keep(key(2), 0, || entry(41)).unwrap();

        let store = open();
        assert_eq!(store.get(&key(1)), Some(first));
        assert_eq!(store.get(&key(3)), None);
        store.forget(&key(2)).unwrap();
        assert_eq!(open().get(&key(2)), None);
    }

    #[test]
    fn what_is_decided_waits_no_longer_and_only_so_many_wait() {
        let dir = tempfile::tempdir().unwrap();
        let store = TransferStore::open(dir.path().to_owned()).unwrap();
        for n in 0..WAITING {
            store.keep(key(n), 0, || entry(40)).unwrap();
        }
        let full = store.keep(key(WAITING), 0, || panic!("signed for nothing"));
        assert!(matches!(full, Err(KeepError::TooMany)));
        assert_eq!(store.waits(39), WAITING);
        store.decided(&key(7));
        store.decided(&key(7));
        store.decided(&key(WAITING + 1));
        assert_eq!(store.waits(39), WAITING - 1);
        assert!(store.keep(key(WAITING), 39, || entry(79)).is_ok());
        assert_eq!(store.get(&key(7)), Some(entry(40)), "it is remembered");
        // At its last height an entry is in its block or in none.
        assert_eq!(store.waits(40), 1);
    }

    #[test]
    fn the_oldest_that_wait_no_longer_are_forgotten_first() {
        let dir = tempfile::tempdir().unwrap();
        let store = TransferStore::open(dir.path().to_owned()).unwrap();
        for n in 0..=KEPT {
            store
                .keep(key(n), 0, || entry(40 + n as u64 / 100))
                .unwrap();
            if n > 0 {
                store.decided(&key(n));
            }
        }
        assert!(store.get(&key(0)).is_some(), "it waits");
        let kept = (1..=KEPT).filter(|n| store.get(&key(*n)).is_some());
        assert_eq!(kept.count(), KEPT - 1);
        let (early, late) = ((1..100).collect::<Vec<_>>(), KEPT);
        let gone = early.iter().filter(|n| store.get(&key(**n)).is_none());
        assert_eq!(gone.count(), 1);
        assert!(store.get(&key(late)).is_some());
    }

    #[test]
    fn a_disk_that_fails_keeps_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("transfers");
        let store = TransferStore::open(folder.clone()).unwrap();
        fs::remove_dir(&folder).unwrap();
        let kept = store.keep(key(1), 0, || entry(40));
        assert!(matches!(kept, Err(KeepError::Disk(_))));
        assert_eq!(store.get(&key(1)), None);
    }
}
