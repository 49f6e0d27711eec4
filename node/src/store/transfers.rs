//! Transfers of the owner by their idempotency keys: what a repeated request finds again, also after the
//! node was killed between sending the money and telling him.
//!
//! ```text
//! transfers/<key>   the signed entry, canonical bytes, replaced atomically
//! ```
//!
//! 1. A transfer's entry is signed and on disk before it is sent.
//! 2. A key has one entry, ever. The ledger takes an entry once, so a request repeated under its key moves
//!    the money once, however often nodes and clients fail in between.
//! 3. The last [`KEPT`] keys are kept; those whose entry can still take effect are never forgotten.

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
const WAITING: usize = gridbay_host::limits::POOL_PER_ACCOUNT;

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

#[derive(Debug, Default)]
struct Known {
    entries: BTreeMap<TransferKey, SignedEntry>,
    ids: BTreeSet<EntryId>,
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
            // What is left of a write that was broken off has another name.
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

    /// Keeps the first of `candidates` that is unlike all others, durably, and returns it; or what the key
    /// has already. `height` is the ledger's: entries valid beyond it still wait. Blocks.
    ///
    /// # Errors
    /// Too many wait, or the disk fails: nothing may be sent then.
    pub fn keep(
        &self,
        key: TransferKey,
        height: u64,
        mut candidates: impl Iterator<Item = SignedEntry>,
    ) -> Result<SignedEntry, KeepError> {
        let mut known = self.lock();
        if let Some(entry) = known.entries.get(&key) {
            return Ok(entry.clone());
        }
        let waits = |entry: &&SignedEntry| entry.entry.valid_until > height;
        if known.entries.values().filter(waits).count() >= WAITING {
            return Err(KeepError::TooMany);
        }
        let entry = candidates.find(|entry| !known.ids.contains(&entry.id()));
        let entry = entry.ok_or(KeepError::TooMany)?;
        super::replace_file(&self.path(&key), &codec::encode(&entry))?;
        known.insert(key, entry.clone());
        self.make_room(&mut known);
        Ok(entry)
    }

    /// Forgets a key whose entry was never sent.
    pub fn forget(&self, key: &TransferKey) -> io::Result<()> {
        let mut known = self.lock();
        known.remove(key);
        fs::remove_file(self.path(key))
    }

    /// Forgets the keys whose entries ended first.
    fn make_room(&self, known: &mut Known) {
        while known.entries.len() > KEPT {
            let ended_first = known
                .entries
                .iter()
                .min_by_key(|(_, e)| e.entry.valid_until);
            let Some(key) = ended_first.map(|(key, _)| *key) else {
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
    fn insert(&mut self, key: TransferKey, entry: SignedEntry) {
        self.ids.insert(entry.id());
        self.entries.insert(key, entry);
    }
    fn remove(&mut self, key: &TransferKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.ids.remove(&entry.id());
        }
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

    #[test]
    fn a_key_has_one_entry_also_after_a_restart_and_equal_transfers_differ() {
        let dir = tempfile::tempdir().unwrap();
        let open = || TransferStore::open(dir.path().join("transfers")).unwrap();
        let (one, two) = (TransferKey::of("key-one"), TransferKey::of("key-two"));
        let store = open();
        let first = store.keep(one, 0, (40..).map(entry)).unwrap();
        let again = store.keep(one, 9, (49..).map(entry)).unwrap();
        assert_eq!((&first, first.entry.valid_until), (&again, 40));
        let second = store.keep(two, 0, (40..).map(entry)).unwrap();
        assert_eq!(second.entry.valid_until, 41, "a payment of its own");

        let store = open();
        assert_eq!(store.get(&one), Some(first));
        assert_eq!(store.get(&TransferKey::of("another")), None);
        store.forget(&two).unwrap();
        assert_eq!(open().get(&two), None);
    }

    #[test]
    fn only_so_many_wait() {
        let dir = tempfile::tempdir().unwrap();
        let store = TransferStore::open(dir.path().to_owned()).unwrap();
        for i in 0..WAITING {
            let key = TransferKey::of(&format!("key {i}"));
            store.keep(key, 0, (40..).map(entry)).unwrap();
        }
        let next = TransferKey::of("one more");
        let full = store.keep(next, 0, (40..).map(entry));
        assert!(matches!(full, Err(KeepError::TooMany)));
        assert!(store.keep(next, 5_000, (5_040..).map(entry)).is_ok());
    }

    #[test]
    fn a_disk_that_fails_keeps_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("transfers");
        let store = TransferStore::open(folder.clone()).unwrap();
        fs::remove_dir(&folder).unwrap();
        let key = TransferKey::of("key");
        let kept = store.keep(key, 0, (40..).map(entry));
        assert!(matches!(kept, Err(KeepError::Disk(_))));
        assert_eq!(store.get(&key), None);
    }
}
