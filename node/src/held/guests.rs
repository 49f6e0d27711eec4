//! Those whom an owner admits to its clusters, in a file of the data folder.

use super::types::Guest;
use crate::api::Answer;
use crate::api::types::JobId;
use crate::backend::failure::disk;
use crate::store::replace_file;
use gridbay_protocol::keys::PublicKey;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keys of one cluster at the most, as its ranks have it.
pub(super) const GUESTS: usize = 64;
/// The guests of all clusters.
pub(crate) struct Guests {
    path: PathBuf,
    all: Mutex<BTreeMap<JobId, House>>,
}

/// Those of one, and the attempts of ranks that were told of them.
#[derive(Default, Serialize, Deserialize)]
struct House {
    keys: BTreeMap<PublicKey, Option<String>>,
    #[serde(skip)]
    told: BTreeSet<(u32, u32)>,
}

impl Guests {
    /// Those of a file; none if there is no file, or none that makes sense.
    pub(crate) fn open(path: PathBuf) -> Guests {
        let read = std::fs::read(&path).ok();
        let all = read.and_then(|bytes| match serde_json::from_slice(&bytes) {
            Ok(all) => Some(all),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "guests that make no sense");
                None
            }
        });
        Guests {
            path,
            all: Mutex::new(all.unwrap_or_default()),
        }
    }

    /// Admits a guest. False if there are too many.
    pub(super) fn admit(&self, cluster: &JobId, guest: Guest) -> Answer<bool> {
        self.change(cluster, |house| {
            let room = house.keys.len() < GUESTS || house.keys.contains_key(&guest.key);
            if room {
                house.keys.insert(guest.key, guest.name);
                house.told.clear();
            }
            room
        })
    }

    /// Admits a guest no longer.
    pub(super) fn dismiss(&self, cluster: &JobId, key: &PublicKey) -> Answer<()> {
        self.change(cluster, |house| house.keys.remove(key))
            .map(drop)
    }

    /// Changes the guests of a cluster; on disk before this returns.
    fn change<T>(&self, cluster: &JobId, how: impl FnOnce(&mut House) -> T) -> Answer<T> {
        let mut all = self.lock();
        let changed = how(all.entry(cluster.clone()).or_default());
        all.retain(|_, house| !house.keys.is_empty());
        let written = serde_json::to_vec(&*all).map_err(io::Error::from);
        let written = written.and_then(|bytes| replace_file(&self.path, &bytes));
        written.map_err(|error| disk("writing guests", &error))?;
        Ok(changed)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<JobId, House>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn of(&self, cluster: &JobId) -> Vec<Guest> {
        let all = self.lock();
        let keys = all.get(cluster).into_iter().flat_map(|house| &house.keys);
        let guest = |(key, name): (&PublicKey, &Option<String>)| Guest {
            key: *key,
            name: name.clone(),
        };
        keys.map(guest).collect()
    }

    pub(super) fn forget(&self, cluster: &JobId) {
        if self.lock().contains_key(cluster)
            && let Err(error) = self.change(cluster, |house| house.keys.clear())
        {
            tracing::warn!(%error, "guests of a cluster that is over are not forgotten");
        }
    }

    pub(super) fn all(&self) -> Vec<JobId> {
        self.lock().keys().cloned().collect()
    }

    pub(super) fn was_told(&self, cluster: &JobId, rank: (u32, u32)) -> bool {
        let all = self.lock();
        all.get(cluster)
            .is_none_or(|house| house.told.contains(&rank))
    }

    pub(super) fn tell(&self, cluster: &JobId, rank: (u32, u32)) {
        if let Some(house) = self.lock().get_mut(cluster) {
            house.told.insert(rank);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    #[test]
    fn guests_are_still_known_after_a_restart_and_forgotten_with_their_cluster() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("guests.json");
        let (cluster, key) = (
            JobId::from_bytes([1; 8]),
            SecretKey::from_seed(&[2; 32]).public(),
        );
        let guests = Guests::open(path.clone());
        let guest = Guest {
            key,
            name: Some("bea".to_owned()),
        };
        assert!(guests.admit(&cluster, guest).unwrap());
        guests.tell(&cluster, (0, 0));
        assert!(guests.was_told(&cluster, (0, 0)) && !guests.was_told(&cluster, (0, 1)));
        let again = Guests::open(path.clone());
        assert_eq!(again.of(&cluster), guests.of(&cluster));
        assert!(
            !again.was_told(&cluster, (0, 0)),
            "the node was started anew as well"
        );
        again.forget(&cluster);
        assert!(Guests::open(path.clone()).all().is_empty());
        std::fs::write(&path, "nonsense").unwrap();
        assert!(Guests::open(path).all().is_empty());
    }
}
