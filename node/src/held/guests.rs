//! Those whom an owner admits to its clusters, in a file of the data folder.

use super::types::Guest;
use crate::api::Answer;
use crate::api::types::JobId;
use crate::backend::failure::{disk, not_found};
use crate::store::replace_file;
use gridbay_protocol::keys::PublicKey;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// Keys that were dismissed, until every rank was told.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    gone: BTreeSet<PublicKey>,
    #[serde(skip)]
    told: BTreeSet<(u32, u32)>,
    /// Counts changes: what was told before one is not all.
    #[serde(skip)]
    change: u64,
    /// Held while ranks are told: no order overtakes a later one.
    #[serde(skip)]
    turn: Arc<Turn>,
}

/// The turn to tell a cluster's ranks.
pub(super) type Turn = tokio::sync::Mutex<()>;

/// What a rank has to be told.
pub(super) struct News {
    pub(super) guests: Vec<Guest>,
    pub(super) gone: Vec<PublicKey>,
    change: u64,
}

impl House {
    fn changed(&mut self) {
        self.told.clear();
        self.change += 1;
    }
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
                house.gone.remove(&guest.key);
                house.keys.insert(guest.key, guest.name);
                house.changed();
            }
            room
        })
    }

    /// Admits a guest no longer.
    pub(super) fn dismiss(&self, cluster: &JobId, key: &PublicKey) -> Answer<()> {
        let known = self.change(cluster, |house| {
            let known = house.keys.remove(key).is_some() || house.gone.contains(key);
            if known {
                house.gone.insert(*key);
                house.changed();
            }
            known
        })?;
        known.then_some(()).ok_or_else(|| {
            let next = format!("gridbay cluster show {cluster} lists the keys that are");
            not_found(format!("key {key} is not admitted"), next)
        })
    }

    /// Changes the guests of a cluster; on disk before this returns.
    fn change<T>(&self, cluster: &JobId, how: impl FnOnce(&mut House) -> T) -> Answer<T> {
        let mut all = self.lock();
        let changed = how(all.entry(cluster.clone()).or_default());
        all.retain(|_, house| !house.keys.is_empty() || !house.gone.is_empty());
        let written = serde_json::to_vec(&*all).map_err(io::Error::from);
        let written = written.and_then(|bytes| replace_file(&self.path, &bytes));
        written.map_err(|error| disk("writing guests", &error))?;
        Ok(changed)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<JobId, House>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn of(&self, cluster: &JobId) -> Vec<Guest> {
        self.news(cluster).guests
    }

    pub(super) fn forget(&self, cluster: &JobId) {
        if self.lock().contains_key(cluster)
            && let Err(error) = self.change(cluster, |house| *house = House::default())
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

    /// Whose turn it is to tell a cluster's ranks.
    pub(super) fn turn(&self, cluster: &JobId) -> Arc<Turn> {
        let all = self.lock();
        let turn = all.get(cluster).map(|house| Arc::clone(&house.turn));
        turn.unwrap_or_default()
    }

    /// What ranks have to be told now.
    pub(super) fn news(&self, cluster: &JobId) -> News {
        let all = self.lock();
        let house = all.get(cluster);
        let guest = |(key, name): (&PublicKey, &Option<String>)| Guest {
            key: *key,
            name: name.clone(),
        };
        News {
            guests: house.map_or_else(Vec::new, |house| house.keys.iter().map(guest).collect()),
            gone: house.map_or_else(Vec::new, |house| house.gone.iter().copied().collect()),
            change: house.map_or(0, |house| house.change),
        }
    }

    /// A rank was told all that.
    pub(super) fn tell(&self, cluster: &JobId, rank: (u32, u32), news: &News) {
        if let Some(house) = self.lock().get_mut(cluster)
            && house.change == news.change
        {
            house.told.insert(rank);
        }
    }

    /// All ranks that run were told all that: one that starts anew knows no dismissed key.
    pub(super) fn tell_all(&self, cluster: &JobId, news: &News) -> Answer<()> {
        let all = self.lock();
        let is_over = all
            .get(cluster)
            .is_none_or(|house| house.change != news.change || house.gone.is_empty());
        drop(all);
        match is_over {
            true => Ok(()),
            false => self.change(cluster, |house| {
                house.gone.retain(|key| !news.gone.contains(key));
            }),
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
        let before = guests.news(&cluster);
        guests.tell(&cluster, (0, 0), &before);
        assert!(guests.was_told(&cluster, (0, 0)) && !guests.was_told(&cluster, (0, 1)));
        let again = Guests::open(path.clone());
        assert_eq!(again.of(&cluster), guests.of(&cluster));
        assert!(
            !again.was_told(&cluster, (0, 0)),
            "the node was started anew as well"
        );
        let before = again.news(&cluster);
        again.dismiss(&cluster, &key).unwrap();
        again.tell(&cluster, (0, 0), &before);
        assert!(!again.was_told(&cluster, (0, 0)), "of that it was not");
        let third = Guests::open(path.clone());
        let news = third.news(&cluster);
        assert_eq!((news.guests.len(), news.gone.as_slice()), (0, &[key][..]));
        third.tell_all(&cluster, &news).unwrap();
        assert!(third.all().is_empty(), "nothing is left to tell");
        again.forget(&cluster);
        assert!(Guests::open(path.clone()).all().is_empty());
        std::fs::write(&path, "nonsense").unwrap();
        assert!(Guests::open(path).all().is_empty());
    }
}
